import Errand
import ErrandEssentials

/// The conditions for sharing an exchange that aren't part of the request itself.
struct SharingConditions: Sendable {
    let common: RemainingPipeline
    let rule: CoalescingPolicy
    /// Computed once, because each exchange is looked up, added and removed.
    let hash: Int

    init?(_ exchange: Exchange, request: HTTPRequest, next: Next, filterRule: CoalescingPolicy) {
        let tags = exchange.tags
        rule = tags[CoalescingPolicy.self] ?? filterRule
        guard rule.shares, exchange.delivery == .data, request.body.data != nil, let common = next.remainingPipeline,
            !tags[LiveStream.self],
            // A tag whose values can't be compared doesn't equal any tag, not even itself.
            tags.haveSameEffect(as: tags)
        else { return nil }
        self.common = common
        var hasher = Hasher()
        hasher.combine(request.urlText)
        // Includes the credentials, because many users may request the same URL.
        if let credentials = request.headers[.authorization] { hasher.combine(credentials) }
        hash = hasher.finalize()
    }
}
