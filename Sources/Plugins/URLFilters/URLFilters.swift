// The way in: put `.urls(…)`, `.headers(…)`, `.body(…)` and `.environment(…)` into an agent's filters.
//
// URL/           what happens to URLs     URLFilter, URLText, URLFilterChain, QueryFilter, PathFilter …
// Parameters/    its siblings             HeaderFilter, BodyFilter
// Signing/       signatures over both     Signer, SigningInput, SigningAlgorithm, SecretKey
// Environments/  the service's settings   ServiceEnvironments, ServiceSettings
//
// FilterExemption.swift says how a request goes without them.
