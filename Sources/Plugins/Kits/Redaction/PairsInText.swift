import ErrandHTTP
import ErrandMessageSyntax

/// Masks values after secret names in a text, and credentials after `Bearer` or `Basic`.
///
/// Always masks a value after an equals sign or in quotation marks: `token=…`, `"password": "…"`. Masks a word after a
/// colon only if it looks like a secret, because sentences contain colons, too: `password: required`.
struct PairsInText {
    private let bytes: [UInt8]
    private let isSecret: (String) -> Bool
    private var ranges: [Range<Int>] = []
    /// A run of bytes from the start of a word to the next byte that can't be part of a word. It's remembered, so a
    /// long run isn't searched again.
    private var run = 0..<0
    /// The end of the last word after a colon that doesn't look like a secret. Parts of this word aren't checked again,
    /// because they don't look like secrets either.
    private var harmlessEnd = 0

    /// Returns `nil` if the text contains no secret. `found` receives the masked values that look like secrets even
    /// without a name, so they can be masked elsewhere.
    static func masked(
        _ text: String, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> String? {
        guard mayHoldPairs(text.utf8) else { return nil }
        return withoutActuallyEscaping(isSecret) { isSecret in
            var pairs = PairsInText(bytes: Array(text.utf8), isSecret: isSecret)
            pairs.scan()
            return pairs.ranges.isEmpty ? nil : pairs.replaced(found)
        }
    }

    /// A quick check that is `false` for most texts without pairs or credentials.
    static func mayHoldPairs(_ text: some Collection<UInt8>) -> Bool {
        text.contains { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") } || mayHoldCredentials(text)
    }

    private static func mayHoldCredentials(_ text: some Collection<UInt8>) -> Bool {
        var last: UInt8 = 0
        for byte in text {
            if byte == UInt8(ascii: " "), last | 0x20 == UInt8(ascii: "r") || last | 0x20 == UInt8(ascii: "c") {
                return true
            }
            last = byte
        }
        return false
    }

    private init(bytes: [UInt8], isSecret: @escaping (String) -> Bool) {
        (self.bytes, self.isSecret) = (bytes, isSecret)
    }

    private func replaced(_ found: (Substring) -> Void) -> String {
        var result: [UInt8] = []
        var end = 0
        for range in ranges {
            result += bytes[end..<range.lowerBound]
            result += Redaction.mask.utf8
            end = range.upperBound
            // Other values could be harmless words, which would then be masked everywhere.
            if range.count >= 8, looksSecret(range) {
                found(Substring(String(decoding: bytes[range], as: UTF8.self)))
            }
        }
        return String(decoding: result + bytes[end...], as: UTF8.self)
    }

    private mutating func scan() {
        var index = 0
        while index < bytes.count {
            let value =
                switch bytes[index] {
                case UInt8(ascii: "="), UInt8(ascii: ":"): value(after: index)
                case UInt8(ascii: "b"), UInt8(ascii: "B"): credentials(at: index)
                default: nil as Range<Int>?
                }
            if let value, !value.isEmpty, !isHarmless(value) {
                ranges.append(value)
                index = value.upperBound
            } else {
                index += 1
            }
        }
    }

    // MARK: Names

    private static let longestName = 64

    private func name(before separator: Int) -> (text: String, isQuoted: Bool)? {
        var end = separator
        while end > 0, ASCII.isBlank(bytes[end - 1]) { end -= 1 }
        let isQuoted = end > 0 && Self.isQuote(bytes[end - 1])
        if isQuoted {
            end -= 1
            while end > 0, bytes[end - 1] == UInt8(ascii: "\\") { end -= 1 }
        }
        var start = end
        while start > 0, end - start <= Self.longestName, Self.isOfName(bytes[start - 1]) { start -= 1 }
        guard start < end, end - start <= Self.longestName else { return nil }
        return (String(decoding: bytes[start..<end], as: UTF8.self), isQuoted)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || byte >= 0x80 || "_-.[]".utf8.contains(byte)
    }

    private static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

    // MARK: Values

    private mutating func value(after separator: Int) -> Range<Int>? {
        var isColon = bytes[separator] == UInt8(ascii: ":")
        var start = separator + 1
        // `=>` as in Ruby and PHP, and `:=` as in Go.
        if start < bytes.count, bytes[start] == UInt8(ascii: isColon ? "=" : ">") {
            start += 1
            isColon = false
        }
        // The scheme of a URL ends in a colon before two slashes.
        guard start < bytes.count, bytes[start] != bytes[separator],
            !isColon || !bytes[start...].starts(with: "//".utf8), let name = name(before: separator),
            isSecret(name.text)
        else { return nil }
        skipBlanks(&start)
        if let content = quoted(from: start) { return content }
        guard start < bytes.count, !"{[(".utf8.contains(bytes[start]) else { return nil }
        // A sentence has a blank after a colon.
        let isPassword = start == separator + 1 && Self.isPassword(name.text)
        let isProse = isColon && !name.isQuoted && !isPassword
        if isProse, start + Self.longestScheme < harmlessEnd { return nil }
        let word = word(from: start)
        if let credentials = credentials(after: word) { return credentials }
        if isProse {
            let isCookie = Self.isCookie(name.text)
            guard looksSecret(word) || isCookie && bytes[word].contains(UInt8(ascii: "=")) else {
                harmlessEnd = word.upperBound
                return nil
            }
            return isCookie ? word.lowerBound..<endOfLine(from: word.upperBound) : word
        }
        return word
    }

    private static func isPassword(_ name: String) -> Bool {
        let name = name.lowercased()
        return ["password", "passwd", "pwd", "passphrase", "secret"].contains { name.hasSuffix($0) }
    }

    private static func isCookie(_ name: String) -> Bool { name.lowercased().hasSuffix("cookie") }

    private func skipBlanks(_ index: inout Int) {
        while index < bytes.count, ASCII.isBlank(bytes[index]) { index += 1 }
    }

    private func endOfLine(from start: Int) -> Int {
        bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D || Self.isQuote($0) } ?? bytes.count
    }

    /// The quotation marks may be escaped.
    private func quoted(from start: Int) -> Range<Int>? {
        var open = start
        while open < bytes.count, bytes[open] == UInt8(ascii: "\\") { open += 1 }
        guard open < bytes.count, Self.isQuote(bytes[open]) else { return nil }
        let escapes = open - start
        var (index, run) = (open + 1, 0)
        while index < bytes.count {
            if bytes[index] == bytes[open], run == escapes { return (open + 1)..<(index - escapes) }
            run = bytes[index] == UInt8(ascii: "\\") ? run + 1 : 0
            index += 1
        }
        return (open + 1)..<bytes.count
    }

    private mutating func word(from start: Int) -> Range<Int> {
        if !run.contains(start) {
            run = start..<(bytes[start...].firstIndex { $0 <= 0x20 || "\"'<>`;&".utf8.contains($0) } ?? bytes.count)
        }
        var end = run.upperBound
        // The comma before another pair ends the word.
        if let comma = bytes[start..<end].firstIndex(of: UInt8(ascii: ",")),
            bytes[comma..<end].contains(where: { "=:".utf8.contains($0) })
        {
            end = comma
        }
        while end > start, ".,:!?)]}\\".utf8.contains(bytes[end - 1]) { end -= 1 }
        return start..<end
    }

    /// A mask, or a word for a missing value such as `null`.
    private func isHarmless(_ value: Range<Int>) -> Bool {
        let text = bytes[value]
        if text.elementsEqual(Redaction.mask.utf8) || text.allSatisfy({ $0 == UInt8(ascii: "*") }) { return true }
        guard text.count <= 10 else { return false }
        return ["null", "nil", "none", "undefined", "true", "false", "[redacted]", "redacted"].contains(
            String(decoding: text, as: UTF8.self).lowercased())
    }

    /// At least six bytes, with a digit, a symbol, or both a lowercase letter and an uppercase letter after the first
    /// byte.
    private func looksSecret(_ word: Range<Int>) -> Bool {
        guard word.count >= 6 else { return false }
        if bytes[word].contains(where: { ASCII.isDigit($0) || "=@#$%^*!+".utf8.contains($0) }) { return true }
        return bytes[word].dropFirst().contains(where: Self.isUppercase)
            && bytes[word].contains { ASCII.isLetter($0) && !Self.isUppercase($0) }
    }

    private static func isUppercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

    // MARK: Credentials

    private static let schemes: Set<String> = [
        "bearer", "basic", "digest", "token", "negotiate", "ntlm", "bot", "apikey", "jwt", "dpop", "oauth", "hawk",
        "aws4-hmac-sha256",
    ]
    private static let schemesOfLists: Set<String> = ["digest", "oauth", "hawk", "aws4-hmac-sha256"]

    private static let longestScheme = 16

    private mutating func credentials(after scheme: Range<Int>) -> Range<Int>? {
        guard scheme.count <= Self.longestScheme, scheme.upperBound < bytes.count,
            ASCII.isBlank(bytes[scheme.upperBound])
        else {
            return nil
        }
        let name = String(decoding: bytes[scheme], as: UTF8.self).lowercased()
        guard Self.schemes.contains(name) else { return nil }
        var start = scheme.upperBound
        skipBlanks(&start)
        guard start < bytes.count else { return nil }
        if Self.schemesOfLists.contains(name) {
            guard bytes[start...].prefix(Self.longestName).prefix(while: { $0 >= 0x20 }).contains(UInt8(ascii: "="))
            else { return nil }
            return start..<(bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count)
        }
        let word = word(from: start)
        return looksSecret(word) ? word : nil
    }

    private mutating func credentials(at start: Int) -> Range<Int>? {
        if start > 0, Self.isOfName(bytes[start - 1]) { return nil }
        let end = bytes[start...].firstIndex { !Self.isOfName($0) } ?? bytes.count
        let scheme = start..<end
        guard end < bytes.count, end - start == 5 || end - start == 6,
            ["bearer", "basic"].contains(String(decoding: bytes[scheme], as: UTF8.self).lowercased()),
            let word = credentials(after: scheme), word.count >= 8
        else { return nil }
        return word
    }
}

/// Masks secrets in text for people: private keys and tokens, secrets in URLs, and values after secret names.
enum SecretsInText {
    /// `false` for most texts without secrets.
    static func mayOccur(in text: some Collection<UInt8>) -> Bool {
        text.contains(UInt8(ascii: "@")) || PairsInText.mayHoldPairs(text) || ShapedSecrets.mayOccur(in: text)
    }

    static func masked(
        _ text: String, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> String? {
        let shaped = ShapedSecrets.masked(text, found: found)
        let first = URLsInText.masked(shaped ?? text, where: isSecret, found: found) ?? shaped
        return PairsInText.masked(first ?? text, where: isSecret, found: found) ?? first
    }
}
