import Errand
public import ErrandEssentials

/// A cookie jar that follows RFC 6265bis. It stores the cookies from responses, and returns the cookies to send with
/// each request.
///
/// ```swift
/// let jar = CookieJar()
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .system, filters: [.cookies(jar)])
/// ```
///
/// A jar keeps its cookies in memory, or in a file that only its owner can read: `try CookieJar(file: url)`. Several
/// agents can share a jar, and you can use it from any thread. A jar stores the cookies of one response atomically.
public final class CookieJar: Sendable {
    private let contents: CookieContents
    private let writer: CookieWriter?
    let renewedCookies = CallKey<RenewedCookies>()

    /// Creates an empty jar in memory. Its cookies are lost when the jar is released.
    public init(policy: CookiePolicy = CookiePolicy()) {
        (contents, writer) = (CookieContents(CookieStore(policy)), nil)
    }

    /// Creates a jar that keeps its cookies in a file in curl's Netscape format. Throws ``CookieFileError``.
    ///
    /// If the file exists, it's read now. Each write replaces the file atomically. Only the file's owner can read it.
    ///
    /// Responses don't wait for the file. The jar writes pending changes:
    ///
    /// - one second after a change, by the agent's clock
    /// - in ``save(at:)``
    /// - when the jar is released
    /// - when the process ends by `exit` or by returning from `main`
    ///
    /// Pending changes are lost if the process crashes or is killed.
    ///
    /// The file includes session cookies. It doesn't include SameSite, which the format lacks. A cookie with a tab in a
    /// field isn't written to the file, but stays in memory.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - policy: The rules for storing cookies. Defaults to a policy with default values.
    ///   - droppingSessionCookies: Whether to skip the session cookies in the file. Defaults to false.
    ///   - date: The current date, which decides which cookies have expired. Defaults to now.
    public init(
        file url: URL, policy: CookiePolicy = CookiePolicy(), droppingSessionCookies: Bool = false,
        at date: Date = Date()
    ) throws(CookieFileError) {
        let file = CookieFile(url)
        var cookies = CookieStore(policy)
        let read = try file.read().filter { !(droppingSessionCookies && $0.expiry == nil) }
        _ = cookies.insert(all: read, at: date)
        contents = CookieContents(cookies)
        writer = CookieWriter(file, contents)
    }

    deinit { writer?.end() }

    func writeSoon(by time: any TimeSource) { writer?.plan(by: time) }

    var limits: CookieLimits { contents.limits }

    func takeFailure() -> CookieFileError? { writer?.takeFailure() }

    /// All cookies in creation order, including expired cookies that haven't been removed.
    public var cookies: [Cookie] { contents.snapshot.cookies }

    /// The number of ``cookies``.
    public var count: Int { contents.read { $0.count } }

    /// Returns the cookies for a request to a URL, in the order they're sent (RFC 6265bis, section 5.8.3).
    public func cookies(for url: URL, at date: Date = Date()) -> [Cookie] {
        entries(for: url.absoluteString, url, at: date).map(\.cookie)
    }

    /// Returns the value of the `Cookie` field for a URL, such as `session=7; theme=dark`, or nil if no cookies match.
    ///
    /// Use it for a web view or another HTTP client. The value is a secret: never log it.
    public func cookieField(for url: URL, at date: Date = Date()) -> String? {
        let cookies = cookies(for: url, at: date)
        return cookies.isEmpty ? nil : cookies.map(\.pair).joined(separator: "; ")
    }

    /// Returns the entries for a request. Parses the URL only if reading its text isn't enough.
    func entries(
        for text: String, _ url: @autoclosure () -> URL, at date: @autoclosure () -> Date
    ) -> [CookieTable.Entry] {
        if contents.isEmpty { return [] }
        guard let origin = CookieOrigin(plain: text) ?? CookieOrigin(url()) else { return [] }
        let date = date()
        return contents.read { $0.retrieve(for: origin, at: date) }
    }

