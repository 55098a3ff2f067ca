import Errand
import ErrandMessageSyntax

/// The directives of `Cache-Control` (RFC 9111, section 5.2), interpreted conservatively for a private cache.
///
/// Names are case-insensitive; quoted text is a value, never a directive; a name followed by white space is unknown. Of
/// two values the shorter lifetime applies; a malformed number counts as 0 where that means less reuse.
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
    /// The field names of `no-cache="a, b"`, in lower case.
    var unstoredFields: [String] = []

    /// The directives of a response.
    init(_ headers: HTTPHeaders) {
        guard headers.contains(.cacheControl) else { return }
        for field in headers where field.name == .cacheControl {
            DirectiveBytes.forEach(in: field.value) { apply($0) }
        }
    }

    /// The directives of a request; `Pragma: no-cache` applies where `Cache-Control` is absent (section 5.4).
    init(request headers: HTTPHeaders) {
        self.init(headers)
        if headers.contains(.pragma), !headers.contains(.cacheControl) {
            noCache = headers.values(of: .pragma).contains { $0.lowercased().contains("no-cache") }
        }
    }

    private mutating func apply(_ directive: DirectiveBytes) {
        func number(orElse fallback: Int64?) -> Int64? { directive.value.flatMap(Self.seconds) ?? fallback }
        func shorter(_ old: Int64?, _ new: Int64?) -> Int64? { new.map { min(old ?? .max, $0) } ?? old }
        switch directive.name {
        case "no-store": noStore = true
        case "no-cache":
            if let value = directive.value {
                unstoredFields += FieldList.items(value).map { $0.lowercased() }
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
        case "max-stale": maxStale = shorter(maxStale, directive.hasValue ? number(orElse: nil) : .max)
        case "stale-while-revalidate": staleWhileRevalidate = shorter(staleWhileRevalidate, number(orElse: 0))
        case "stale-if-error": staleIfError = shorter(staleIfError, number(orElse: 0))
        default: break
        }
    }

    /// A number of seconds without a sign (RFC 9111, section 1.2.2), at most 68 years.
    static func seconds(_ text: String) -> Int64? {
        if let seconds = ASCII.digits(text) { return min(seconds, 1 << 31) }
        // A number beyond 64 bits is valid, and capped as the section requires.
        return text.isEmpty || !text.utf8.allSatisfy(ASCII.isDigit) ? nil : 1 << 31
    }
}

/// One directive of `Cache-Control`, as bytes of the field value: text is made of the few values that a rule needs.
struct DirectiveBytes {
    /// The bytes before the first `=`, or all.
    struct Name {
        fileprivate let bytes: ArraySlice<UInt8>

        /// Whether the name is this word, which is in lower case.
        static func ~= (word: String, name: Name) -> Bool {
            name.bytes.count == word.utf8.count
                && name.bytes.elementsEqual(word.utf8) { ASCII.lowercase($0) == $1 }
        }
    }

    let name: Name
    private let valueBytes: ArraySlice<UInt8>?

    private init(_ item: ArraySlice<UInt8>) {
        let equals = item.firstIndex(of: UInt8(ascii: "="))
        name = Name(bytes: item[..<(equals ?? item.endIndex)])
        valueBytes = equals.map { item[($0 + 1)...] }
    }

    var hasValue: Bool { valueBytes != nil }

    /// The value without its quotes.
    var value: String? {
        guard let valueBytes else { return nil }
        let text = String(decoding: valueBytes, as: UTF8.self)
        return QuotedString.content(text) ?? text
    }

    /// Calls the body with each directive: what stands between commas outside of quoted strings, without white space at
    /// its ends, unless it is empty (RFC 9110, section 5.6.1).
    static func forEach(in field: String, _ body: (DirectiveBytes) -> Void) {
        let bytes = Array(field.utf8)
        var (start, isQuoted, isEscaped) = (0, false, false)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isQuoted
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted:
                give(bytes[start..<index], to: body)
                start = index + 1
            default: break
            }
        }
        give(bytes[start...], to: body)
    }

    private static func give(_ item: ArraySlice<UInt8>, to body: (DirectiveBytes) -> Void) {
        guard let first = item.firstIndex(where: { !ASCII.isBlank($0) }),
            let last = item.lastIndex(where: { !ASCII.isBlank($0) })
        else { return }
        body(DirectiveBytes(item[first...last]))
    }
}
