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
    /// A body, which may be cut off, with the values of secret fields masked and every other byte as it was: JSON, forms,
    /// XML, HTML, and multipart bodies with their parts. A body without a type is taken for what it looks like. Other types
    /// have no names for secrets and are shown. Left out is a body that is not of its declared type, is in a content
    /// coding, or looks like JSON and isn't: its secrets are unknown.
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
        if isJSON {
            return json(bytes).map { .shown($0) } ?? .omitted(reason: "it is not the JSON that its type promises")
        }
        if essence == "application/x-www-form-urlencoded" {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                return .omitted(reason: "it is not the form that its type promises")
            }
            return .shown(Data(form(text).utf8))
        }
        let isXML = essence == "application/xml" || essence == "text/xml" || essence.hasSuffix("+xml")
        if isXML || essence == "text/html" {
            return xml(bytes) ?? .omitted(reason: "its secrets cannot be masked within its charset")
        }
        return undeclared(bytes, isUnknown: essence.isEmpty)
    }

    /// A body of another type, or of none, by its look.
    private mutating func undeclared(_ bytes: Data, isUnknown: Bool) -> RedactedBody {
        let isMarked = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        switch bytes.dropFirst(isMarked ? 3 : 0).first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            // Several values, and words that JSON doesn't know, hide no name.
            if let masked = json(bytes, isStrict: false) { return .shown(masked) }
            guard bytes.contains(UInt8(ascii: "\"")) else { return .shown(bytes) }
            return .omitted(reason: "it looks like JSON and isn't, so its secrets are unknown")
        case UInt8(ascii: "<"): return xml(bytes) ?? .shown(bytes)
        default: return isUnknown && Self.looksLikeForm(bytes) ? undeclaredForm(bytes) : .shown(bytes)
        }
    }

    /// Whether the bytes begin with a name and `=`.
    private static func looksLikeForm(_ bytes: Data) -> Bool {
        let name = bytes.prefix { ASCII.isUnreserved($0) || "%+[]".utf8.contains($0) }
        return !name.isEmpty && name.endIndex < bytes.endIndex && bytes[name.endIndex] == UInt8(ascii: "=")
    }

    private mutating func undeclaredForm(_ bytes: Data) -> RedactedBody {
        if let text = String(validating: bytes, as: UTF8.self) { return .shown(Data(form(text).utf8)) }
        // In another charset: nothing is masked in it, so it is shown only if nothing has to be.
        let text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        guard form(text) == text else { return .omitted(reason: "its secrets cannot be masked within its charset") }
        return .shown(bytes)
    }

    private mutating func xml(_ bytes: Data) -> RedactedBody? {
        let masked = XMLMasker.masked(Array(bytes)) { redaction.isSecret($0) }
        guard let masked else { return nil }
        for secret in masked.secrets { remember(secret) }
        return .shown(Data(masked.bytes))
    }
}
