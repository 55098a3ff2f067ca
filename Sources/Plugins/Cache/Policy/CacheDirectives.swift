import Errand
import ErrandMessageSyntax
import ErrandSupport

/// Parses `Cache-Control` (RFC 9111, section 5.2) for a private cache. If a field is ambiguous, chooses the meaning
/// with less reuse:
///
/// - Quoted text is always a value.
/// - A name followed by white space is unknown.
/// - If a directive occurs twice, the shorter lifetime applies.
/// - A malformed number counts as 0 if that means less reuse.
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
    /// The value of `max-stale`, or `Int64.max` for `max-stale` without a value.
    var maxStale: Int64?
    var staleWhileRevalidate: Int64?
    var staleIfError: Int64?
    /// The lowercase field names in a directive such as `no-cache="a, b"`.
    var unstoredFields: [String] = []

    init(_ headers: HTTPHeaders) {
        guard headers.contains(.cacheControl) else { return }
        for field in headers where field.name == .cacheControl {
            DirectiveBytes.forEach(in: field.value) { apply($0) }
        }
    }

    /// Parses a request's directives. Without `Cache-Control`, `Pragma: no-cache` applies (section 5.4).
    init(request headers: HTTPHeaders) {
        let hasField = headers.contains(.cacheControl)
        self.init(hasField ? headers : [:])
        if !hasField, headers.contains(.pragma) {
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

    /// Parses a number of seconds (RFC 9111, section 1.2.2). Numbers above 2^31, or 68 years, count as 2^31.
    static func seconds(_ text: String) -> Int64? {
        if let seconds = ASCII.digits(text) { return min(seconds, 1 << 31) }
        // A number with more than 64 bits is valid.
        return text.isEmpty || !text.utf8.allSatisfy(ASCII.isDigit) ? nil : 1 << 31
    }
}

/// A directive as bytes of the field, which saves creating strings.
struct DirectiveBytes {
    struct Name {
        fileprivate let bytes: ArraySlice<UInt8>

        /// Compares a name with a lowercase word, ignoring case.
        static func ~= (word: String, name: Name) -> Bool {
            if name.bytes.count != word.utf8.count { return false }
            let start = name.bytes.startIndex
            return word.withSpan { word in
                for index in word.indices where ASCII.lowercase(name.bytes[start + index]) != word[index] {
                    return false
                }
                return true
            }
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

    var value: String? {
        guard let valueBytes else { return nil }
        let text = String(decoding: valueBytes, as: UTF8.self)
        return QuotedString.content(text) ?? text
    }

    /// Calls a closure for each directive of a field. Skips empty items and white space around items (RFC 9110, section
    /// 5.6.1).
    ///
    /// An unclosed quotation mark could hide `no-store`, so the text after it is also read as directives. In this text,
    /// more quotation marks don't begin a quoted value.
    static func forEach(in field: String, _ body: (DirectiveBytes) -> Void) {
        let bytes = Array(field.utf8)
        guard let quote = forEach(in: bytes[...], readsQuotes: true, body) else { return }
        _ = forEach(in: bytes[(quote + 1)...], readsQuotes: false, body)
    }

    private static func forEach(
        in bytes: ArraySlice<UInt8>, readsQuotes: Bool, _ body: (DirectiveBytes) -> Void
    ) -> Int? {
        var (start, isQuoted, isEscaped, quote) = (bytes.startIndex, false, false, bytes.startIndex)
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isQuoted
            case UInt8(ascii: "\"") where readsQuotes:
                isQuoted.toggle()
                quote = index
            case UInt8(ascii: ",") where !isQuoted:
                give(bytes[start..<index], to: body)
                start = index + 1
            default: break
            }
        }
        give(bytes[start...], to: body)
        return isQuoted ? quote : nil
    }

    private static func give(_ item: ArraySlice<UInt8>, to body: (DirectiveBytes) -> Void) {
        var (start, end) = (item.startIndex, item.endIndex)
        while start < end, ASCII.isBlank(item[start]) { start += 1 }
        while start < end, ASCII.isBlank(item[end - 1]) { end -= 1 }
        if start < end { body(DirectiveBytes(item[start..<end])) }
    }
}
