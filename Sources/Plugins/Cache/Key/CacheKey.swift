public import Errand
import ErrandDigests
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// Identifies a cache entry: a canonical text that describes the request without secrets.
public struct CacheKey: Hashable, Sendable, CustomStringConvertible {
    /// The canonical text, with one line per component.
    public let text: String

    /// Creates a key from any text, for tests of stores.
    public init(_ text: String) { self.text = text }

    /// The SHA-256 digest of the text in hexadecimal, usable as a file name. Computed on each access.
    public var digest: String { Hexadecimal.text(digestBytes) }

    /// The SHA-256 digest of the text, 32 bytes. Computed on each access.
    public var digestBytes: [UInt8] { SHA256Digest.digest(of: text.utf8) }

    /// Compares the texts byte by byte. Unlike strings, distinguishes canonically equivalent texts.
    public static func == (a: CacheKey, b: CacheKey) -> Bool { a.text.hasSameBytes(as: b.text) }

    /// Hashes the text.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(text)
    }

    /// The key's canonical text.
    public var description: String { text }
}

/// The rule that decides which requests share a timed entry, in addition to the method and URL.
///
/// ```swift
/// var cacheKey: CacheKeyPolicy { .standard.dropping("timestamp", "nonce").including("X-Region") }
/// ```
///
/// The rule doesn't apply to HTTP entries. Their keys consist of the URL and the headers in the server's `Vary`.
public struct CacheKeyPolicy: Sendable, Hashable {
    var name: String?
    var dropped: Set<String> = []
    var headers: [HTTPHeaderName] = [.accept, .acceptLanguage, .range]
    var ignoresBody = false
    var additions: [String] = []

    /// The default components: the ``ResourceURL``, `Accept`, `Accept-Language`, `Range` and the body. If the policy
    /// has no partition, the key also contains a MAC of the user's marks.
    public static let standard = CacheKeyPolicy()

    /// Returns a rule that uses a name instead of the other components, such as `"home/\(city)"`. A user's requests
    /// with the same name share an entry.
    public static func named(_ name: String) -> CacheKeyPolicy {
        var rule = CacheKeyPolicy()
        rule.name = name
        return rule
    }

    /// Returns a rule that ignores these query and form parameters, for example a timestamp.
    public func dropping(_ parameters: String...) -> CacheKeyPolicy {
        var rule = self
        rule.dropped.formUnion(parameters)
        return rule
    }

    /// Returns a rule that also includes these header fields.
    public func including(_ headers: HTTPHeaderName...) -> CacheKeyPolicy {
        var rule = self
        rule.headers += headers.filter { !rule.headers.contains($0) }
        return rule
    }

    /// Whether keys contain the value of this header field.
    func comparesHeader(_ header: HTTPHeaderName) -> Bool { name == nil && headers.contains(header) }

    /// Returns a rule that ignores the body.
    public func ignoringBody() -> CacheKeyPolicy {
        var rule = self
        rule.ignoresBody = true
        return rule
    }

    /// Returns a rule that also includes a text, for a difference that isn't in the URL, the headers or the body.
    public func adding(_ text: String) -> CacheKeyPolicy {
        var rule = self
        rule.additions.append(text)
        return rule
    }
}

/// Builds a key's text. A value's line breaks are escaped, so a value can't imitate another line.
enum CacheKeyBuilder {
    /// Returns the key of a timed entry, or nil if the key depends on a body that isn't in memory. Without a partition,
    /// the key includes the users.
    static func timed(
        _ request: HTTPRequest, url: String, rule: CacheKeyPolicy, hasPartition: Bool, users: Set<UserMark>,
        _ hasher: KeyedHasher
    ) -> CacheKey? {
        var text = "timed"
        if let name = rule.name {
            add("name", name, to: &text)
            if !hasPartition { text += lines(users, hasher) }
            for addition in rule.additions { add("and", addition, to: &text) }
            return CacheKey(text)
        }
        let resource = rule.dropped.isEmpty ? url : dropping(rule.dropped, from: url)
        add(request.method.rawValue, resource, to: &text)
        for name in rule.headers {
            guard let value = request.headers[name] else { continue }
            let isSensitive = request.headers.contains { $0.name == name && $0.isSensitive }
            add(name.rawName.lowercased(), isSensitive ? hasher.hash(value) : value, to: &text)
        }
        if !hasPartition { text += lines(users, hasher) }
        if !rule.ignoresBody, !request.body.isNone {
            guard let data = request.body.data else { return nil }
            let type = request.headers[.contentType] ?? request.body.contentType ?? ""
            let isForm = MediaType.essence(of: type) == "application/x-www-form-urlencoded"
            let body = isForm && !rule.dropped.isEmpty ? dropping(rule.dropped, form: data) : data
            add("type", type, to: &text)
            add("body", Hexadecimal.text(SHA256Digest.digest(of: body)), to: &text)
        }
        for addition in rule.additions { add("and", addition, to: &text) }
        return CacheKey(text)
    }

