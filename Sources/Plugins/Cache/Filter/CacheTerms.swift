/// By which rules the responses to a request are stored, and where. An object, which is passed on by reference: the one
/// of all requests without a policy of their own is made once.
final class CacheTerms: Sendable {
    let policy: CachePolicy
    let store: any CacheStore
    /// The request, if it has a policy of its own.
    let request: (any CacheableRequest)?
    // Asked for each request, where a policy would be copied for it.
    let isTimed: Bool
    let isHTTP: Bool

    init(_ policy: CachePolicy, _ store: any CacheStore, _ request: (any CacheableRequest)? = nil) {
        (self.policy, self.store, self.request) = (policy, store, request)
        (isTimed, isHTTP) = (policy.timed != nil, policy.http != nil)
    }
}
