import ErrandMessageSyntax

/// One `name=value` of a query or of a form (WHATWG URL, section 5), as it is written and decoded.
///
/// ```swift
/// QueryItem.split("q=swift+lang&page=2").first { $0.name == "q" }?.value       // "swift lang"
/// ```
public struct QueryItem: Sendable, Hashable {
    /// The name as it is written, percent-encoded.
    public var encodedName: Substring
    /// The value as it is written, percent-encoded; nil where there is no `=`.
    public var encodedValue: Substring?

    /// Makes an item of text that is already percent-encoded.
    public init(encodedName: Substring, encodedValue: Substring?) {
        self.encodedName = encodedName
        self.encodedValue = encodedValue
    }

    /// The decoded name; `+` is a space, and text that cannot be decoded stays as it is.
    public var name: String { PercentEncoding.decodeLeniently(encodedName, plusIsSpace: true) }

    /// The decoded value; `+` is a space, and text that cannot be decoded stays as it is. Nil where there is no `=`.
    public var value: String? { encodedValue.map { PercentEncoding.decodeLeniently($0, plusIsSpace: true) } }

    /// The items of a query without its `?`, or of a form, in order; none for empty text.
    ///
    /// - Parameters:
    ///   - query: the query or the form.
    ///   - keepingEmpty: whether the empty items between two `&` are returned too, so that joining the descriptions
    ///     with `&` restores the text; false by default.
    public static func split(_ query: some StringProtocol, keepingEmpty: Bool = false) -> [QueryItem] {
        if query.isEmpty { return [] }
        let parts = Substring(query).utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: !keepingEmpty)
        return parts.map { item in
            guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else {
                return QueryItem(encodedName: Substring(item), encodedValue: nil)
            }
            return QueryItem(
                encodedName: Substring(item[..<equals]), encodedValue: Substring(item[item.index(after: equals)...]))
        }
    }
}

extension QueryItem: CustomStringConvertible {
    /// The item as it is written.
    public var description: String { encodedValue.map { "\(encodedName)=\($0)" } ?? String(encodedName) }
}
