public import ErrandEssentials
public import ErrandHTTP
import ErrandMessageSyntax

/// A body for people to read; see ``Redactor/body(_:contentType:contentCoding:)``.
public enum RedactedBody: Sendable, Hashable {
    /// The bytes, with only the values of secrets replaced.
    case shown(Data)
    /// The bytes are left out because their secrets cannot be masked; with the reason, in words.
    case omitted(reason: String)
}

extension Redactor {
    /// A body, which may be cut off, with the values of secret fields masked and every other byte as it was: JSON and
    /// what looks like it, forms, and multipart bodies with their parts. Other types have no names for secrets and are
    /// shown; a body that is not of its declared type, or is in a content coding, is left out.
    ///
    /// ```swift
    /// var redactor = Redactor()
    /// if case .shown(let bytes) = redactor.body(response.data, contentType: response.headers[.contentType]) {
    ///     handle.write(bytes)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: the body, or its beginning.
    ///   - contentType: in any case, with its parameters; nil where it is not known.
    ///   - contentCoding: the `Content-Encoding` of the bytes.
    public mutating func body(
        _ bytes: Data, contentType: String?, contentCoding: String? = nil
    ) -> RedactedBody {
        if let coding = contentCoding, !coding.isEmpty, !ASCII.equalsIgnoringCase(coding, "identity"), !bytes.isEmpty {
            return .omitted(reason: "its secrets cannot be masked within its content coding")
        }
        return body(bytes, contentType, depth: 0)
    }

    mutating func body(_ bytes: Data, _ contentType: String?, depth: Int) -> RedactedBody {
        if bytes.isEmpty { return .shown(bytes) }
        let essence = contentType.flatMap { MediaType.essence(of: $0) } ?? ""
        if essence.hasPrefix("multipart/") {
            let boundary = contentType.flatMap { MediaType(parsing: $0) }?.parameters["boundary"] ?? ""
            var masker = MultipartMasker(Array(bytes), boundary: boundary)
            guard depth < 8, let masked = masker.masked(by: &self, depth: depth) else {
                return .omitted(reason: "it is not the multipart body that its type promises")
            }
            return .shown(Data(masked))
        }
        let isJSON = essence == "application/json" || essence == "text/json" || essence.hasSuffix("+json")
        let first = bytes.first { $0 > 0x20 }
        if isJSON || first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            if let masked = json(bytes) { return .shown(masked) }
            if isJSON { return .omitted(reason: "it is not the JSON that its type promises") }
        }
        guard essence == "application/x-www-form-urlencoded" else { return .shown(bytes) }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .omitted(reason: "it is not the form that its type promises")
        }
        return .shown(Data(form(text).utf8))
    }
}
