import Errand
import ErrandEssentials

/// What is compared of a request. The hash is of little, so that a request with nothing to join costs little.
struct SharedKey: Hashable, Sendable {
    let url: URL
    private let way: CommonWay
    private let exchange: Exchange
    private let type: ObjectIdentifier?
    private let rule: CoalescingRule

    /// Nil where the request is not shared.
    init?(_ exchange: Exchange, _ next: Next, _ rule: CoalescingRule) {
        let request = exchange.http
        guard rule.shares, exchange.delivery == .data, request.body.data != nil, let way = next.commonWay,
            !exchange.tags[LiveStream.self],
            // Where a tag's values cannot be compared, the request equals none, itself included.
            exchange.tags.haveSameEffect(as: exchange.tags)
        else { return nil }
        (url, self.way, self.exchange, self.rule) = (request.url, way, exchange, rule)
        type = way.hasFilters ? ObjectIdentifier(Swift.type(of: exchange.request)) : nil
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(way)
        hasher.combine(url)
        // Many users may ask for one URL at once.
        if let credentials = exchange.http.headers[.authorization] { hasher.combine(credentials) }
    }

    static func == (a: SharedKey, b: SharedKey) -> Bool {
        let (one, other) = (a.exchange, b.exchange)
        return a.way == b.way && a.url == b.url && one.http.method == other.http.method && a.type == b.type
            && a.rule == b.rule && a.rule.haveSameFields(one.http.headers, other.http.headers)
            && haveSameBody(one.http.body, other.http.body) && one.timeout == other.timeout
            && one.isTrusted == other.isTrusted && one.tags.haveSameEffect(as: other.tags)
            && (one.stage != .call || one.request.redirects == other.request.redirects)
    }

    private static func haveSameBody(_ a: RequestBody, _ b: RequestBody) -> Bool {
        a.isNone == b.isNone && (a.isNone || a.data == b.data && a.contentType == b.contentType)
    }
}
