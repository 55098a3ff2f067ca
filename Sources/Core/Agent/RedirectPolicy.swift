/// Which redirects are followed.
public struct RedirectPolicy: Sendable, Hashable {
    /// 20 by default; one more throws ``ErrandError/Code/redirect``.
    public var maximumHops: Int
    /// Whether https may lead to http; false by default, and then such a redirect throws.
    public var allowsInsecure: Bool
    let follows: Bool

    public init(maximumHops: Int = 20, allowsInsecure: Bool = false) {
        self.init(maximumHops: maximumHops, allowsInsecure: allowsInsecure, follows: true)
    }

    private init(maximumHops: Int, allowsInsecure: Bool, follows: Bool) {
        self.maximumHops = maximumHops
        self.allowsInsecure = allowsInsecure
        self.follows = follows
    }

    public static let standard = RedirectPolicy()
    /// None: the 3xx is the answer, and its status is judged like any other.
    public static let none = RedirectPolicy(maximumHops: 0, allowsInsecure: false, follows: false)
}
