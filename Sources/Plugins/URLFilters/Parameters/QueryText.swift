import Errand
import ErrandHTTPFields

/// Edits the encoded text of a query or a form, item by item.
enum QueryText {
    static func encode(_ parameters: Parameters, _ encoding: ParameterEncoding, filter: String) throws -> String {
        do { return try encoding.encode(parameters) } catch let error as ErrandError {
            throw URLFilterError(.invalidParameters, filter: filter, error.message)
        }
    }

    /// Merges encoded items into others. Names are compared decoded; the items that stay keep their encoding.
    static func merge(_ new: String, into old: Substring, by rule: MergeRule) -> String {
        if old.isEmpty { return new }
        // Empty items are kept, so that the existing text does not change.
        let olds = QueryItem.split(old, keepingEmpty: true)
        let news = QueryItem.split(new, keepingEmpty: true)
        switch rule {
        case .append: return old + (old.hasSuffix("&") ? "" : "&") + new
        case .keep:
            let names = Set(olds.map(\.name))
            let missing = news.filter { !names.contains($0.name) }
            return missing.isEmpty ? String(old) : merge(joined(missing), into: old, by: .append)
        case .replace:
            let names = Set(news.map(\.name))
            var (result, placed) = ([QueryItem](), Set<String>())
            for item in olds {
                let name = item.name
                if !names.contains(name) {
                    result.append(item)
                } else if placed.insert(name).inserted {
                    result += news.filter { $0.name == name }
                }
            }
            return joined(result + news.filter { !placed.contains($0.name) })
        }
    }

    private static func joined(_ items: [QueryItem]) -> String { items.map(\.description).joined(separator: "&") }
}
