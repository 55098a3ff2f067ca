import Errand
public import ErrandEssentials
import ErrandSupport
import Synchronization

/// A cookie as stored in a ``CookieJar`` (RFC 6265bis, section 5.7).
///
/// ```swift
/// let cookie = Cookie("session", "abc", domain: "example.com", isSecure: true)
/// ```
public struct Cookie: Sendable, Hashable {
    /// When a browser sends a cookie with requests that other sites cause. A client without pages causes all its
    /// requests itself: it keeps and reports the attribute, and checks it only when the cookie is set.
    public enum SameSite: String, Sendable, Hashable {
        /// Never.
        case strict
        /// With navigation only.
        case lax
        /// Always; such a cookie has to be secure.
        case none
        /// The server has not sent the attribute, or not with a known value.
        case unspecified
    }

    /// The name. May be empty; then only the value is sent.
    public var name: String
    /// The value as the server wrote it, quotes included.
    public var value: String
    /// The host, in lower case, without a leading dot.
    public var domain: String
    /// Whether the cookie is sent to that host only, and to none below it.
    public var isHostOnly: Bool
    /// The path below which the cookie is sent; `/` by default.
    public var path: String
    /// The date of expiry; nil for a cookie that ends with the session.
    public var expiry: Date?
    /// Whether the cookie is sent over https only.
    public var isSecure: Bool
    /// Whether the cookie is meant for HTTP alone, and not for scripts of a page.
    public var isHTTPOnly: Bool
    /// See ``SameSite-swift.enum``.
    public var sameSite: SameSite
    /// Whether the bytes on the wire are Latin-1 and not UTF-8.
    var isLatin1 = false

    /// Makes a cookie; ``CookieJar/insert(_:at:)`` judges it.
    public init(
        _ name: String, _ value: String, domain: String, isHostOnly: Bool = false, path: String = "/",
        expiry: Date? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false, sameSite: SameSite = .unspecified
    ) {
        (self.name, self.value, self.path, self.expiry) = (name, value, path, expiry)
        self.domain = (domain.hasPrefix(".") ? String(domain.dropFirst()) : domain).lowercased()
        (self.isHostOnly, self.isSecure, self.isHTTPOnly, self.sameSite) = (isHostOnly, isSecure, isHTTPOnly, sameSite)
    }

    /// Whether another cookie of the same name, domain and path is the same in everything; its value byte by byte.
    func isSame(as other: Cookie) -> Bool { self == other && value.hasSameBytes(as: other.value) }

    /// The pair in the form of the `Cookie` field.
    var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    /// Whether the cookie has expired at a date.
    func isExpired(at date: Date) -> Bool { expiry.map { $0 <= date } ?? false }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Name, domain and path; the value is masked.
    public var description: String { "\(name)=\(Redaction.mask) for \(isHostOnly ? "" : ".")\(domain)\(path)" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Name, domain and path.
    public var customMirror: Mirror { Mirror(self, children: ["name": name, "domain": domain, "path": path]) }
}

/// The cookies of a jar behind their lock; what the jar shares with the work that writes its file.
final class CookieContents: Sendable {
    private let store: Mutex<CookieStore>
    private let holdsNone: Atomic<Bool>
    let limits: CookieLimits

    init(_ store: consuming CookieStore) {
        limits = store.policy.limits
        holdsNone = Atomic(store.count == 0)
        self.store = Mutex(store)
    }

    /// Whether there are no cookies; without the lock.
    var isEmpty: Bool { holdsNone.load(ordering: .acquiring) }

    func read<Result>(_ body: (inout sending CookieStore) -> sending Result) -> sending Result { store.withLock(body) }

    /// Changes the cookies in one step.
    func change<Result: Sendable>(_ body: (inout CookieStore) -> Result) -> Result {
        store.withLock { store in
            defer { holdsNone.store(store.count == 0, ordering: .releasing) }
            return body(&store)
        }
    }

    /// The cookies, and their version.
    var snapshot: (cookies: [Cookie], version: UInt64) { store.withLock { ($0.cookies, $0.version) } }

    /// The version of the cookies.
    var version: UInt64 { store.withLock { $0.version } }
}
