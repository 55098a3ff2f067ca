/// A limit in a `RateLimit` field: how many more requests a server accepts, and when the limit is reset
/// (draft-ietf-httpapi-ratelimit-headers-10, section 4).
///
/// ```swift
/// let limits = RateLimitStatus.parse(#""burst";r=0;t=30, "daily";r=4100;t=52000"#)
/// RateLimitStatus.tightest(of: limits)?.reset        // 30 seconds
/// ```
public struct RateLimitStatus: Sendable, Hashable {
    /// The name of the limit's ``RateLimitPolicy``, or `nil` if the field follows an older draft.
    public let policy: String?
    /// The number of requests left, at least 0.
    public let remaining: Int
    /// The time until the limit is reset, at most 136 years. `nil` if the server doesn't specify it.
    public let reset: Duration?

    /// Creates a limit.
    public init(policy: String? = nil, remaining: Int, reset: Duration?) {
        (self.policy, self.remaining, self.reset) = (policy, remaining, reset)
    }

    /// Parses a `RateLimit` field into at most 16 limits.
    ///
    /// Accepts a list, or a dictionary as in draft 07 (`limit=10, remaining=2, reset=30`). Skips members without a
    /// number of requests. Returns an empty array for other values, or more than 4,096 bytes.
    public static func parse(_ value: String) -> [RateLimitStatus] {
        guard value.utf8.count <= RateLimitGrammar.maximumBytes else { return [] }
        if let list = try? StructuredField.List(parsing: value) {
            return list.members.prefix(RateLimitGrammar.maximumMembers).compactMap { member in
                RateLimitStatus(
                    member.item?.value.text, remaining: member.parameters["r"]?.integer,
                    reset: member.parameters["t"]?.integer)
            }
        }
        guard let fields = try? StructuredField.Dictionary(parsing: value) else { return [] }
        let limit = RateLimitStatus(
            nil, remaining: fields["remaining"]?.item?.value.integer, reset: fields["reset"]?.item?.value.integer)
        return limit.map { [$0] } ?? []
    }

    /// Parses the `RateLimit-Remaining` and `RateLimit-Reset` fields of drafts up to 06. Returns `nil` unless both
    /// values are numbers.
    public init?(remaining: String, reset: String) {
        guard let reset = RateLimitGrammar.integer(reset) else { return nil }
        self.init(nil, remaining: RateLimitGrammar.integer(remaining), reset: reset)
    }

    /// Returns the limit with the fewest requests left, or `nil` if `limits` is empty. In a tie, returns the limit that
    /// is reset last.
    public static func tightest(of limits: some Sequence<RateLimitStatus>) -> RateLimitStatus? {
        limits.min { a, b in
            a.remaining == b.remaining
                ? a.reset ?? .zero > b.reset ?? .zero : a.remaining < b.remaining
        }
    }

    private init?(_ policy: String?, remaining: Int64?, reset: Int64?) {
        guard let remaining, remaining >= 0 else { return nil }
        self.init(policy: policy, remaining: Int(clamping: remaining), reset: reset.flatMap(RateLimitGrammar.seconds))
    }
}

enum RateLimitGrammar {
    /// A valid field takes only a few dozen bytes.
    static let maximumBytes = 4_096
    static let maximumMembers = 16

    static func integer(_ text: String) -> Int64? {
        guard text.utf8.count <= maximumBytes else { return nil }
        return try? StructuredField.Item(parsing: text).value.integer
    }

    static func seconds(_ number: Int64) -> Duration? { number >= 0 ? .seconds(min(number, 1 << 32)) : nil }
}

/// A policy in a `RateLimit-Policy` field: how many requests a server accepts in a time window
/// (draft-ietf-httpapi-ratelimit-headers-10, section 3).
///
/// ```swift
/// let policies = RateLimitPolicy.parse(#""burst";q=100;w=60, "daily";q=5000;w=86400"#)
/// policies.compactMap(\.interval).max()           // 17.28 seconds
/// ```
public struct RateLimitPolicy: Sendable, Hashable {
    /// The name that ``RateLimitStatus/policy`` refers to.
    public let name: String
    /// The number of requests per window, at least 1.
    public let quota: Int
    /// The length of the window, at most 136 years. `nil` if the server doesn't specify it.
    public let window: Duration?

    /// Creates a policy.
    public init(name: String, quota: Int, window: Duration?) {
        (self.name, self.quota, self.window) = (name, quota, window)
    }

    /// The time between requests that spreads the quota evenly over the window. `nil` without a window.
    public var interval: Duration? { window.map { $0 / Double(max(1, quota)) } }

    /// Parses a `RateLimit-Policy` field into at most 16 policies.
    ///
    /// Skips members without a name or a quota. Returns an empty array for values that aren't lists, or more than 4,096
    /// bytes.
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
