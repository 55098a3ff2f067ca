import Errand
import ErrandHTTPSyntax

/// What a server says of its limits: `RateLimit` as a list (draft-ietf-httpapi-ratelimit-headers-08 and later) or a
/// dictionary (07), and the three fields of the drafts before.
struct RateLimitField: Equatable {
    /// Requests that are left.
    let remaining: Int
    /// Until the limit is renewed.
    let reset: Duration

    /// The tightest of the limits in a response; nil for none that can be read.
    init?(_ headers: HTTPHeaders) {
        guard let names = Self.names(in: headers) else { return nil }
        var limits: [(remaining: Int64, reset: Int64)] = []
        if names.contains(.list), let text = headers["RateLimit"] {
            if let list = try? StructuredField.List(parsing: text) {
                limits = list.members.prefix(16).compactMap { member in
                    guard let remaining = member.parameters["r"]?.integer, let reset = member.parameters["t"]?.integer
                    else { return nil }
                    return (remaining, reset)
                }
            } else if let fields = try? StructuredField.Dictionary(parsing: text),
                let remaining = fields["remaining"]?.item?.value.integer,
                let reset = fields["reset"]?.item?.value.integer
            {
                limits = [(remaining, reset)]
            }
        }
        if limits.isEmpty, names.contains(.separate), let remaining = Self.integer(headers["RateLimit-Remaining"]),
            let reset = Self.integer(headers["RateLimit-Reset"])
        {
            limits = [(remaining, reset)]
        }
        let valid = limits.filter { $0.remaining >= 0 && $0.reset > 0 }
        guard let tightest = valid.min(by: { ($0.remaining, -$0.reset) < ($1.remaining, -$1.reset) }) else {
            return nil
        }
        remaining = Int(clamping: tightest.remaining)
        reset = .seconds(min(tightest.reset, 1 << 32))
    }

    private struct Names: OptionSet {
        let rawValue: Int
        static let list = Names(rawValue: 1)
        static let separate = Names(rawValue: 2)
    }

    /// Which of the fields a response has; nil for none, which is known by the length and the first letter of each name.
    private static func names(in headers: HTTPHeaders) -> Names? {
        var names: Names = []
        for field in headers {
            let count = field.name.rawName.utf8.count
            guard count == 9 || count == 19, field.name.rawName.utf8.first.map({ $0 | 0x20 }) == UInt8(ascii: "r")
            else { continue }
            if field.name == "RateLimit" { names.insert(.list) }
            if field.name == "RateLimit-Remaining" { names.insert(.separate) }
        }
        return names.isEmpty ? nil : names
    }

    private static func integer(_ text: String?) -> Int64? {
        text.flatMap { try? StructuredField.Item(parsing: $0).value.integer }
    }
}