    static func http(_ url: String, users: Set<UserMark>, partition: String?, _ hasher: KeyedHasher) -> CacheKey {
        http(url, owners: partition.map { String("\npartition ", hasher.hash($0)) } ?? lines(users, hasher))
    }

    /// Returns the key of the response that belongs to no user.
    static func http(_ url: String) -> CacheKey { http(url, owners: "") }

    private static func http(_ url: String, owners: String) -> CacheKey {
        CacheKey(String("http\nGET ", escaped(url), owners))
    }

    private static func lines(_ users: Set<UserMark>, _ hasher: KeyedHasher) -> String {
        if users.isEmpty { return "" }
        return hasher.lines(of: users) { users.map { line($0, hasher) }.sorted().joined() }
    }

    private static func line(_ mark: UserMark, _ hasher: KeyedHasher) -> String {
        let isStandard = mark.source == "authorization"
        return String(isStandard ? "\nauthorization " : "\nuser \(escaped(mark.source)) ", hasher.hash(mark.identity))
    }

    static func record(of url: String) -> CacheKey { CacheKey(String("record\nGET ", url)) }

    /// Returns the key of a variant. `names` are the header names in `Vary`.
    static func variant(of key: CacheKey, names: [String], headers: HTTPHeaders, _ hasher: KeyedHasher) -> CacheKey {
        var text = key.text
        for name in names {
            guard let value = VaryRule.value(of: name, in: headers) else {
                add("without", name, to: &text)
                continue
            }
            let isSensitive = headers.contains { $0.isSensitive && ASCII.equalsIgnoringCase($0.name.rawName, name) }
            add("vary \(name)", isSensitive ? hasher.hash(value) : value, to: &text)
        }
        return CacheKey(text)
    }

    static func url(_ url: URL) -> String { canonical(withoutFragment(url.absoluteString)) }

    static func url(_ resource: URL?, of request: HTTPRequest) -> String {
        canonical(withoutFragment(resource?.absoluteString ?? request.urlText))
    }

    private static func withoutFragment(_ text: String) -> String {
        guard let mark = text.withSpan({ $0.firstIndex(of: UInt8(ascii: "#")) }) else { return text }
        return String(Substring(text.utf8.prefix(mark)))
    }

