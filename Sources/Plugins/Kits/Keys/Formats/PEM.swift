import ErrandEssentials
import ErrandHTTP
import ErrandMessageSyntax

/// Blocks of base64 between lines with a label (RFC 7468).
enum PEM {
    /// Larger texts aren't searched.
    private static let maximumBytes = 1 << 20
    /// Returns the first key in a text.
    ///
    /// - Parameter read: Creates a key from a label and its bytes. Returns nil if the block is something else, such as a
    ///   certificate.
    static func find<Key>(
        in text: String, _ name: String, _ read: (_ label: String, _ der: [UInt8]) throws(KeyError) -> Key?
    ) throws(KeyError) -> Key {
        guard text.utf8.count <= maximumBytes else { throw .malformed("the text is too long for a \(name)") }
        var lines = text.split(whereSeparator: \.isNewline).map { ASCII.trimmed(Substring($0)) }[...]
        while let line = lines.popFirst() {
            guard let label = label(line, "-----BEGIN ") else { continue }
            let body = lines.prefix { !$0.hasPrefix("-----") }
            lines = lines.dropFirst(body.count)
            guard let end = lines.popFirst(), self.label(end, "-----END ") == label else {
                throw .malformed("a block doesn't end with the label it begins with")
            }
            if label.hasPrefix("ENCRYPTED") || body.contains(where: { $0.hasPrefix("Proc-Type:") }) {
                throw KeyError(.unsupportedKey, "the key is encrypted; decrypt it first")
            }
            guard let data = Data(base64Encoded: body.joined()) else {
                throw .malformed("the \(name) isn't valid base64")
            }
            if let key = try read(label, Array(data)) { return key }
        }
        throw .malformed("the text doesn't contain a \(name) in PEM")
    }

    private static func label(_ line: Substring, _ prefix: String) -> String? {
        guard line.hasPrefix(prefix), line.hasSuffix("-----"), line.utf8.count >= prefix.utf8.count + 5 else {
            return nil
        }
        return String(line.dropFirst(prefix.count).dropLast(5))
    }

    static func text(_ der: [UInt8], label: String) -> String {
        let text = Array(Data(der).base64EncodedString())
        let lines = stride(from: 0, to: text.count, by: 64).map { String(text[$0..<min($0 + 64, text.count)]) }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n") + "\n"
    }
}
