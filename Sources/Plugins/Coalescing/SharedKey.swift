import Errand

/// The compared parts of a request. The hash covers few of them, so that a request with nothing to join costs little;
/// an object, so that the exchange of a request is found again at no cost.
final class SharedKey: Hashable, Sendable {
    let request: HTTPRequest
    private let way: CommonWay
    private let exchange: Exchange
    private let rule: CoalescingRule
    /// Computed once: each exchange is looked up, added and removed.
    private let hash: Int

    /// Nil where the request is not shared.
    init?(_ exchange: Exchange, _ request: HTTPRequest, _ next: Next, _ rule: CoalescingRule) {
        guard rule.shares else { return nil }
        let tags = exchange.tags
        guard exchange.delivery == .data, request.body.data != nil, let way = next.commonWay,
            !tags[LiveStream.self],
            // Where a tag's values cannot be compared, the request equals none, itself included.
            tags.haveSameEffect(as: tags)
        else { return nil }
        (self.request, self.way, self.exchange, self.rule) = (request, way, exchange, rule)
        var hasher = Hasher()
        hasher.combine(request.urlText)
        // Many users may request one URL at once.
        if let credentials = request.headers[.authorization] { hasher.combine(credentials) }
        hash = hasher.finalize()
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func == (a: SharedKey, b: SharedKey) -> Bool { a === b || a.equals(b) }

    private func equals(_ other: SharedKey) -> Bool {
        let (one, two) = (exchange, other.exchange)
        let (mine, others) = (request, other.request)
        return hash == other.hash && way == other.way && mine.urlText == others.urlText && mine.method == others.method
            && rule == other.rule
            && rule.haveSameFields(mine.headers, others.headers) && Self.areEqual(mine.body, others.body)
            && one.timeout == two.timeout && one.isTrusted == two.isTrusted
            && one.tags.haveSameEffect(as: two.tags) && one.userMarks == two.userMarks
            && (!way.hasFilters || Self.haveSameDemands(one.request, two.request))
            && (one.stage != .call || one.request.redirects == two.request.redirects)
    }

    private static func areEqual(_ one: RequestBody, _ two: RequestBody) -> Bool {
        one.isNone == two.isNone && (one.isNone || one.data == two.data && one.contentType == two.contentType)
    }

    /// Whether filters that follow judge responses alike for both, such as a retry.
    private static func haveSameDemands(_ one: any Request, _ two: any Request) -> Bool {
        type(of: one) == type(of: two) && one.acceptableStatuses == two.acceptableStatuses
            && one.acceptableContentTypes == two.acceptableContentTypes
            && one.checks.map(\.name) == two.checks.map(\.name)
            && one.outcomeCheck?.name == two.outcomeCheck?.name
    }
}
