/// A policy in a `RateLimit-Policy` field: how many requests a server accepts in a time window
/// (draft-ietf-httpapi-ratelimit-headers-10, section 3).
///
/// ```swift
/// let policies = RateLimitPolicy.parse(#""burst";q=100;w=60, "daily";q=5000;w=86400"#)
/// policies.compactMap(\.interval).max()           // 17.28 seconds
/// ```
public struct RateLimitPolicy: Sendable, Hashable {
    /// The name, which a ``RateLimitStatus`` refers to.
    public let name: String
    /// The number of requests per window, at least 1.
    public let quota: Int
    /// The length of the window, at most 136 years; `nil` if the server doesn't specify it.
    public let window: Duration?

    /// Creates a policy.
    public init(name: String, quota: Int, window: Duration?) {
        (self.name, self.quota, self.window) = (name, quota, window)
    }

    /// The average time per request, or `nil` without a window.
    public var interval: Duration? { window.map { $0 / Double(max(1, quota)) } }

    /// Parses a `RateLimit-Policy` field into at most 16 policies.
    ///
    /// Leaves out members without a name or a quota. Returns an empty array if the value isn't a list or is longer than
    /// 4,096 bytes.
    public static func parse(_ value: String) -> [RateLimitPolicy] {
        guard value.utf8.count <= RateLimitGrammar.maximumBytes,
            let list = try? StructuredField.List(parsing: value)
        else { return [] }
        return list.members.prefix(RateLimitGrammar.maximumMembers).compactMap { member in
            guard let name = member.item?.value.text, let quota = member.parameters["q"]?.integer, quota > 0 else {
                return nil
            }
            let window = member.parameters["w"]?.integer.flatMap { $0 > 0 ? RateLimitGrammar.seconds($0) : nil }
            return RateLimitPolicy(name: name, quota: Int(clamping: quota), window: window)
        }
    }
}
