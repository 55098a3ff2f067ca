// The way in: conform a request to ``CacheableRequest``, give the agent the filter `.cache(store)`.
//
// Policy/   what may be stored, served, validated: pure functions of what is known
// Key/      what makes two requests the same
// Store/    where entries are: memory, disk, both, or a store of one's own (``CacheStore``)
// Filter/   the filter: timed policy once a call, HTTP's own on each hop
// Modes/    what one call may ask for: reload, only the cache, cached then fresh
