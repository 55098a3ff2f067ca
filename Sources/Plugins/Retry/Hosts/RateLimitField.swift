import Errand
import ErrandHTTPSyntax

/// The tightest limit in a response: of its `RateLimit` field, or of the separate fields of the first drafts.
struct RateLimitField: Equatable {
    /// The number of remaining requests.
    let remaining: Int
    /// The time until the limit is renewed.
    let reset: Duration

    /// Nil if the response has no valid limit with a time.
    init?(_ headers: HTTPHeaders) {
        guard let names = Self.names(in: headers) else { return nil }
        var limits: [ServiceLimit] = []
        if names.contains(.list), let text = headers[.rateLimit] {
            limits = ServiceLimit.parse(text).filter(Self.hasTime)
        }
        if limits.isEmpty, names.contains(.separate), let remaining = headers[Self.remainingName],
            let reset = headers["RateLimit-Reset"], let limit = ServiceLimit(remaining: remaining, reset: reset),
            Self.hasTime(limit)
        {
            limits = [limit]
        }
        guard let tightest = ServiceLimit.tightest(of: limits), let reset = tightest.reset else { return nil }
        (remaining, self.reset) = (tightest.remaining, reset)
    }

    private static func hasTime(_ limit: ServiceLimit) -> Bool { limit.reset.map { $0 > .zero } ?? false }

    private struct Names: OptionSet {
        let rawValue: Int
        static let list = Names(rawValue: 1)
        static let separate = Names(rawValue: 2)
    }

    private static var remainingName: HTTPHeaderName { "RateLimit-Remaining" }

    /// The names of the fields that a response has; nil for none, which is detected by the length and the first letter
    /// of each name.
    private static func names(in headers: HTTPHeaders) -> Names? {
        var names: Names = []
        for field in headers {
            let count = field.name.rawName.utf8.count
            guard count == 9 || count == 19, field.name.rawName.utf8.first.map({ $0 | 0x20 }) == UInt8(ascii: "r")
            else { continue }
            if field.name == .rateLimit { names.insert(.list) }
            if field.name == remainingName { names.insert(.separate) }
        }
        return names.isEmpty ? nil : names
    }
}
