import ErrandEssentials
import ErrandHTTP
import ErrandMessageSyntax

/// Masks private keys in PEM, also in Base64, or of PGP, JSON Web Tokens, and tokens whose beginning tells the service.
///
/// The lines that begin and end a private key aren't masked. The text may be truncated, so a key without an end line is
/// masked up to the end of the text.
enum ShapedSecrets {
    /// `false` for almost all texts without such a secret.
    static func mayOccur(in text: some Collection<UInt8>) -> Bool {
        var last: UInt32 = 0
        for byte in text {
            last = last << 8 | UInt32(byte)
            // "eyJ", "---", and "LS0t", which is "---" in Base64.
            if last & 0xFF_FFFF == 0x65_794A || last & 0xFF_FFFF == 0x2D_2D2D || last == 0x4C53_3074 { return true }
            if URLSyntax.mayEndTokenPrefix(last) { return true }
        }
        return false
    }

    static func masked(_ text: String, found: (Substring) -> Void) -> String? {
        guard mayOccur(in: text.utf8) else { return nil }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var (end, index) = (0, 0)
        while index < bytes.count {
            guard let secret = secret(at: index, in: bytes) else {
                index += 1
                continue
            }
            result += bytes[end..<secret.lowerBound]
            result += Redaction.mask.utf8
            found(Substring(String(decoding: bytes[secret], as: UTF8.self)))
            (end, index) = (secret.upperBound, secret.upperBound)
        }
        return end == 0 ? nil : String(decoding: result + bytes[end...], as: UTF8.self)
    }

    private static func secret(at start: Int, in bytes: [UInt8]) -> Range<Int>? {
        if bytes[start] == begin[0] { return privateKey(at: start, in: bytes) }
        guard start == 0 || !isOfToken(bytes[start - 1]), ASCII.isLetter(bytes[start]) else { return nil }
        return token(at: start, in: bytes) ?? encodedKey(at: start, in: bytes)
            ?? URLSyntax.lengthOfKnownToken(bytes[start...]).map { start..<(start + $0) }
    }

    /// Returns a text in Base64 that is a private key in PEM.
    private static func encodedKey(at start: Int, in bytes: [UInt8]) -> Range<Int>? {
        guard bytes[start...].starts(with: "LS0tLS1CRUdJTi".utf8) else { return nil }
        let end = bytes[start...].firstIndex { !ASCII.isAlphanumeric($0) && !"+/=".utf8.contains($0) } ?? bytes.count
        let head = bytes[start..<end].prefix(80)
        let text = String(decoding: head.prefix(head.count / 4 * 4), as: UTF8.self)
        guard let pem = Data(base64Encoded: text), pem.firstRange(of: "PRIVATE KEY".utf8) != nil else { return nil }
        return start..<end
    }

    private static let (begin, finish, dashes) = (
        Array("-----BEGIN ".utf8), Array("-----END ".utf8), Array("-----".utf8)
    )
    private static let longestLabel = 64

    /// Returns the range between the lines around a private key.
    private static func privateKey(at start: Int, in bytes: [UInt8]) -> Range<Int>? {
        guard bytes[start...].starts(with: begin) else { return nil }
        let label = start + begin.count
        let rest = bytes[label...].prefix(longestLabel + dashes.count)
        guard let close = rest.firstRange(of: dashes) else { return nil }
        let name = String(decoding: bytes[label..<close.lowerBound], as: UTF8.self)
        guard name.hasSuffix("PRIVATE KEY") || name.hasSuffix("PRIVATE KEY BLOCK") else { return nil }
        let end = bytes[close.upperBound...].firstRange(of: finish)?.lowerBound ?? bytes.count
        let content = close.upperBound..<end
        return content.isEmpty || bytes[content].elementsEqual(Redaction.mask.utf8) ? nil : content
    }

    /// The compact form of JOSE (RFC 7515, section 7.1).
    private static func token(at start: Int, in bytes: [UInt8]) -> Range<Int>? {
        guard bytes[start...].starts(with: "eyJ".utf8) else { return nil }
        let end = bytes[start...].firstIndex { !isOfToken($0) } ?? bytes.count
        return URLSyntax.isWebToken(bytes[start..<end].span) ? start..<end : nil
    }

    private static func isOfToken(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: "_")
    }
}