    /// Stores the cookie in the value of a `Set-Cookie` field. Throws ``CookieRejection`` if the cookie is rejected.
    public func store(_ setCookie: String, from url: URL, at date: Date = Date()) throws(CookieRejection) {
        try keep([HTTPHeaders.Field(.setCookie, setCookie)], from: url, at: date) { rejection throws(CookieRejection) in
            throw rejection
        }
    }

    /// Stores the cookies atomically.
    ///
    /// - Parameter expiring: Converts an expiry to this device's clock.
    func keep(
        _ fields: some Sequence<HTTPHeaders.Field>, from url: URL, at date: Date,
        expiring: (Date) -> Date = { $0 },
        rejected: (CookieRejection) throws(CookieRejection) -> Void
    ) throws(CookieRejection) {
        guard let origin = CookieOrigin(url) else { return try rejected(.noHost) }
        // Parse the fields outside the lock, because there may be thousands of them.
        var (rejections, cookies): ([CookieRejection], [(set: SetCookie, isLatin1: Bool)]) = ([], [])
        let limits = contents.limits
        for field in fields {
            do throws(CookieRejection) {
                var cookie = try SetCookie(parsing: field.value, limits: limits)
                // A date up to 1 January 1970 deletes the cookie.
                if let expires = cookie.expires, expires > .epoch { cookie.expires = expiring(expires) }
                cookies.append((cookie, field.isLatin1))
            } catch { rejections.append(error) }
        }
        rejections += contents.change { $0.store(cookies, from: origin, at: date) }
        for rejection in rejections { try rejected(rejection) }
    }

    /// Stores a cookie that your app created. Throws ``CookieRejection`` if the cookie breaks a rule that applies to
    /// servers' cookies.
    public func insert(_ cookie: Cookie, at date: Date = Date()) throws(CookieRejection) {
        let result = contents.change { store in
            Result { () throws(CookieRejection) in try store.insert(cookie, at: date) }
        }
        try result.get()
    }

    /// Removes the cookies that match, or all cookies, and returns how many were removed.
    ///
    /// ```swift
    /// jar.remove { $0.domain == "example.com" }
    /// jar.remove { $0.expiry == nil }                 // the session is over
    /// ```
    @discardableResult
    public func remove(where matches: (Cookie) -> Bool = { _ in true }) -> Int {
        // The closure may use the jar.
        let matching = cookies.filter(matches)
        return contents.change { $0.remove(matching) }
    }

    /// Writes the file now. Does nothing if the jar has no file, or if its cookies haven't changed since the last
    /// write.
    ///
    /// Call it after ``insert(_:at:)`` and ``remove(where:)``, which don't schedule a write. Also call it before the
    /// process may be killed, for example when an app enters the background. If the file can't be written, throws
    /// ``CookieFileError`` and keeps the changes pending.
    @concurrent public func save(at date: Date = Date()) async throws(CookieFileError) { try writer?.write(at: date) }

    /// Adds the cookies in a curl cookie file and returns how many were stored. Throws ``CookieFileError``.
    @discardableResult
    @concurrent public func load(curlFile url: URL, at date: Date = Date()) async throws(CookieFileError) -> Int {
        let cookies = try CookieFile(url).read()
        return contents.change { $0.insert(all: cookies, at: date) }
    }

    /// Writes the cookies to a curl cookie file that only its owner can read, atomically. Throws ``CookieFileError``.
    @concurrent public func write(curlFile url: URL, at date: Date = Date()) async throws(CookieFileError) {
        try CookieFile(url).write(cookies, at: date)
    }
}

extension Date {
    /// The end of 1 January 1970, because servers delete cookies with an expiry on that day.
    fileprivate static var epoch: Date { Date(timeIntervalSince1970: 86_400) }
}

extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of cookies, without names and values.
    public var description: String { "\(count) \(count == 1 ? "cookie" : "cookies")" }
    /// The same text as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal cookies.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
