// Start here: conform a request to ``CacheableRequest``, and give the agent the filter `.cache(store)`.
//
// Policy/   what to store, serve and validate, as pure functions
// Key/      which requests share an entry
// Store/    where entries are stored: memory, disk, both, or your own ``CacheStore``
// Filter/   the filter: timed policies once per call, HTTP policies once per hop
// Modes/    what a single call can ask for: reload, cache only, cached then fresh
