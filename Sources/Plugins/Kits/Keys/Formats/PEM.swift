import ErrandEssentials
import ErrandHTTP
import ErrandMessageSyntax

/// Labeled blocks of base64 (RFC 7468).
enum PEM {
    private static let maximumBytes = 1 << 20
    private static let (begin, end, dashes) = ("-----BEGIN ", "-----END ", "-----")

    /// Line ends may be written as `\n`, replaced by spaces, or missing.
    ///
    /// - Parameter read: Returns `nil` for blocks other than keys, such as certificates.
    static func find<Key>(
        in text: String, _ name: String, _ read: (_ label: String, _ der: [UInt8]) throws(KeyError) -> Key?
    ) throws(KeyError) -> Key {
        guard text.utf8.count <= maximumBytes else { throw .malformed("the text is too long for a \(name)") }
        // Environment variables often can't contain line ends. Some programs therefore write `
        // ` in place of a line end, and some shells replace line ends with spaces.
        let text = text.replacing("\\r", with: "\n").replacing("\\n", with: "\n")
        var rest = text[...]
        var other: String?
        while let label = take(begin, from: &rest) {
            guard let mark = rest.firstRange(of: dashes) else { throw mismatch }
            let body = rest[..<mark.lowerBound]
            rest = rest[mark.lowerBound...]
            guard rest.hasPrefix(end), take(end, from: &rest) == label else { throw mismatch }
            if label.hasPrefix("ENCRYPTED") || body.contains("Proc-Type:") {
                throw KeyError(.unsupportedKey, "the key is encrypted; decrypt it first")
            }
            let base64 = String(decoding: body.utf8.filter { $0 > 0x20 }, as: UTF8.self)
            guard let data = Data(base64Encoded: base64) else { throw .malformed("the \(name) isn't valid base64") }
            if let key = try read(label, Array(data)) { return key }
            if label.hasSuffix(name.uppercased()) { other = label }
        }
        if let other {
            let advice = other.hasPrefix("OPENSSH") ? "; convert it, for example with ssh-keygen -p -m PKCS8" : ""
            throw KeyError(.unsupportedKey, "the format \(other) isn't supported\(advice)")
        }
        throw .malformed("the text doesn't contain a \(name) in PEM")
    }

    private static var mismatch: KeyError { .malformed("a PEM block's END label differs from its BEGIN label") }

    private static func take(_ prefix: String, from text: inout Substring) -> String? {
        while let start = text.firstRange(of: prefix) {
            text = text[start.upperBound...]
            guard let label = text.firstRange(of: dashes), !text[..<label.lowerBound].contains(where: \.isNewline)
            else { continue }
            defer { text = text[label.upperBound...] }
            return String(text[..<label.lowerBound])
        }
        return nil
    }

    static func text(_ der: [UInt8], label: String) -> String {
        let text = Array(Data(der).base64EncodedString())
        let lines = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n") + "\n"
    }
}
