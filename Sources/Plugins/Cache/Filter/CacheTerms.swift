import Errand

/// The policy and the store of a request. A class, because all requests without their own policy share one instance.
final class CacheTerms: Sendable {
    let policy: CachePolicy
    let store: any CacheStore
    let request: (any CacheableRequest)?

    init(_ policy: CachePolicy, store: any CacheStore, request: (any CacheableRequest)? = nil) {
        (self.policy, self.store, self.request) = (policy, store, request)
    }

    var explanation: String { "cache in \(type(of: store)), policy \(policy.summary)" }
}
