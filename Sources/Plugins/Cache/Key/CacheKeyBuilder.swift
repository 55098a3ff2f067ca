import Errand
import ErrandDigests
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// Builds the canonical text of a cache key: one line for each component, a word and a value. Line breaks and `%`
/// within values are escaped, so that no value can imitate another line.
enum CacheKeyBuilder {
    /// The key of a timed entry, by the text of its URL without a fragment; nil if the body is not in memory and cannot
    /// be compared. Without a partition, that of the users to whom the request belongs.
    static func timed(
        _ request: HTTPRequest, url: String, rule: CacheKeyRule, hasPartition: Bool, users: Set<UserMark>,
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

    /// The key of the HTTP entry of a URL, by its text without a fragment.
    static func http(_ url: String, users: Set<UserMark>, partition: String?, _ hasher: KeyedHasher) -> CacheKey {
        let owners = partition.map { String("\npartition ", hasher.hash($0)) } ?? lines(users, hasher)
        return CacheKey(String("http\nGET ", escaped(url), owners))
    }

    /// A line for each mark, in an order of their own.
    private static func lines(_ users: Set<UserMark>, _ hasher: KeyedHasher) -> String {
        guard users.count > 1 else { return users.first.map { line($0, hasher) } ?? "" }
        return users.map { line($0, hasher) }.sorted().joined()
    }

    private static func line(_ mark: UserMark, _ hasher: KeyedHasher) -> String {
        let isStandard = mark.source == "authorization"
        return String(isStandard ? "\nauthorization " : "\nuser \(escaped(mark.source)) ", hasher.hash(mark.identity))
    }

    /// The key of the record of a URL, which leads to the responses that belong to users.
    static func record(of url: String) -> CacheKey { CacheKey(String("record\nGET ", url)) }

    /// The key of the variant of a URL for requests with these values of the header fields that `Vary` names.
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

    /// The text of a URL without its fragment, which is never sent.
    static func url(_ url: URL) -> String { withoutFragment(url.absoluteString) }

    /// The same of a URL that identifies the resource of a request, which is its own if there is none.
    static func url(_ resource: URL?, of request: HTTPRequest) -> String {
        withoutFragment(resource?.absoluteString ?? request.urlText)
    }

    private static func withoutFragment(_ text: String) -> String {
        guard text.holds("#"), let mark = text.utf8.firstIndex(of: UInt8(ascii: "#")) else { return text }
        return String(text[..<mark])
    }

    private static func add(_ word: String, _ value: String, to text: inout String) {
        text += "\n"
        text += word
        text += " "
        text += escaped(value)
    }

    private static func escaped(_ value: String) -> String {
        let isPlain = value.withSpan { bytes in
            // All bytes, without a branch: the compiler then takes many at a time.
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

    /// The query without the items of these names; `a[]=1` and `a[b]=1` are items of `a`.
    private static func dropping(_ names: Set<String>, fromQuery query: Substring) -> String {
        // Empty items are kept: apart from dropped items, the key contains the query as it is sent.
        QueryItem.split(query, keepingEmpty: true).filter { item in
            let name = item.name
            return !names.contains(name) && !names.contains(String(name.prefix { $0 != "[" }))
        }.map(\.description).joined(separator: "&")
    }
}

/// Makes keyed hashes (HMAC-SHA-256) of values that must not be stored in the clear.
final class KeyedHasher: Sendable {
    private let code: HMAC<SHA256Digest>
    /// The hashes of the last texts: each request of a user asks for the same ones.
    private let known = Mutex<[CacheKey: String]>([:])

    init(secret: [UInt8]) { code = HMAC(key: secret) }

    func hash(_ text: String) -> String {
        // Compared byte by byte: texts that Unicode takes for the same have different hashes.
        let key = CacheKey(text)
        if let hash = known.withLock({ $0[key] }) { return hash }
        var code = code
        code.update(text.utf8)
        let hash = Hexadecimal.text(code.finalized())
        known.withLock { known in
            if known.count >= 64 { known.removeAll() }
            known[key] = hash
        }
        return hash
    }
}