    /// Returns a URL whose scheme and host are in lower case, without an empty port or the scheme's own port (RFC 9110,
    /// section 4.2.3). Otherwise, a POST wouldn't invalidate responses of the same URL in another spelling.
    private static func canonical(_ url: String) -> String {
        guard let end = url.withSpan({ endOfUnusualOrigin($0) }) else { return url }
        let rest = url.utf8.index(url.startIndex, offsetBy: end)
        guard let slashes = url.firstRange(of: "://"), slashes.upperBound <= rest else { return url }
        let scheme = url[..<slashes.lowerBound].lowercased()
        var host = url[slashes.upperBound..<rest].lowercased()
        if let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") {
            let digits = host[host.index(after: colon)...].drop { $0 == "0" }
            host.removeSubrange(colon...)
            if !digits.isEmpty, digits != (scheme == "https" ? "443" : "80") { host += ":" + digits }
        }
        return scheme + "://" + host + url[rest...]
    }

    /// Returns the end of a URL's authority, or nil if the scheme and the authority have neither an uppercase letter
    /// nor a port.
    private static func endOfUnusualOrigin(_ bytes: Span<UInt8>) -> Int? {
        var (slashes, colons, isUnusual) = (0, 0, false)
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "/"):
                slashes += 1
                if slashes == 3 { return isUnusual || colons > 1 ? index : nil }
            case UInt8(ascii: "?"): return isUnusual || colons > 1 ? index : nil
            case UInt8(ascii: ":"): colons += 1
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): isUnusual = true
            default: break
            }
        }
        return isUnusual || colons > 1 ? bytes.count : nil
    }

    private static func add(_ word: String, _ value: String, to text: inout String) {
        text += "\n"
        text += word
        text += " "
        text += escaped(value)
    }

    private static func escaped(_ value: String) -> String {
        let isPlain = value.withSpan { bytes in
            // Without branches, the compiler can vectorize the loop.
            var special: UInt8 = 0
            for index in bytes.indices {
                special |= (bytes[index] < 0x20 ? 1 : 0) | (bytes[index] == UInt8(ascii: "%") ? 1 : 0)
            }
            return special == 0
        }
        if isPlain { return value }
        return PercentEncoding.encode(value) { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }
    }

    private static func dropping(_ names: Set<String>, from url: String) -> String {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url }
        let query = dropping(names, fromQuery: url[url.utf8.index(after: mark)...])
        return query.isEmpty ? String(url[..<mark]) : url[...mark] + query
    }

    private static func dropping(_ names: Set<String>, form: Data) -> Data {
        Data(dropping(names, fromQuery: String(decoding: form, as: UTF8.self)[...]).utf8)
    }

    /// Removes items by name from a query. Items such as `a[]=1` and `a[b]=1` have the name `a`.
    private static func dropping(_ names: Set<String>, fromQuery query: Substring) -> String {
        // The rest of the query stays as sent.
        QueryItem.split(query, keepingEmpty: true).filter { item in
            let name = item.name
            return !names.contains(name) && !names.contains(String(name.prefix { $0 != "[" }))
        }.map(\.description).joined(separator: "&")
    }
}

/// Computes a MAC (HMAC-SHA-256) of values that must not be stored as plain text.
final class KeyedHasher: Sendable {
    private let code: HMAC<SHA256Digest>
    private let known = Mutex<[CacheKey: String]>([:])
    /// The last request's users and their lines, because most requests of an app belong to one user.
    private let lines = Mutex<(users: Set<UserMark>, text: String)>(([], ""))
    private static let maximumKnown = 64

    init(secret: [UInt8]) { code = HMAC(key: secret) }

    func hash(_ text: String) -> String {
        // A `CacheKey` compares bytes, because the hash also depends on the bytes.
        let key = CacheKey(text)
        if let hash = known.withLock({ $0[key] }) { return hash }
        var code = code
        code.update(text.utf8)
        let hash = Hexadecimal.text(code.finalized())
        known.withLock { known in
            if known.count >= Self.maximumKnown { known.removeAll() }
            known[key] = hash
        }
        return hash
    }

    func lines(of users: Set<UserMark>, _ make: () -> String) -> String {
        let known = lines.withLock { $0 }
        if known.users == users { return known.text }
        let new = make()
        lines.withLock { $0 = (users, new) }
        return withExtendedLifetime(known) { new }
    }
}

extension String {
    /// Concatenates texts with a single allocation.
    init(_ first: String, _ second: String, _ third: String = "") {
        self = first
        reserveCapacity(first.utf8.count + second.utf8.count + third.utf8.count)
        append(second)
        if !third.isEmpty { append(third) }
    }
}

extension Set<UserMark> {
    /// Whether a response may be stored for the expected users. With a partition, which names the owner, filters may
    /// have added marks since the lookup.
    func isStorable(for expected: Set<UserMark>, hasPartition: Bool) -> Bool {
        if self == expected { return true }
        guard hasPartition else { return false }
        let sources = Set<String>(expected.map(\.source))
        return Set(filter { sources.contains($0.source) }).isSubset(of: expected)
    }
}
