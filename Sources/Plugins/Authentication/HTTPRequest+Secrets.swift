public import Errand
import ErrandEssentials
import ErrandMessageSyntax

extension HTTPRequest {
    /// Returns whether a secret appears in the URL, a header field, or a body in memory of up to 64 KiB.
    ///
    /// Finds the whole secret, not part of a longer word, as it is, percent-encoded, or with JSON's escaped slashes.
    ///
    /// ```swift
    /// func isRenewed(by request: HTTPRequest) -> Bool { request.carries(refresh) }
    /// ```
    public func carries(_ secret: String) -> Bool {
        let secret = Array(secret.utf8)
        if secret.isEmpty { return false }
        if Self.contains(secret, in: Array(urlText.utf8)) { return true }
        if headers.contains(where: { Self.contains(secret, in: Array($0.value.utf8)) }) { return true }
        guard let data = body.data, data.count <= 65_536 else { return false }
        return Self.contains(secret, in: Array(data))
    }

    private static func contains(_ secret: [UInt8], in text: [UInt8]) -> Bool {
        if text.count < secret.count { return false }
        if occurs(secret, in: text) { return true }
        if text.contains(UInt8(ascii: "%")) {
            let plain = PercentEncoding.decodeLeniently(String(decoding: text, as: UTF8.self))
            if occurs(secret, in: Array(plain.utf8)) { return true }
        }
        guard text.contains(UInt8(ascii: "\\")) else { return false }
        return occurs(secret, in: text.filter { $0 != UInt8(ascii: "\\") })
    }

    private static func occurs(_ secret: [UInt8], in text: [UInt8]) -> Bool {
        var start = text.startIndex
        while let match = text[start...].firstRange(of: secret) {
            let before = match.lowerBound == 0 ? nil : text[match.lowerBound - 1]
            let after = match.upperBound == text.count ? nil : text[match.upperBound]
            if !isOfWord(before), !isOfWord(after) { return true }
            start = match.lowerBound + 1
        }
        return false
    }

    /// Returns whether a byte can be part of a token. Excludes delimiters such as `=` and `/`, although tokens can
    /// contain them.
    private static func isOfWord(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return ASCII.isUnreserved(byte) || byte == UInt8(ascii: "+") || byte >= 0x80
    }
}
