import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax

enum BodyParameters {
    case form(String)
    case json(JSONObjectText)

    /// Returns `nil` if the body is empty or isn't a form or a JSON object. Throws if a form or JSON isn't valid or
    /// isn't in memory, because it can be neither signed nor changed.
    init?(_ http: HTTPRequest, filter: String) throws {
        if http.body.isNone { return nil }
        let type = (http.headers[.contentType] ?? http.body.contentType).flatMap { MediaType.essence(of: $0) }
        let isForm = type == "application/x-www-form-urlencoded"
        let isJSON = type == "application/json" || type?.hasSuffix("+json") == true
        guard isForm || isJSON, !Self.isForeign(http) else { return nil }
        let plain = http.body.uncoded ?? http.body
        guard let data = try plain.data ?? Self.encoded(plain) else {
            throw URLFilterError(
                .invalidBody, filter: filter, "a form or JSON body can be changed only if it's in memory")
        }
        if isForm {
            guard let text = String(validating: data, as: UTF8.self) else {
                throw URLFilterError(.invalidBody, filter: filter, "the form is not UTF-8")
            }
            self = .form(text)
        } else {
            guard JSONObjectText.isObject(data) else { return nil }
            do { self = .json(try JSONObjectText(data)) } catch {
                throw URLFilterError(.invalidBody, filter: filter, "the JSON is not valid at byte \(error.offset)")
            }
        }
    }

    /// A filter can't undo a content coding that the request applied itself.
    static func isForeign(_ http: HTTPRequest) -> Bool {
        http.headers.contains(.contentEncoding) && http.body.uncoded == nil
    }

    /// Doesn't open a body that can be read only once.
    private static func encoded(_ body: RequestBody) throws -> Data? {
        guard body.isReplayable, body.length == nil else { return nil }
        let opened = try body.open()
        defer { opened.cancel() }
        return opened.data
    }

    /// JSON values other than strings are JSON text.
    func parameters(filter: String) throws -> [SigningInput.Parameter] {
        switch self {
        case .form(let text):
            QueryItem.split(text, keepingEmpty: true).map { ($0.name, $0.value) }
        case .json(let object): object.members.map { ($0.name, object.text(of: $0)) }
        }
    }

    func merging(_ new: Parameters, by rule: MergeRule, encoding: ParameterEncoding, filter: String) throws -> Data {
        switch self {
        case .form(let text):
            let query = try QueryText.encode(new, encoding, filter: filter)
            return Data((query.isEmpty ? text : QueryText.merge(query, into: text[...], by: rule)).utf8)
        case .json(let object):
            return try object.merging(new, rule, filter: filter)
        }
    }
}

/// Edits an encoded query or form, item by item.
enum QueryText {
    static func encode(_ parameters: Parameters, _ encoding: ParameterEncoding, filter: String) throws -> String {
        do { return try encoding.encode(parameters) } catch let error as ErrandError {
            throw URLFilterError(.invalidParameters, filter: filter, error.message)
        }
    }

    /// Compares decoded names, and keeps the encoding of existing items.
    static func merge(_ new: String, into old: Substring, by rule: MergeRule) -> String {
        if old.isEmpty { return new }
        // Empty items stay, to leave the existing text unchanged.
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
