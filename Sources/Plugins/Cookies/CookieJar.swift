import Errand
public import ErrandEssentials

/// Cookies by RFC 6265bis: stored from responses, and sent with the requests that they are meant for.
///
/// ```swift
/// let jar = CookieJar()
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .system, filters: [.cookies(jar)])
/// ```
///
/// A jar lives in memory, or in a file that only its owner can read: `try CookieJar(file: url)`. Several agents may
/// share a jar. It is safe to use from any thread; the cookies of one response are stored in one step.
public final class CookieJar: Sendable {
    private let contents: CookieContents
    private let writer: CookieWriter?

    /// Makes a jar in memory.
    public init(policy: CookiePolicy = CookiePolicy()) {
        (contents, writer) = (CookieContents(CookieStore(policy)), nil)
    }

    /// Makes a jar in a file in curl's format, that of Netscape. The file is read now, if it exists, and replaced in one
    /// step, readable by its owner only. Throws ``CookieFileError``.
    ///
    /// A response that changes a cookie does not wait for the file: it is written one second later by the agent's clock,
    /// with all that has changed by then. What is outstanding is also written by ``save(at:)``, when the jar is released,
    /// and when the process ends by `exit` or by returning from `main`; a process that is killed or crashes loses it.
    ///
    /// The format has no SameSite, and cannot represent a name or value with a tab: such a cookie stays in memory.
    /// Session cookies are in the file as well, as curl writes them.
    ///
    /// - Parameters:
    ///   - url: the URL of the file.
    ///   - policy: what is kept; the defaults of ``CookiePolicy`` by default.
    ///   - droppingSessionCookies: whether the cookies of the last session are left out; false by default.
    ///   - date: determines which cookies have expired; now by default.
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

    /// Plans to write the file, if the jar has one and it lacks a change.
    func writeSoon(by time: any TimeSource) { writer?.plan(by: time) }

    /// The reason why the file could not be written behind a response; once.
    func takeFailure() -> CookieFileError? { writer?.takeFailure() }

    /// All cookies, in the order of their creation, including expired ones that were not removed yet.
    public var cookies: [Cookie] { contents.snapshot.cookies }

    /// The number of cookies.
    public var count: Int { contents.read { $0.count } }

    /// The cookies that a request to a URL carries, in the order in which they are sent (RFC 6265bis, section 5.8.3).
    public func cookies(for url: URL, at date: Date = Date()) -> [Cookie] {
        cookies(for: url.absoluteString, url, at: date)
    }

    /// The value of the `Cookie` field of a request to a URL, such as `session=7; theme=dark`, for a web view or another
    /// client; nil without cookies. It is a secret: never log it.
    public func cookieField(for url: URL, at date: Date = Date()) -> String? {
        let cookies = cookies(for: url, at: date)
        return cookies.isEmpty ? nil : cookies.map(\.pair).joined(separator: "; ")
    }

    /// The cookies for a URL, from its text; the URL is parsed only where it has to be.
    func cookies(for text: String, _ url: @autoclosure () -> URL, at date: @autoclosure () -> Date) -> [Cookie] {
        if contents.isEmpty { return [] }
        if let host = CookieOrigin.plainHost(in: text) {
            if !contents.read({ $0.hasCookies(for: host) }) { return [] }
        }
        guard let origin = CookieOrigin(url()) else { return [] }
        let date = date()
        return contents.read { $0.retrieve(for: origin, at: date) }
    }

    /// Stores the cookie of a `Set-Cookie` field. Throws ``CookieRejection`` if it is rejected.
    public func store(_ setCookie: String, from url: URL, at date: Date = Date()) throws(CookieRejection) {
        try keep([HTTPHeaders.Field(.setCookie, setCookie)], from: url, at: date) { rejection throws(CookieRejection) in
            throw rejection
        }
    }

    /// Stores the cookies of fields in one step; `rejected` receives the reason for each rejected one.
    func keep(
        _ fields: some Sequence<HTTPHeaders.Field>, from url: URL, at date: Date,
        rejected: (CookieRejection) throws(CookieRejection) -> Void
    ) throws(CookieRejection) {
        guard let origin = CookieOrigin(url) else { return try rejected(.noHost) }
        // Parsed before the lock is taken: there may be thousands.
        var (rejections, cookies): ([CookieRejection], [(set: SetCookie, isLatin1: Bool)]) = ([], [])
        let limits = contents.limits
        for field in fields {
            do throws(CookieRejection) {
                cookies.append((try SetCookie(parsing: field.value, limits: limits), field.isLatin1))
            } catch { rejections.append(error) }
        }
        rejections += contents.change { $0.store(cookies, from: origin, at: date) }
        for rejection in rejections { try rejected(rejection) }
    }

    /// Stores a cookie of the app. Throws ``CookieRejection`` if it breaks a rule that also applies to servers.
    public func insert(_ cookie: Cookie, at date: Date = Date()) throws(CookieRejection) {
        let result = contents.change { store in
            Result { () throws(CookieRejection) in try store.insert(cookie, at: date) }
        }
        try result.get()
    }

    /// Removes the cookies that match, all of them by default, and returns their number.
    ///
    /// ```swift
    /// jar.remove { $0.domain == "example.com" }
    /// jar.remove { $0.expiry == nil }                 // the session is over
    /// ```
    @discardableResult
    public func remove(where matches: (Cookie) -> Bool = { _ in true }) -> Int {
        // The closure runs without the lock, so that it may use the jar.
        let matching = cookies.filter(matches)
        return contents.change { $0.remove(matching) }
    }

    /// Writes the file now, if the jar has one and cookies have changed since it was written; for use after
    /// ``insert(_:at:)`` and ``remove(where:)``, and before the process may be killed, such as when an app goes to the
    /// background. Throws ``CookieFileError``; what could not be written stays outstanding.
    @concurrent public func save(at date: Date = Date()) async throws(CookieFileError) { try writer?.write(at: date) }

    /// Adds the cookies of a file of curl's to those of the jar, and returns how many were stored. Throws
    /// ``CookieFileError``.
    @discardableResult
    @concurrent public func load(curlFile url: URL, at date: Date = Date()) async throws(CookieFileError) -> Int {
        let cookies = try CookieFile(url).read()
        return contents.change { $0.insert(all: cookies, at: date) }
    }

    /// Writes the cookies into a file that curl reads, in one step, readable by its owner only. Throws ``CookieFileError``.
    @concurrent public func write(curlFile url: URL, at date: Date = Date()) async throws(CookieFileError) {
        try CookieFile(url).write(cookies, at: date)
    }
}

extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of cookies.
    public var description: String { "\(count) cookies" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description leaves out.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
