import ErrandEssentials
import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport

/// Masks private keys in PEM, also in Base64, or of PGP, JSON Web Tokens, and tokens whose beginning tells the service.
///
/// The lines that begin and end a private key aren't masked. The text may be truncated, so a key without an end line is
/// masked up to the end of the text.
enum ShapedSecrets {
    static func mayOccur(in text: Span<UInt8>) -> Bool { next(in: text, from: 0) != nil }

    static func masked(_ text: String, found: (Substring) -> Void) -> String? {
        text.withSpan { bytes in
            var result: [UInt8] = []
            var end = 0
            while let secret = next(in: bytes, from: end) {
                result.append(contentsOf: bytes.extracting(end..<secret.lowerBound))
                result += Redaction.mask.utf8
                found(Substring(String(decoding: bytes.extracting(secret))))
                end = secret.upperBound
            }
            if end == 0 { return nil }
            result.append(contentsOf: bytes.extracting(end...))
            return String(decoding: result, as: UTF8.self)
        }
    }

    private static func next(in text: Span<UInt8>, from start: Int) -> Range<Int>? {
        var index = start
        var isInWord = start > 0 && isOfToken(text[start - 1])
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "-"), let key = privateKey(at: index, in: text) { return key }
            let isOfWord = isOfToken(byte)
            if isOfWord, !isInWord, let end = endOfWord(at: index, in: text) { return index..<end }
            isInWord = isOfWord
            index += 1
        }
        return nil
    }

    /// Returns the end of a secret at the start of a word.
    private static func endOfWord(at start: Int, in text: Span<UInt8>) -> Int? {
        switch text[start] {
        case UInt8(ascii: "e"): endOfWebToken(at: start, in: text)
        case UInt8(ascii: "L"): endOfEncodedKey(at: start, in: text)
        default: URLSyntax.endOfKnownToken(in: text, from: start)
        }
    }

    /// Returns the end of a private key in PEM that is in Base64.
    private static func endOfEncodedKey(at start: Int, in text: Span<UInt8>) -> Int? {
        guard text.contains(encodedBegin, at: start) else { return nil }
        let head = text.extracting(start...).extracting(first: longestHead)
        let length = head.firstIndex { !isOfBase64($0) } ?? head.count
        let encoded = String(decoding: head.extracting(..<(length / 4 * 4)))
        guard let pem = Data(base64Encoded: encoded), pem.firstRange(of: privateKeyLabel) != nil else { return nil }
        return text.firstIndex(from: start) { !isOfBase64($0) } ?? text.count
    }

    private static func isOfBase64(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
            || byte == UInt8(ascii: "=")
    }

    private static let (begin, finish, dashes) = (
        Array("-----BEGIN ".utf8), Array("-----END ".utf8), Array("-----".utf8)
    )
    private static let (encodedBegin, privateKeyLabel) = (Array("LS0tLS1CRUdJTi".utf8), Array("PRIVATE KEY".utf8))
    private static let longestLabel = 64
    private static let longestHead = 80

    /// Returns the range between the lines around a private key.
    private static func privateKey(at start: Int, in text: Span<UInt8>) -> Range<Int>? {
        guard text.contains(begin, at: start) else { return nil }
        let label = start + begin.count
        let head = text.extracting(..<min(label + longestLabel + dashes.count, text.count))
        guard let close = head.firstIndex(of: dashes, from: label) else { return nil }
        let name = String(decoding: text.extracting(label..<close))
        guard name.hasSuffix("PRIVATE KEY") || name.hasSuffix("PRIVATE KEY BLOCK") else { return nil }
        let content = (close + dashes.count)..<(text.firstIndex(of: finish, from: close + dashes.count) ?? text.count)
        let isMasked = text.extracting(content).contains(mask) && content.count == mask.count
        return content.isEmpty || isMasked ? nil : content
    }

    private static let mask = Array(Redaction.mask.utf8)

    /// Returns the end of a token in the compact form of JOSE (RFC 7515, section 7.1).
    private static func endOfWebToken(at start: Int, in text: Span<UInt8>) -> Int? {
        guard text.contains(webTokenBegin, at: start) else { return nil }
        let end = text.firstIndex(from: start) { !isOfToken($0) } ?? text.count
        return URLSyntax.isWebToken(text.extracting(start..<end)) ? end : nil
    }

    private static let webTokenBegin = Array("eyJ".utf8)

    private static func isOfToken(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_")
    }
}
