import ErrandMessageSyntax

/// A `name=value` pair from a query or form (WHATWG URL, section 5). You can read it percent-encoded or decoded.
///
/// ```swift
/// QueryItem.split("q=swift+lang&page=2").first { $0.name == "q" }?.value       // "swift lang"
/// ```
public struct QueryItem: Sendable, Hashable {
    /// The percent-encoded name.
    public var encodedName: Substring
    /// The percent-encoded value, or `nil` if the item has no `=`.
    public var encodedValue: Substring?

    /// Creates an item from text that is already percent-encoded.
    public init(encodedName: Substring, encodedValue: Substring?) {
        self.encodedName = encodedName
        self.encodedValue = encodedValue
    }

    /// The decoded name, with `+` as a space. Invalid percent-encoding stays unchanged.
    public var name: String { PercentEncoding.decodeLeniently(encodedName, plusIsSpace: true) }

    /// The decoded value, with `+` as a space, or `nil` if the item has no `=`. Invalid percent-encoding stays
    /// unchanged.
    public var value: String? { encodedValue.map { PercentEncoding.decodeLeniently($0, plusIsSpace: true) } }

    /// Splits a form or a query into items, in order. Pass a query without its `?`. Returns an empty array for empty
    /// text.
    ///
    /// - Parameter keepingEmpty: Whether to keep empty items, such as between `&&`. If `true`, you can restore the text
    ///   by joining the items' descriptions with `&`. Defaults to `false`.
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
    /// The percent-encoded item: `name=value`, or only the name.
    public var description: String { encodedValue.map { "\(encodedName)=\($0)" } ?? String(encodedName) }
}
