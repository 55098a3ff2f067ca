import Errand
import ErrandHTTPSyntax
import ErrandSupport

/// The copy of a body as an archive has it: the bytes as they came, in which nothing but secrets is replaced.
struct HARBody {
    /// The text, or the bytes in Base64.
    let text: String
    let isText: Bool
    /// What is not as it came.
    let comment: String?

    /// Nil for a body that is empty or was not copied.
    init?(
        _ data: Data, _ contentType: String?, _ length: Int64?, _ redaction: LogRedaction, _ secrets: inout LogSecrets
    ) {
        if data.isEmpty { return nil }
        let isCut = (length ?? 0) > Int64(data.count)
        let cut = isCut ? "the first \(data.count) of \(length ?? 0) bytes" : nil
        let type = contentType.flatMap { MediaType.essence(of: $0) } ?? ""
        guard let text = Self.utf8(data, isCut: isCut) else {
            (self.text, isText, comment) = (secrets.masked(data).base64EncodedString(), false, cut)
            return
        }
        isText = true
        let isJSON = type == "application/json" || type.hasSuffix("+json")
        let looksLikeJSON =
            text.utf8.first { $0 > 0x20 }.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } ?? false
        if isJSON || looksLikeJSON, let masked = LogJSON.masked(text.utf8, redaction, &secrets) {
            (self.text, comment) = (secrets.masked(String(decoding: masked, as: UTF8.self)), cut)
        } else if isJSON {
            // Which of its fields are secret is not known.
            (self.text, comment) = ("", "left out: it is not the JSON that its type promises")
        } else if type == "application/x-www-form-urlencoded" {
            (self.text, comment) = (secrets.masked(redaction.form(text, &secrets)), cut)
        } else {
            (self.text, comment) = (secrets.masked(text), cut)
        }
    }

    /// The bytes as text; nil if they are none. A copy that is cut may end within a character, which is left out.
    private static func utf8(_ data: Data, isCut: Bool) -> String? {
        if data.contains(0) { return nil }
        if let text = String(validating: data, as: UTF8.self) { return text }
        guard isCut else { return nil }
        for count in 1...3 where data.count > count {
            if data[data.endIndex - count] & 0xC0 == 0x80 { continue }
            return String(validating: data.dropLast(count), as: UTF8.self)
        }
        return nil
    }
}
