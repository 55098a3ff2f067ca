import Errand
public import ErrandEssentials
import Synchronization

/// Cookies by RFC 6265bis: kept from responses, sent with the requests that they are meant for.
///
/// ```swift
/// let jar = CookieJar()
/// let agent = NetworkAgent(baseURL: "https://example.com", transport: .system, filters: [.cookies(jar)])
/// ```
///
/// In memory, or in a file that only its owner can read: `try CookieJar(file: url)`. Several agents may share a jar. Safe to
/// use from anywhere; the cookies of one response are kept in one step.
public final class CookieJar: Sendable {
    private let store: Mutex<CookieStore>
    private let file: CookieFile?
    private let isEmpty = Atomic(true)
    private let limits: CookieLimits

    /// A jar in memory.
    public init(policy: CookiePolicy = CookiePolicy()) {
        store = Mutex(CookieStore(policy))
        (file, limits) = (nil, policy.limits)
    }

    /// A jar in a file in the format of curl, that of Netscape. The file is read now, if it exists, and written anew after
    /// each response that changes a cookie, in one step, readable by its owner only. Throws ``CookieFileError``.
    ///
    /// The format has no SameSite, and no place for a name or value with a tab: such a cookie stays in memory. Cookies of the
    /// session are in the file as well, as curl writes them.
    ///
    /// - Parameters:
    ///   - droppingSessionCookies: whether the cookies of the last session are left out; false by default.
    ///   - date: decides which cookies have ended; now by default.
    public init(
        file url: URL, policy: CookiePolicy = CookiePolicy(), droppingSessionCookies: Bool = false,
        at date: Date = Date()
    ) throws(CookieFileError) {
        let file = CookieFile(url)
        var cookies = CookieStore(policy)
        let read = try file.read().filter { !(droppingSessionCookies && $0.expiry == nil) }
        _ = cookies.insert(all: read, at: date)
        (self.file, limits) = (file, policy.limits)
        isEmpty.store(cookies.count == 0, ordering: .relaxed)
        file.begin(at: cookies.version)
        store = Mutex(cookies)
    }

    /// Whether there is anything to save.
    var isKeptInFile: Bool { file != nil }

    /// All cookies, in the order of their creation, those that have ended and not been removed included.
    public var cookies: [Cookie] { store.withLock { $0.cookies } }

    /// How many cookies there are.
    public var count: Int { store.withLock { $0.count } }

    /// The cookies that a request to a URL carries, in the order in which they are sent (RFC 6265bis, section 5.8.3).
    public func cookies(for url: URL, at date: Date = Date()) -> [Cookie] {
        guard !isEmpty.load(ordering: .acquiring), let host = CookieOrigin.host(of: url),
            store.withLock({ $0.hasCookies(for: host) })
        else { return [] }
        let origin = CookieOrigin(host, url)
        return store.withLock { $0.retrieve(for: origin, at: date) }
    }

    /// Keeps the cookie of a `Set-Cookie` field. Throws ``CookieRejection`` where it is not kept.
    public func store(_ setCookie: String, from url: URL, at date: Date = Date()) throws(CookieRejection) {
        try keep([HTTPHeaders.Field(.setCookie, setCookie)], from: url, at: date) { rejection throws(CookieRejection) in
            throw rejection
        }
    }

    /// Keeps the cookies of fields in one step; `rejected` receives why one is not kept.
    func keep(
        _ fields: some Sequence<HTTPHeaders.Field>, from url: URL, at date: Date,
        rejected: (CookieRejection) throws(CookieRejection) -> Void
    ) throws(CookieRejection) {
        guard let origin = CookieOrigin(url) else { return try rejected(.noHost) }
        // Read before the lock is taken: there may be thousands.
        var (rejections, cookies): ([CookieRejection], [(set: SetCookie, isLatin1: Bool)]) = ([], [])
        let limits = limits
        for field in fields {
            do throws(CookieRejection) {
                cookies.append((try SetCookie(parsing: field.value, limits: limits), field.isLatin1))
            } catch { rejections.append(error) }
        }
        rejections += store.withLock { store in
            defer { isEmpty.store(store.count == 0, ordering: .releasing) }
            return store.store(cookies, from: origin, at: date)
        }
        for rejection in rejections { try rejected(rejection) }
    }

    /// Keeps a cookie of the app's own. Throws ``CookieRejection`` where it breaks a rule that a server's would break.
    public func insert(_ cookie: Cookie, at date: Date = Date()) throws(CookieRejection) {
        let result = store.withLock { store -> Result<Void, CookieRejection> in
            defer { isEmpty.store(store.count == 0, ordering: .releasing) }
            return Result { () throws(CookieRejection) in try store.insert(cookie, at: date) }
        }
        try result.get()
    }

    /// Removes the cookies that match, all of them by default, and returns how many that were.
    ///
    /// ```swift
    /// jar.remove { $0.domain == "example.com" }
    /// jar.remove { $0.expiry == nil }                 // the session is over
    /// ```
    @discardableResult
    public func remove(where matches: (Cookie) -> Bool = { _ in true }) -> Int {
        store.withLock { store in
            defer { isEmpty.store(store.count == 0, ordering: .releasing) }
            return store.remove(where: matches)
        }
    }

    /// Writes the file, if the jar has one and cookies have changed since it was written; after
    /// ``insert(_:at:)`` and ``remove(where:)``, for responses are written without it. Throws ``CookieFileError``.
    @concurrent public func save(at date: Date = Date()) async throws(CookieFileError) {
        guard let file else { return }
        try file.write(at: date) { store.withLock { ($0.cookies, $0.version) } }
    }

    /// Adds the cookies of a file of curl's to those that are here, and returns how many were kept. Throws
    /// ``CookieFileError``.
    @discardableResult
    @concurrent public func load(curlFile url: URL, at date: Date = Date()) async throws(CookieFileError) -> Int {
        let cookies = try CookieFile(url).read()
        return store.withLock { store in
            defer { isEmpty.store(store.count == 0, ordering: .releasing) }
            return store.insert(all: cookies, at: date)
        }
    }

    /// Writes the cookies into a file that curl reads, in one step, readable by its owner only. Throws ``CookieFileError``.
    @concurrent public func write(curlFile url: URL, at date: Date = Date()) async throws(CookieFileError) {
        try CookieFile(url).write(at: date) { store.withLock { ($0.cookies, $0.version) } }
    }
}

extension CookieJar: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// How many cookies there are.
    public var description: String { "\(count) cookies" }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Nothing.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}
