import ErrandMessageSyntax

/// A `name=value` pair of a query or form (WHATWG URL, section 5), both as written and decoded.
///
/// ```swift
/// QueryItem.split("q=swift+lang&page=2").first { $0.name == "q" }?.value       // "swift lang"
/// ```
public struct QueryItem: Sendable, Hashable {
    /// The name as written, percent-encoded.
    public var encodedName: Substring
    /// The value as written, percent-encoded; `nil` if the item has no `=`.
    public var encodedValue: Substring?

    /// Creates an item from text that is already percent-encoded.
    public init(encodedName: Substring, encodedValue: Substring?) {
        self.encodedName = encodedName
        self.encodedValue = encodedValue
    }

    /// The decoded name, with `+` as a space. Text that can't be decoded is left as it is.
    public var name: String { PercentEncoding.decodeLeniently(encodedName, plusIsSpace: true) }

    /// The decoded value, with `+` as a space, or `nil` if the item has no `=`. Text that can't be decoded is left as
    /// it is.
    public var value: String? { encodedValue.map { PercentEncoding.decodeLeniently($0, plusIsSpace: true) } }

    /// Splits a form, or a query without its `?`, into its items in order. Returns an empty array for empty text.
    ///
    /// - Parameters:
    ///   - query: The query or form.
    ///   - keepingEmpty: Whether to return empty items between two `&`, too. Joining the descriptions with `&` then
    ///     restores the text. Defaults to false.
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
    /// The item as written: `name=value`, or only the name.
    public var description: String { encodedValue.map { "\(encodedName)=\($0)" } ?? String(encodedName) }
}
