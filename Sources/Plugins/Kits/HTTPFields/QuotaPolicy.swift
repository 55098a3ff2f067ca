/// A policy of a `RateLimit-Policy` field: how many requests a server takes in which time
/// (draft-ietf-httpapi-ratelimit-headers-10, section 3).
///
/// ```swift
/// let policies = QuotaPolicy.parse(#""burst";q=100;w=60, "daily";q=5000;w=86400"#)
/// policies.compactMap(\.interval).max()           // 17.28 seconds
/// ```
public struct QuotaPolicy: Sendable, Hashable {
    /// The name, which a ``ServiceLimit`` refers to.
    public let name: String
    /// The number of requests in a window, from 1.
    public let quota: Int
    /// The length of the window, 136 years at most; nil where the server does not say.
    public let window: Duration?

    /// Makes a policy.
    public init(name: String, quota: Int, window: Duration?) {
        (self.name, self.quota, self.window) = (name, quota, window)
    }

    /// The time for one request; nil without a window.
    public var interval: Duration? { window.map { $0 / Double(max(1, quota)) } }

    /// Reads a `RateLimit-Policy` field.
    ///
    /// Returns at most 16 policies. Members without a name or a quota are left out; a value that is no list, or longer
    /// than 4,096 bytes, has none.
    public static func parse(_ value: String) -> [QuotaPolicy] {
        guard value.utf8.count <= RateLimitGrammar.maximumBytes,
            let list = try? StructuredField.List(parsing: value)
        else { return [] }
        return list.members.prefix(RateLimitGrammar.maximumMembers).compactMap { member in
            guard let name = member.item?.value.text, let quota = member.parameters["q"]?.integer, quota > 0 else {
                return nil
            }
            let window = member.parameters["w"]?.integer.flatMap { $0 > 0 ? RateLimitGrammar.seconds($0) : nil }
            return QuotaPolicy(name: name, quota: Int(clamping: quota), window: window)
        }
    }
}
