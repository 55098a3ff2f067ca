import Errand
import ErrandHTTPSyntax
import ErrandSupport

import ErrandEssentials

/// Makes the canonical texts of keys. A line is a word and a value; line breaks and `%` within values are escaped, so no
/// value can pass for another line.
enum KeyText {
    /// Makes keyed hashes of what must not be stored in the clear.
    struct Hasher: Sendable {
        let secret: [UInt8]

        func hash(_ text: String) -> String { Hexadecimal.text(HMAC<SHA256Digest>.code(for: text.utf8, key: secret)) }
    }

    /// The key of a timed entry; nil if the body is not in memory, and so cannot be compared.
    static func timed(
        _ request: HTTPRequest, url keyURL: URL, rule: CacheKeyRule, hasPartition: Bool, _ hasher: Hasher
    ) -> CacheKey? {
        var text = "timed"
        if let name = rule.name {
            add("name", name, to: &text)
            for addition in rule.additions { add("and", addition, to: &text) }
            return CacheKey(text)
        }
        var url = Self.url(keyURL)
        if !rule.dropped.isEmpty { url = dropping(rule.dropped, from: url) }
        add(request.method.rawValue, url, to: &text)
        for name in rule.headers {
            guard let value = request.headers[name] else { continue }
            let isSensitive = request.headers.contains { $0.name == name && $0.isSensitive }
            add(name.rawName.lowercased(), isSensitive ? hasher.hash(value) : value, to: &text)
        }
        if !hasPartition, let value = request.headers[.authorization] {
            add("authorization", hasher.hash(value), to: &text)
        }
        if !rule.ignoresBody, !request.body.isNone {
            guard let data = request.body.data else { return nil }
            let type = request.headers[.contentType] ?? request.body.contentType ?? ""
            let isForm = type.lowercased().hasPrefix("application/x-www-form-urlencoded")
            let body = isForm && !rule.dropped.isEmpty ? dropping(rule.dropped, form: data) : data
            add("type", type, to: &text)
            add("body", Hexadecimal.text(SHA256Digest.digest(of: body)), to: &text)
        }
        for addition in rule.additions { add("and", addition, to: &text) }
        return CacheKey(text)
    }

    /// The key of what an HTTP cache keeps for a URL.
    static func http(_ url: URL, authorization: String?, partition: String?, _ hasher: Hasher) -> CacheKey {
        var text = "http"
        add("GET", Self.url(url), to: &text)
        if let partition {
            add("partition", hasher.hash(partition), to: &text)
        } else if let authorization {
            add("authorization", hasher.hash(authorization), to: &text)
        }
        return CacheKey(text)
    }

    /// The key of the response that a URL has for requests with these values of the headers that `Vary` names.
    static func variant(of key: CacheKey, names: [String], headers: HTTPHeaders, _ hasher: Hasher) -> CacheKey {
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

    /// Without a fragment, which no server sees.
    static func url(_ url: URL) -> String {
        let text = url.absoluteString
        return text.utf8.firstIndex(of: UInt8(ascii: "#")).map { String(text[..<$0]) } ?? text
    }

    /// One form for every way of writing it.
    static func origin(_ url: URL) -> String {
        let scheme = url.scheme?.lowercased() ?? ""
        return "\(scheme)://\(url.host?.lowercased() ?? ""):\(url.port ?? (scheme == "https" ? 443 : 80))"
    }

    private static func add(_ word: String, _ value: String, to text: inout String) {
        text += "\n"
        text += word
        text += " "
        if value.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "%") }) { return text += value }
        PercentEncoding.encode(value, into: &text) { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }
    }

    private static func dropping(_ names: Set<String>, from url: String) -> String {
        guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "?")) else { return url }
        let query = dropping(names, fromQuery: url[url.utf8.index(after: mark)...])
        return query.isEmpty ? String(url[..<mark]) : url[...mark] + query
    }

    private static func dropping(_ names: Set<String>, form: Data) -> Data {
        Data(dropping(names, fromQuery: String(decoding: form, as: UTF8.self)[...]).utf8)
    }

    private static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let value = UInt8(String(Substring(rest.prefix(2))), radix: 16),
                rest.count > 1
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// `a[]=1` and `a[b]=1` belong to `a`.
    private static func dropping(_ names: Set<String>, fromQuery query: Substring) -> String {
        query.split(separator: "&", omittingEmptySubsequences: false).filter { item in
            let encoded = String(item.prefix { $0 != "=" }.replacing("+", with: " "))
            let name = decoded(encoded)
            return !names.contains(name) && !names.contains(String(name.prefix { $0 != "[" }))
        }.joined(separator: "&")
    }
}
