import Errand
import ErrandHTTPSyntax
import ErrandSupport

/// The copy of a body as text for people, secrets masked.
enum LogBody {
    /// Nil for none; JSON indented, forms and text as they are, the rest as its size.
    static func text(
        _ data: Data, _ contentType: String?, _ length: Int64?, _ redaction: LogRedaction, _ secrets: inout LogSecrets
    ) -> String? {
        if data.isEmpty { return nil }
        let type = contentType.flatMap { MediaType.essence(of: $0) } ?? ""
        let whole = max(length ?? 0, Int64(data.count))
        let rest = whole > Int64(data.count) ? "\n… \(whole) bytes in all" : ""
        let size = "(\(type.isEmpty ? "a body" : type), \(whole) bytes)"
        if type == "application/json" || type.hasSuffix("+json") {
            return LogJSON.text(data, redaction, &secrets).map { $0 + rest } ?? size
        }
        if type == "application/x-www-form-urlencoded" {
            return redaction.form(String(decoding: data, as: UTF8.self), &secrets) + rest
        }
        guard type.hasPrefix("text/"), !data.contains(0) else { return size }
        return String(decoding: data, as: UTF8.self) + rest
    }
}
