// Start here: conform a request to ``CacheableRequest``, and give the agent the filter `.cache(store)`.
//
// Policy/   what may be stored, served and validated: pure functions
// Key/      which requests share an entry
// Store/    where entries are stored: memory, disk, both, or your own ``CacheStore``
// Filter/   the filter: what bypasses the policies, the timed one once for each call, that of HTTP on each hop
// Modes/    what a single call may ask for: reload, cache only, cached then fresh
