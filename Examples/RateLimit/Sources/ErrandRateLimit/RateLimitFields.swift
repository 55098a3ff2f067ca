public import Errand
import ErrandHTTPSyntax

/// What a host says of its limits: the fields `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-10,
/// lists of structured fields (RFC 9651).
///
/// ```
/// RateLimit-Policy: "burst";q=100;w=60, "daily";q=5000;w=86400
/// RateLimit: "burst";r=0;t=30
/// ```
///
/// Members that cannot be read are ignored, and so is a field that is no list.
public struct RateLimitFields: Sendable, Equatable {
    /// How many requests are left in the tightest window; nil where the response does not say.
    public let remaining: Int?
    /// How long until that window begins anew.
    public let reset: Duration?
    /// The time for one request by the slowest policy; nil where the response has none.
    public let interval: Duration?

    /// Reads the fields of a response; nil if there are none, or none that can be read.
    public init?(_ headers: HTTPHeaders) {
        guard headers.contains("RateLimit") || headers.contains("RateLimit-Policy") else { return nil }
        let policies = Self.members(of: headers["RateLimit-Policy"]).compactMap {
            member -> (name: String, q: Int64, w: Int64)? in
            guard let name = member.value.text, let quota = member.parameters["q"]?.integer, quota > 0,
                let window = member.parameters["w"]?.integer, (1...Self.longest).contains(window)
            else { return nil }
            return (name, quota, window)
        }
        let limits = Self.members(of: headers["RateLimit"]).compactMap { member -> (remaining: Int64, reset: Int64?)? in
            guard let name = member.value.text, let remaining = member.parameters["r"]?.integer, remaining >= 0 else {
                return nil
            }
            // Without a time of its own, the window of its policy is the longest that it can be.
            let reset = member.parameters["t"]?.integer ?? policies.first { $0.name == name }?.w
            return (remaining, reset.flatMap { (0...Self.longest).contains($0) ? $0 : nil })
        }
        let tightest = limits.min { ($0.remaining, -($0.reset ?? 0)) < ($1.remaining, -($1.reset ?? 0)) }
        remaining = tightest.map { Int(clamping: $0.remaining) }
        reset = tightest?.reset.map { .seconds($0) }
        interval = policies.map { Duration.seconds($0.w) / Double($0.q) }.max()
        if remaining == nil, interval == nil { return nil }
    }

    /// A year: what is longer is no limit of requests.
    private static let longest: Int64 = 31_536_000

    /// The items of a list, at most 16.
    private static func members(of text: String?) -> [StructuredField.Item] {
        guard let text, let list = try? StructuredField.List(parsing: text) else { return [] }
        return list.members.prefix(16).compactMap(\.item)
    }
}
