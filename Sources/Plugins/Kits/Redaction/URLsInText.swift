import ErrandMessageSyntax

/// Masks credentials and secret items of queries and fragments in URLs. The URLs can have any scheme or be relative, as
/// in `GET /items?token=… failed`.
enum URLsInText {
    /// Returns `nil` if the text contains no secret. `found` receives the secrets as they appear in the text.
    static func masked(
        _ text: String, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> String? {
        guard mayHoldSecret(text.utf8) else { return nil }
        var result = ""
        var isChanged = false
        func add(_ word: Substring) {
            if let masked = maskedWord(word, where: isSecret, found: found) {
                result += masked
                isChanged = true
            } else {
                result += word
            }
        }
        // A text that starts with a URL is a single URL, because URLs can contain spaces if they aren't
        // percent-encoded.
        if startsWithURL(text) {
            add(text[...])
        } else {
            var start = text.startIndex
            for index in text.utf8.indices where endsWord(text.utf8[index]) {
                add(text[start..<index])
                let next = text.utf8.index(after: index)
                result += text[index..<next]
                start = next
            }
            add(text[start...])
        }
        return isChanged ? result : nil
    }

    private static func mayHoldSecret(_ text: some Collection<UInt8>) -> Bool {
        guard text.contains(UInt8(ascii: "/")) || text.contains(where: { "?#".utf8.contains($0) }) else { return false }
        return text.contains { "=@".utf8.contains($0) } || mayHoldWebhook(text)
    }

    private static func mayHoldWebhook(_ text: some Collection<UInt8>) -> Bool {
        var rest = text[...]
        while let scheme = rest.firstRange(of: "://".utf8) {
            if URLSyntax.mayBeWebhook(rest[scheme.lowerBound...]) { return true }
            rest = rest[scheme.upperBound...]
        }
        return false
    }

    private static func startsWithURL(_ text: String) -> Bool {
        let start = text.utf8.prefix { $0 != UInt8(ascii: "/") }
        return ["http:", "https:"].contains(String(Substring(start)).lowercased())
    }

    private static func endsWord(_ byte: UInt8) -> Bool { byte <= 0x20 || "\"<>`".utf8.contains(byte) }

    /// Whether a byte can surround a URL in a sentence.
    private static func isAround(_ byte: UInt8) -> Bool { "'()[]{}.,;:!".utf8.contains(byte) }

    private static func maskedWord(
        _ word: Substring, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> String? {
        guard mayHoldSecret(word.utf8) else { return nil }
        var url = word.utf8.drop(while: isAround)
        while let last = url.last, isAround(last) { url = url.dropLast() }
        var count = 0
        func find(_ secret: Substring) {
            count += 1
            found(secret)
        }
        let isWhole = URLSyntax.hasCredentialsWithDelimiter(String(Substring(url)))
        let head = isWhole ? url : url.prefix { $0 != UInt8(ascii: "#") }
        var masked = URLSyntax.redacted(String(Substring(head)), where: isSecret, found: find)
        if head.endIndex < url.endIndex {
            let fragment = Substring(url[url.index(after: head.endIndex)...])
            masked += "#" + URLSyntax.redactedItems(fragment, where: isSecret, found: find)
        }
        if count == 0 { return nil }
        return String(word[..<url.startIndex]) + masked + String(word[url.endIndex...])
    }
}
