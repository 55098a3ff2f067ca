import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax

struct PartHead {
    private let part: Multipart.Part
    private let subtype: Multipart.Subtype

    init(_ part: Multipart.Part, in subtype: Multipart.Subtype) { (self.part, self.subtype) = (part, subtype) }

    /// Includes the blank line. Throws if a header can't contain its text.
    func bytes(contentType: String?) throws -> Data {
        var text = ""
        if !part.headers.contains(.contentDisposition), let disposition = try disposition() {
            text += "Content-Disposition: \(disposition)\r\n"
        }
        if let contentType, !part.headers.contains(.contentType) {
            try check("the Content-Type", contentType)
            text += "Content-Type: \(contentType)\r\n"
        }
        for field in part.headers {
            guard field.name.isValid else {
                throw MultipartError.sending(
                    .invalidRequest, own: .invalidPart,
                    "the header name \(field.name.rawName.debugDescription) has a character that header names can't have"
                )
            }
            try check("the header \(field.name.rawName)", field.value)
            text += "\(field.name): \(field.value)\r\n"
        }
        return Data((text + "\r\n").utf8)
    }

    private func disposition() throws -> String? {
        if subtype == .formData {
            guard let name = part.name else {
                throw MultipartError.sending(.invalidRequest, own: .invalidPart, "a form part has no name")
            }
            let (escapedName, file) = (Self.escaped(name), part.fileName.map(Self.escaped))
            try check("the name", escapedName)
            if let file { try check("the file name", file) }
            return "form-data; name=\"\(escapedName)\"" + (file.map { "; filename=\"\($0)\"" } ?? "")
        }
        guard part.name != nil || part.fileName != nil else { return nil }
        var disposition =
            part.fileName.map { ContentDisposition(fileName: $0) } ?? ContentDisposition(parsing: "inline")
        if let name = part.name {
            let isPlain = name.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
            let parameter = FieldParameters.Parameter(
                isPlain ? "name" : "name*", isPlain ? name : ExtendedValue.encode(name), isQuoted: isPlain)
            disposition.parameters.all.insert(parameter, at: 0)
        }
        return disposition.description
    }

    /// Escapes only quotes and line breaks, as in the HTML standard (section "Multipart form data").
    static func escaped(_ name: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": result.append(contentsOf: "%22".unicodeScalars)
            case "\r": result.append(contentsOf: "%0D".unicodeScalars)
            case "\n": result.append(contentsOf: "%0A".unicodeScalars)
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    private func check(_ name: String, _ value: String) throws {
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw MultipartError.sending(
                .invalidRequest, own: .invalidPart, "\(name) of a part contains a control character")
        }
    }
}
