import Errand
import ErrandSupport

/// What makes a request equal to others, beside itself.
struct SharedWay: Sendable {
    let common: CommonWay
    let rule: CoalescingRule
    /// Computed once: each exchange is looked up, added and removed. Covers little of a request, so that one with nothing
    /// to join costs little.
    let hash: Int

    /// Nil where the request is not shared.
    init?(_ exchange: Exchange, _ request: HTTPRequest, _ next: Next, _ filterRule: CoalescingRule) {
        let tags = exchange.tags
        rule = tags[CoalescingRule.self] ?? filterRule
        guard rule.shares, exchange.delivery == .data, request.body.data != nil, let common = next.commonWay,
            !tags[LiveStream.self],
            // Where a tag's values cannot be compared, the request equals none, itself included.
            tags.haveSameEffect(as: tags)
        else { return nil }
        self.common = common
        var hasher = Hasher()
        hasher.combine(request.urlText)
        // Many users may request one URL at once.
        if let credentials = request.headers[.authorization] { hasher.combine(credentials) }
        hash = hasher.finalize()
    }
}

/// Two are equal if what they send is.
extension SharedRun: Hashable {
    func hash(into hasher: inout Hasher) { hasher.combine(way.hash) }

    static func == (a: SharedRun, b: SharedRun) -> Bool { a === b || a.equals(b) }

    private func equals(_ other: SharedRun) -> Bool {
        guard way.hash == other.way.hash, way.common == other.way.common else { return false }
        let (one, two) = (exchange, other.exchange)
        let (mine, others) = (one.http, two.http)
        return mine.urlText.hasSameBytes(as: others.urlText) && mine.method == others.method
            && way.rule == other.way.rule
            && way.rule.haveSameFields(mine.headers, others.headers) && Self.areEqual(mine.body, others.body)
            && one.timeout == two.timeout && one.isTrusted == two.isTrusted
            && one.tags.haveSameEffect(as: two.tags) && one.userMarks == two.userMarks
            && (!way.common.hasFilters || Self.haveSameDemands(one.request, two.request))
            && (one.stage != .call || one.request.redirects == two.request.redirects)
    }

    private static func areEqual(_ one: RequestBody, _ two: RequestBody) -> Bool {
        one.isNone == two.isNone
            && (one.isNone || one.data == two.data && (one.contentType ?? "").hasSameBytes(as: two.contentType ?? ""))
    }

    /// Whether filters that follow judge responses alike for both, such as a retry.
    private static func haveSameDemands(_ one: any Request, _ two: any Request) -> Bool {
        type(of: one) == type(of: two) && one.acceptableStatuses == two.acceptableStatuses
            && one.acceptableContentTypes == two.acceptableContentTypes
            && one.checks.map(\.name) == two.checks.map(\.name)
            && one.outcomeCheck?.name == two.outcomeCheck?.name
    }
}
