/// Which redirects are followed.
public struct RedirectPolicy: Sendable, Hashable {
    /// 20 by default, at most 1,000; one more throws ``ErrandError/Code/redirectFailed``. With 0 the 3xx is the
    /// response, judged like any other.
    public var maximumHops: Int
    /// Whether https may lead to http; false by default, and then such a redirect throws.
    public var allowsInsecure: Bool

    /// Makes a policy; the defaults are those of the properties.
    public init(maximumHops: Int = 20, allowsInsecure: Bool = false) {
        self.maximumHops = maximumHops
        self.allowsInsecure = allowsInsecure
    }

    /// 20 hops, never from https to http.
    public static let standard = RedirectPolicy()
    /// No redirect is followed.
    public static let off = RedirectPolicy(maximumHops: 0)
}
