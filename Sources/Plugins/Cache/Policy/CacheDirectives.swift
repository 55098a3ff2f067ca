import Errand
import ErrandSupport

/// What `Cache-Control` says (RFC 9111, section 5.2), read as a cautious private cache has to.
///
/// Names in any case; what stands in quotes is a value and no directive; a name with white space before its `=` is none.
/// Of two values the shorter counts; a number that is none counts as 0 where that means less reuse.
struct CacheDirectives: Sendable, Hashable {
    var noStore = false
    var noCache = false
    var mustRevalidate = false
    var mustUnderstand = false
    var isPublic = false
    var isPrivate = false
    var isImmutable = false
    var onlyIfCached = false
    var maxAge: Int64?
    var minFresh: Int64?
    /// `Int64.max` for `max-stale` without a value.
    var maxStale: Int64?
    var staleWhileRevalidate: Int64?
    var staleIfError: Int64?
    /// The fields of `no-cache="a, b"`, in lower case.
    var unstoredFields: [String] = []

    /// Of a response.
    init(_ headers: HTTPHeaders) {
        for field in headers where field.name == "Cache-Control" {
            for item in Self.split(field.value) { take(item.name, item.value) }
        }
    }

    /// Of a request; `Pragma: no-cache` counts where there is no `Cache-Control` (section 5.4).
    init(request headers: HTTPHeaders) {
        self.init(headers)
        if headers.contains("Pragma"), !headers.contains("Cache-Control") {
            noCache = headers.values(of: "Pragma").contains { $0.lowercased().contains("no-cache") }
        }
    }

    private mutating func take(_ name: String, _ value: String?) {
        func number(orElse fallback: Int64?) -> Int64? { value.flatMap(Self.seconds) ?? fallback }
        func shorter(_ old: Int64?, _ new: Int64?) -> Int64? { new.map { min(old ?? .max, $0) } ?? old }
        switch name {
        case "no-store": noStore = true
        case "no-cache":
            if let value {
                unstoredFields += value.split(separator: ",").map { Self.trim($0[...]).lowercased() }
            } else {
                noCache = true
            }
        case "must-revalidate": mustRevalidate = true
        case "must-understand": mustUnderstand = true
        case "public": isPublic = true
        case "private": isPrivate = true
        case "immutable": isImmutable = true
        case "only-if-cached": onlyIfCached = true
        case "max-age": maxAge = shorter(maxAge, number(orElse: 0))
        case "min-fresh": minFresh = max(minFresh ?? 0, number(orElse: 0) ?? 0)
        case "max-stale": maxStale = shorter(maxStale, value == nil ? .max : number(orElse: nil))
        case "stale-while-revalidate": staleWhileRevalidate = shorter(staleWhileRevalidate, number(orElse: 0))
        case "stale-if-error": staleIfError = shorter(staleIfError, number(orElse: 0))
        default: break
        }
    }

    /// Digits only (RFC 9111, section 1.2.2); what is longer than 68 years is 68 years.
    static func seconds(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else {
            return nil
        }
        return min(Int64(text) ?? .max, 1 << 31)
    }

    /// At the commas outside quotes: names in lower case, values without their quotes.
    private static func split(_ text: String) -> [(name: String, value: String?)] {
        HTTPList.items(text).map { item in
            guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (item.lowercased(), nil) }
            let value = item[item.utf8.index(after: equals)...]
            let isInQuotes = value.utf8.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
            return (item[..<equals].lowercased(), String(isInQuotes ? value.dropFirst().dropLast() : value))
        }
    }

    static func trim(_ text: some StringProtocol) -> String { HTTPList.trimmed(text) }
}

/// Lists in header values (RFC 9110, section 5.6.1).
enum HTTPList {
    /// The items between the commas outside quotes, without white space around them; empty ones too.
    static func items(_ text: String) -> [String] {
        var items: [String] = []
        var (isQuoted, isEscaped) = (false, false)
        var start = text.startIndex
        for index in text.utf8.indices {
            switch text.utf8[index] {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isQuoted
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted:
                items.append(trimmed(text[start..<index]))
                start = text.utf8.index(after: index)
            default: break
            }
        }
        return items + [trimmed(text[start...])]
    }

    /// Without spaces and tabs at both ends.
    static func trimmed(_ text: some StringProtocol) -> String {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let bytes = String(text).utf8
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(bytes[first...last]) ?? ""
    }
}
