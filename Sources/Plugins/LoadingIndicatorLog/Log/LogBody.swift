import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandRedaction

/// The copy of a body as text for people, secrets masked.
enum LogBody {
    /// JSON indented, forms and text as they are, the rest as its size; nil for an empty copy.
    static func text(_ data: Data, _ contentType: String?, _ length: Int64?, _ redactor: inout Redactor) -> String? {
        if data.isEmpty { return nil }
        let type = contentType.flatMap { MediaType.essence(of: $0) } ?? ""
        let whole = max(length ?? 0, Int64(data.count))
        let rest = whole > Int64(data.count) ? "\n… \(whole) bytes in all" : ""
        let size = "(\(type.isEmpty ? "a body" : type), \(whole) bytes)"
        guard case .shown(let masked) = redactor.body(data, contentType: contentType) else { return size }
        if type == "application/json" || type.hasSuffix("+json") { return JSONIndenter.text(masked) + rest }
        if type == "application/x-www-form-urlencoded" { return String(decoding: masked, as: UTF8.self) + rest }
        guard type.hasPrefix("text/"), !data.contains(0) else { return size }
        return String(decoding: masked, as: UTF8.self) + rest
    }
}
