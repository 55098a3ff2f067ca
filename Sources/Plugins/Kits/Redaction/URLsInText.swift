import ErrandMessageSyntax
import ErrandSupport

/// Masks credentials and secret items of queries and fragments in URLs. The URLs can have any scheme or be relative, as
/// in `GET /items?token=… failed`.
enum URLsInText {
    /// Returns `nil` if the text contains no secret. `found` receives the secrets as they appear in the text.
    static func masked(
        _ text: String, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> String? {
        guard text.withSpan({ mayHoldSecret($0) }) else { return nil }
        let bytes = Array(text.utf8)
        // A text that starts with a URL is a single URL, because URLs can contain spaces if they aren't
        // percent-encoded.
        let isURL = startsWithURL(text)
        var result: [UInt8] = []
        var (done, start) = (0, 0)
        for index in 0...bytes.count where index == bytes.count || !isURL && endsWord(bytes[index]) {
            if let masked = maskedWord(bytes[start..<index], where: isSecret, found: found) {
                result += bytes[done..<start]
                result += masked
                done = index
            }
            start = index + 1
        }
        return done == 0 ? nil : String(decoding: result + bytes[done...], as: UTF8.self)
    }

    private static func mayHoldSecret(_ text: Span<UInt8>) -> Bool {
        func holds(_ byte: UInt8) -> Bool { text.firstIndex(of: byte, from: 0) != nil }
        let hasSlash = holds(UInt8(ascii: "/"))
        guard hasSlash || holds(UInt8(ascii: "?")) || holds(UInt8(ascii: "#")) else { return false }
        return holds(UInt8(ascii: "=")) || holds(UInt8(ascii: "@")) || hasSlash && holdsWebhook(text)
    }

    private static func holdsWebhook(_ text: Span<UInt8>) -> Bool {
        var start = 0
        while let host = URLSyntax.hostStart(in: text, from: start) {
            if URLSyntax.webhookSecret(in: text, host: host) != nil { return true }
            start = host
        }
        return false
    }

    private static func startsWithURL(_ text: String) -> Bool {
        let start = text.utf8.prefix { $0 != UInt8(ascii: "/") }
        return ["http:", "https:"].contains(String(Substring(start)).lowercased())
    }

    private static func endsWord(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">")
            || byte == UInt8(ascii: "`")
    }

    /// Whether a byte can surround a URL in a sentence.
    private static func isAround(_ byte: UInt8) -> Bool { "'()[]{}.,;:!".utf8.contains(byte) }

    private static func maskedWord(
        _ word: ArraySlice<UInt8>, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> [UInt8]? {
        guard mayHoldSecret(word.span) else { return nil }
        var url = word.drop(while: isAround)
        while let last = url.last, isAround(last) { url = url.dropLast() }
        var count = 0
        func find(_ secret: Substring) {
            count += 1
            found(secret)
        }
        let head = URLSyntax.fragmentMark(in: url.span).map { url.prefix($0) } ?? url
        var masked = URLSyntax.redacted(String(decoding: head, as: UTF8.self), where: isSecret, found: find)
        if head.endIndex < url.endIndex {
            let fragment = String(decoding: url[(head.endIndex + 1)...], as: UTF8.self)
            masked += "#" + URLSyntax.redactedItems(fragment[...], where: isSecret, found: find)
        }
        if count == 0 { return nil }
        return word[..<url.startIndex] + Array(masked.utf8) + word[url.endIndex...]
    }
}
