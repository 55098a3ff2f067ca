public import Errand
import ErrandHTTPSyntax
import ErrandSupport

extension URLText {
    /// The query's items in order, decoded as servers read them: `+` and `%20` are a space. The value is nil for a name
    /// without `=`.
    public var queryItems: [(name: String, value: String?)] {
        QueryText.items(of: query).map { (QueryText.decode($0.name), $0.value.map(QueryText.decode)) }
    }

    /// The query's text without its question mark.
    var query: Substring {
        let layout = URLLayout(text)
        return layout.hasQuery ? text[offsets: (layout.queryStart + 1)..<layout.end] : ""
    }

    /// Adds items behind those that are there. Throws ``URLFilterError/Code/parameters`` for what cannot be encoded.
    public mutating func append(_ parameters: Parameters, encoding: ParameterEncoding = ParameterEncoding()) throws {
        try merge(parameters, by: .append, encoding: encoding)
    }

    /// Adds items by a rule for names that are there already. Throws ``URLFilterError/Code/parameters`` for what cannot
    /// be encoded.
    public mutating func merge(
        _ parameters: Parameters, by rule: MergeRule, encoding: ParameterEncoding = ParameterEncoding()
    ) throws {
        merge(query: try QueryText.encode(parameters, encoding, filter: filter), by: rule)
    }

    /// The same with text that is encoded.
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

    /// What stands between what is there and a new item.
    private static func separator(_ text: String, _ layout: URLLayout) -> String {
        guard layout.hasQuery else { return "?" }
        if layout.end == layout.queryStart + 1 { return "" }
        let last = text.utf8[text.utf8.index(text.startIndex, offsetBy: layout.end - 1)]
        return last == UInt8(ascii: "&") ? "" : "&"
    }

    /// Removes the items whose decoded name matches. A query of which nothing is left goes with its question mark.
    public mutating func removeQuery(where matches: (_ name: String) -> Bool) {
        change { text in
            let layout = URLLayout(text)
            guard layout.hasQuery else { return }
            let range = (layout.queryStart + 1)..<layout.end
            let items = QueryText.items(of: text[offsets: range])
            let kept = items.filter { !matches(QueryText.decode($0.name)) }
            if kept.count == items.count { return }
            let start = kept.isEmpty ? layout.queryStart : range.lowerBound
            text.replace(offsets: start..<range.upperBound, with: kept.map(\.text).joined(separator: "&"))
        }
    }
}

/// The text of a query or a form, item by item.
enum QueryText {
    struct Item {
        let text: Substring
        let name: Substring
        let value: Substring?
    }

    /// Empty pieces are items too: what is written back is what was there.
    static func items(of query: Substring) -> [Item] {
        if query.isEmpty { return [] }
        return query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { piece in
            let text = Substring(piece)
            guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else {
                return Item(text: text, name: text, value: nil)
            }
            return Item(text: text, name: text[..<equals], value: text[text.utf8.index(after: equals)...])
        }
    }

    static func encode(_ parameters: Parameters, _ encoding: ParameterEncoding, filter: String) throws -> String {
        do { return try encoding.encode(parameters) } catch let error as ErrandError {
            throw URLFilterError(.parameters, filter: filter, error.message)
        }
    }

    /// Names are equal where they are once decoded.
    static func merge(_ new: String, into old: Substring, by rule: MergeRule) -> String {
        if old.isEmpty { return new }
        let (olds, news) = (items(of: old), items(of: new[...]))
        switch rule {
        case .append: return old + (old.hasSuffix("&") ? "" : "&") + new
        case .keep:
            let names = Set(olds.map { decode($0.name) })
            let missing = news.filter { !names.contains(decode($0.name)) }
            return missing.isEmpty ? String(old) : merge(joined(missing), into: old, by: .append)
        case .replace:
            let names = Set(news.map { decode($0.name) })
            var (result, placed) = ([Item](), Set<String>())
            for item in olds {
                let name = decode(item.name)
                if !names.contains(name) {
                    result.append(item)
                } else if placed.insert(name).inserted {
                    result += news.filter { decode($0.name) == name }
                }
            }
            return joined(result + news.filter { !placed.contains(decode($0.name)) })
        }
    }

    private static func joined(_ items: [Item]) -> String { items.map(\.text).joined(separator: "&") }

    /// As servers read it: `+` is a space, `%XX` a byte, the bytes UTF-8. A `%` that starts no escape stands for itself.
    static func decode(_ text: Substring) -> String {
        let bytes = text.utf8
        guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return String(text) }
        var result: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.prefix(2).count == 2, rest.prefix(2).allSatisfy(ASCII.isHexDigit),
                let value = UInt8(Substring(rest.prefix(2)), radix: 16)
            {
                result.append(value)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
