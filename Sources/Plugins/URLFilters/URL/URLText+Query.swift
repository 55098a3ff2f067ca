public import Errand
import ErrandHTTPFields

extension URLText {
    /// The items of the query in order, decoded as servers decode them: `+` and `%20` are a space. The value is nil for a
    /// name without `=`.
    public var queryItems: [(name: String, value: String?)] {
        QueryItem.split(query, keepingEmpty: true).map { ($0.name, $0.value) }
    }

    /// The text of the query without its question mark.
    var query: Substring {
        let layout = URLLayout(text)
        return layout.hasQuery ? text[offsets: (layout.queryStart + 1)..<layout.end] : ""
    }

    /// The items of the query, as they are written, that another query has not; nil if there are none.
    func items(besides other: Substring) -> String? {
        let known = Set(other.split(separator: "&"))
        let added = query.split(separator: "&").filter { !known.contains($0) }
        return added.isEmpty ? nil : added.joined(separator: "&")
    }

    /// Removes items, as they are written, each once.
    mutating func removeItems(_ items: [Substring]) {
        change { text in
            let layout = URLLayout(text)
            guard layout.hasQuery else { return }
            var left = text[offsets: (layout.queryStart + 1)..<layout.end]
                .split(separator: "&", omittingEmptySubsequences: false)
            for item in items {
                if let index = left.lastIndex(of: item) { left.remove(at: index) }
            }
            let query = left.isEmpty ? "" : "?" + left.joined(separator: "&")
            text.replace(offsets: layout.queryStart..<layout.end, with: query)
        }
    }

    /// Appends items to the query. Throws ``URLFilterError/Code/invalidParameters`` for items that cannot be encoded.
    public mutating func append(_ parameters: Parameters, encoding: ParameterEncoding = ParameterEncoding()) throws {
        try merge(parameters, by: .append, encoding: encoding)
    }

    /// Adds items to the query, by a rule for names that it has already. Throws ``URLFilterError/Code/invalidParameters`` for
    /// items that cannot be encoded.
    public mutating func merge(
        _ parameters: Parameters, by rule: MergeRule, encoding: ParameterEncoding = ParameterEncoding()
    ) throws {
        merge(query: try QueryText.encode(parameters, encoding, filter: filter), by: rule)
    }

    /// Adds items that are encoded already.
    mutating func merge(query: String, by rule: MergeRule) {
        if query.isEmpty { return }
        change { text in
            let layout = URLLayout(text)
            if rule != .append, layout.hasQuery {
                let range = (layout.queryStart + 1)..<layout.end
                let merged = QueryText.merge(query, into: text[offsets: range], by: rule)
                return text.replace(offsets: range, with: merged)
            }
            if layout.end == text.utf8.count {
                text += Self.separator(text, layout)
                text += query
            } else {
                text.replace(offsets: layout.end..<layout.end, with: Self.separator(text, layout) + query)
            }
        }
    }

    /// The separator between the existing query and a new item.
    private static func separator(_ text: String, _ layout: URLLayout) -> String {
        guard layout.hasQuery else { return "?" }
        if layout.end == layout.queryStart + 1 { return "" }
        let last = text.utf8[text.utf8.index(text.startIndex, offsetBy: layout.end - 1)]
        return last == UInt8(ascii: "&") ? "" : "&"
    }

    /// Removes the items whose decoded name matches. The question mark of a query that becomes empty is removed too.
    public mutating func removeQuery(where matches: (_ name: String) -> Bool) {
        change { text in
            let layout = URLLayout(text)
            guard layout.hasQuery else { return }
            let range = (layout.queryStart + 1)..<layout.end
            let items = QueryItem.split(text[offsets: range], keepingEmpty: true)
            let kept = items.filter { !matches($0.name) }
            if kept.count == items.count { return }
            let start = kept.isEmpty ? layout.queryStart : range.lowerBound
            text.replace(offsets: start..<range.upperBound, with: kept.map(\.description).joined(separator: "&"))
        }
    }
}
