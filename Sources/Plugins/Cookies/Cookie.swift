import Errand
public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// A cookie in a ``CookieJar`` (RFC 6265bis, section 5.7).
///
/// ```swift
/// let cookie = Cookie("session", "abc", domain: "example.com", isSecure: true)
/// ```
public struct Cookie: Sendable, Hashable {
    /// Controls whether a browser sends the cookie with requests that other sites cause.
    ///
    /// An app doesn't show pages from other sites, so a jar checks the attribute only when it stores the cookie.
    public enum SameSite: String, Sendable, Hashable {
        /// Browsers never send the cookie with cross-site requests.
        case strict
        /// Browsers send the cookie with top-level navigation only.
        case lax
        /// Browsers always send the cookie. The server must also mark it as secure.
        case none
        /// The server sent no `SameSite` attribute, or an unknown value.
        case unspecified
    }

    /// The cookie's name. If it's empty, only the value is sent.
    public var name: String
    /// The cookie's value as the server wrote it, including quotation marks.
    public var value: String
    /// The host that the cookie belongs to, in lowercase, without a leading dot.
    public var domain: String
    /// Whether the cookie is sent only to its ``domain``, and not to subdomains.
    public var isHostOnly: Bool
    /// The path under which requests carry the cookie. Defaults to `/`.
    public var path: String
    /// The date from which the cookie is no longer sent. Nil for a session cookie.
    public var expiry: Date?
    /// Whether the cookie is sent only over https.
    public var isSecure: Bool
    /// Whether scripts on a page can't read the cookie.
    public var isHTTPOnly: Bool
    /// The cross-site restriction for browsers. See ``SameSite-swift.enum``.
    public var sameSite: SameSite
    var isLatin1 = false

    /// Creates a cookie for ``CookieJar/insert(_:at:)``, which validates it.
    public init(
        _ name: String, _ value: String, domain: String, isHostOnly: Bool = false, path: String = "/",
        expiry: Date? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false, sameSite: SameSite = .unspecified
    ) {
        (self.name, self.value, self.path, self.expiry) = (name, value, path, expiry)
        self.domain = HostName.comparable(domain.hasPrefix(".") ? String(domain.dropFirst()) : domain)
        (self.isHostOnly, self.isSecure, self.isHTTPOnly, self.sameSite) = (isHostOnly, isSecure, isHTTPOnly, sameSite)
    }

    /// Returns whether two cookies are equal. Also compares the bytes of the values, unlike `==`.
    func isSame(as other: Cookie) -> Bool { self == other && value.hasSameBytes(as: other.value) }

    var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

    func isExpired(at date: Date) -> Bool { expiry.map { $0 <= date } ?? false }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, domain and path, with a masked value.
    public var description: String { "\(name)=\(Redaction.mask) for \(isHostOnly ? "" : ".")\(domain)\(path)" }
    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without the value.
    public var customMirror: Mirror { Mirror(self, children: ["name": name, "domain": domain, "path": path]) }
}

/// The cookies, shared by the jar and its file writer.
final class CookieContents: Sendable {
    private let store: Mutex<CookieStore>
    private let holdsNone: Atomic<Bool>
    let limits: CookieLimits

    init(_ store: consuming CookieStore) {
        limits = store.policy.limits
        holdsNone = Atomic(store.count == 0)
        self.store = Mutex(store)
    }

    var isEmpty: Bool { holdsNone.load(ordering: .acquiring) }

    func read<Result>(_ body: (inout sending CookieStore) -> sending Result) -> sending Result { store.withLock(body) }

    func change<Result: Sendable>(_ body: (inout CookieStore) -> Result) -> Result {
        store.withLock { store in
            defer { holdsNone.store(store.count == 0, ordering: .releasing) }
            return body(&store)
        }
    }

    var snapshot: (cookies: [Cookie], version: UInt64) { store.withLock { ($0.cookies, $0.version) } }

    var version: UInt64 { store.withLock { $0.version } }
}
