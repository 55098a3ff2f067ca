public import ErrandEssentials
public import ErrandHTTP
import ErrandMessageSyntax

/// A body that is safe to show. See ``Redactor/body(_:contentType:contentCoding:)``.
public enum RedactedBody: Sendable, Hashable {
    /// The bytes with the secret values replaced.
    case shown(Data)
    /// The body is omitted because its secrets can't be masked. `reason` is a text for people.
    case omitted(reason: String)
}

extension RedactedBody {
    /// Returns whether the bytes begin with a name and `=`, like a form.
    public static func looksLikeForm(_ bytes: some Collection<UInt8>) -> Bool {
        let rest = bytes.drop { ASCII.isUnreserved($0) || "%+[]".utf8.contains($0) }
        return rest.startIndex != bytes.startIndex && rest.first == UInt8(ascii: "=")
    }
}

extension Redactor {
    /// Masks the values of secret fields in a body, and leaves all other bytes unchanged. The body may be truncated.
    ///
    /// The method masks JSON, forms, XML, HTML, and multipart bodies including their parts. If the content type is
    /// unknown, the method guesses it from the bytes. In text of other types, the method masks:
    ///
    /// - secrets in URLs
    /// - values after secret names, as in `token=…`
    /// - credentials such as `Bearer …`
    /// - private keys and JSON Web Tokens
    /// - the secret parts of multipart forms
    ///
    /// Bodies of types other than text don't name their fields, so they are shown unchanged. If secrets can't be found,
    /// the method omits the body: for example, if the body doesn't match its declared type, has a content coding, or
    /// looks like JSON but isn't valid.
    ///
    /// ```swift
    /// var redactor = Redactor()
    /// if case .shown(let bytes) = redactor.body(response.data, contentType: response.headers[.contentType]) {
    ///     handle.write(bytes)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: The body, or its beginning.
    ///   - contentType: The content type with its parameters, or `nil` if it's unknown.
    ///   - contentCoding: The `Content-Encoding` of the bytes.
    public mutating func body(
        _ bytes: Data, contentType: String?, contentCoding: String? = nil
    ) -> RedactedBody {
        if let coding = contentCoding, !CodingNames.areNone(coding), !bytes.isEmpty {
            return .omitted(reason: "its secrets can't be masked in its content coding")
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
                return .omitted(reason: "it isn't multipart, despite its type")
            }
            return .shown(Data(masked))
        }
        let isJSON = essence == "application/json" || essence == "text/json" || essence.hasSuffix("+json")
        if isJSON {
            return (json(bytes) ?? wrappedJSON(bytes)).map { .shown($0) }
                ?? .omitted(reason: "it isn't JSON, despite its type")
        }
        if essence == "application/x-www-form-urlencoded" {
            guard let text = String(validating: bytes, as: UTF8.self) else {
                return .omitted(reason: "it isn't a form, despite its type")
            }
            return .shown(Data(form(text).utf8))
        }
        let isXML = essence == "application/xml" || essence == "text/xml" || essence.hasSuffix("+xml")
        if isXML || essence == "text/html" {
            return xml(bytes) ?? .omitted(reason: "its secrets can't be masked in its charset")
        }
        // Browsers can also send a form as text/plain, with one line for each item.
        return undeclared(
            bytes, isUnknown: essence.isEmpty || essence == "text/plain",
            isText: Self.isText(essence))
    }

    /// Text for people. Program code doesn't count.
    private static func isText(_ essence: String) -> Bool {
        if essence.isEmpty || essence.hasPrefix("message/") { return true }
        if essence.hasPrefix("text/") { return !essence.hasSuffix("script") && essence != "text/css" }
        return textTypes.contains(essence) || essence.hasSuffix("+yaml")
    }

    private static let textTypes: Set<String> = [
        "application/yaml", "application/x-yaml", "application/toml", "application/graphql", "application/jwt",
        "application/x-pem-file",
    ]

    private mutating func undeclared(_ bytes: Data, isUnknown: Bool, isText: Bool) -> RedactedBody {
        let isMarked = bytes.starts(with: [0xEF, 0xBB, 0xBF])
        switch bytes.dropFirst(isMarked ? 3 : 0).first(where: { $0 > 0x20 }) {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            // In types other than text, several values and words that JSON doesn't define are accepted, because they
            // can't hide a name.
            if let masked = json(bytes, isStrict: isText) { return .shown(masked) }
            // Text can also contain pairs between the values.
            if isText, let masked = json(bytes, isStrict: false) { return .shown(withoutSecrets(masked)) }
            guard bytes.contains(UInt8(ascii: "\"")) else { return .shown(isText ? withoutSecrets(bytes) : bytes) }
            return .omitted(reason: "it looks like JSON but isn't, so its secrets are unknown")
        case UInt8(ascii: "<"): return xml(bytes) ?? .shown(bytes)
        default:
            if let masked = wrappedJSON(bytes) { return .shown(masked) }
            if isText, let masked = undeclaredParts(bytes) { return .shown(masked) }
            if isUnknown && RedactedBody.looksLikeForm(bytes) { return undeclaredForm(bytes) }
            return .shown(isText ? withoutSecrets(bytes) : bytes)
        }
    }

    /// Masks JSON after a prefix that keeps other origins from including it, or in a function call. Returns `nil` for
    /// other texts.
    private mutating func wrappedJSON(_ bytes: Data) -> Data? {
        let head = bytes.prefix(Self.longestPrefix)
        guard let start = head.firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }),
            start > bytes.startIndex
        else { return nil }
        var prefix = String(decoding: bytes[..<start].filter { $0 > 0x20 }, as: UTF8.self)
        var end = bytes.endIndex
        if !Self.prefixes.contains(prefix) {
            if prefix.hasPrefix("/**/") { prefix.removeFirst(4) }
            guard prefix.utf8.count > 1, prefix.utf8.last == UInt8(ascii: "("),
                prefix.utf8.dropLast().allSatisfy({ ASCII.isAlphanumeric($0) || "_.$".utf8.contains($0) })
            else { return nil }
            // A truncated call doesn't have an end.
            let last = bytes.lastIndex { $0 > 0x20 && $0 != UInt8(ascii: ";") }
            if let last, bytes[last] == UInt8(ascii: ")") { end = last }
        }
        return json(bytes[start..<end]).map { bytes[..<start] + $0 + bytes[end...] }
    }

    private static let prefixes: Set<String> = [")]}'", ")]}',", "while(1);", "for(;;);"]
    private static let longestPrefix = 128

    /// The text may be cut off within a character.
    private mutating func withoutSecrets(_ bytes: Data) -> Data {
        for rest in 0..<4 {
            guard let text = String(validating: bytes.dropLast(rest), as: UTF8.self) else { continue }
            var found: [String] = []
            let redaction = redaction
            let masked = SecretsInText.masked(text, where: { redaction.isSecret($0) }) { found.append(String($0)) }
            for secret in found { remember(secret) }
            return masked.map { Data($0.utf8) + bytes.suffix(rest) } ?? bytes
        }
        return bytes
    }

    /// A text can contain the parts of a form, such as a recorded request. Returns `nil` without parts.
    private mutating func undeclaredParts(_ bytes: Data) -> Data? {
        guard let boundary = MultipartMasker.boundary(in: Array(bytes)) else { return nil }
        var masker = MultipartMasker(Array(bytes), boundary: boundary)
        return masker.masked(by: &self, depth: 0).map { withoutSecrets(Data($0)) }
    }

    private mutating func undeclaredForm(_ bytes: Data) -> RedactedBody {
        if let text = String(validating: bytes, as: UTF8.self) {
            // The text can also be a log, as in "status=401 token=…", so other secrets are masked too.
            return .shown(withoutSecrets(Data(form(text).utf8)))
        }
        // If the text has another charset, its values can't be masked. The body is then shown only if it doesn't
        // contain a secret.
        let text = String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        guard form(text) == text else { return .omitted(reason: "its secrets can't be masked in its charset") }
        return .shown(bytes)
    }

    private mutating func xml(_ bytes: Data) -> RedactedBody? {
        let masked = XMLMasker.masked(Array(bytes)) { redaction.isSecret($0) }
        guard let masked else { return nil }
        for secret in masked.secrets { remember(secret) }
        return .shown(Data(masked.bytes))
    }
}
