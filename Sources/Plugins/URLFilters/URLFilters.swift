// Start here: put `.urls(…)`, `.headers(…)`, `.body(…)` and `.environment(…)` into an agent's filters.
//
// URL/           URLs                  URLFilter, URLText, URLFilterChain, QueryFilter, PathFilter …
// Parameters/    headers and bodies    HeaderFilter, BodyFilter
// Signing/       signatures            Signer, SigningInput, SigningAlgorithm, SecretKey
// Environments/  a service's settings  ServiceEnvironments, ServiceConfiguration
//
// FilterExemption.swift: how a request opts out of filters.
