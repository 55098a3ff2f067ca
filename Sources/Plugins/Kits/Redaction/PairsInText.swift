import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport

/// Masks values after secret names in a text, and credentials after `Bearer` or `Basic`.
///
/// Always masks a value after an equals sign or in quotation marks: `token=…`, `"password": "…"`. Masks a word after a
/// colon only if it looks like a secret, because sentences contain colons, too: `password: required`. Also masks the
/// lines of a YAML value, the values of command-line options, list elements after the name of a header field, and
/// passwords in SQL.
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
    /// The start of the last `curl` command.
    private var lastCurl: Int?

    /// Returns `nil` if the text contains no secret. `found` receives the masked values that look like secrets even
    /// without a name, so they can be masked elsewhere.
    static func masked(
        _ text: String, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> String? {
        guard text.withSpan({ mayHoldPairs($0) }) else { return nil }
        return withoutActuallyEscaping(isSecret) { isSecret in
            var pairs = PairsInText(bytes: Array(text.utf8), isSecret: isSecret)
            pairs.scan()
            return pairs.ranges.isEmpty ? nil : pairs.replaced(found)
        }
    }

    /// A quick check that is `false` for most texts without pairs or credentials.
    static func mayHoldPairs(_ text: Span<UInt8>) -> Bool {
        if text.firstIndex(of: UInt8(ascii: "="), from: 0) != nil { return true }
        if text.firstIndex(of: UInt8(ascii: ":"), from: 0) != nil { return true }
        var last = UInt8(ascii: " ")
        for index in text.indices {
            let byte = text[index]
            if byte <= UInt8(ascii: "-"), mayBeginValue(byte, after: last) { return true }
            last = byte
        }
        return false
    }

    /// Whether a byte can end the name of a scheme or a header field, or begin an option or a string in SQL.
    private static func mayBeginValue(_ byte: UInt8, after last: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: " "): last | 0x20 == UInt8(ascii: "r") || last | 0x20 == UInt8(ascii: "c")
        case UInt8(ascii: "-"): beginsOption(after: last)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): last <= 0x20 || last == UInt8(ascii: "(")
        case UInt8(ascii: ","): isQuote(last)
        default: false
        }
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
            if let value = value(at: index), !value.isEmpty, !isHarmless(value) {
                ranges.append(value)
                index = value.upperBound
                // The mark that ends a value doesn't begin another value.
                if index < bytes.count, Self.isQuote(bytes[index]) { index += 1 }
            } else {
                index += 1
            }
        }
    }

    private mutating func value(at index: Int) -> Range<Int>? {
        switch bytes[index] {
        case UInt8(ascii: "="), UInt8(ascii: ":"): return value(after: index)
        case UInt8(ascii: "b"), UInt8(ascii: "B"): return credentials(at: index)
        case UInt8(ascii: "-"): return option(at: index)
        case UInt8(ascii: ","): return element(after: index)
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return password(at: index)
        case UInt8(ascii: "c"):
            if bytes.withSpan({ $0.contains(Self.curl, at: index) }) { lastCurl = index }
            return nil
        default: return nil
        }
    }

    private static let curl = Array("curl ".utf8)

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
        ASCII.isAlphanumeric(byte) || byte >= 0x80 || isOfNameMark(byte)
    }

    private static func isOfNameMark(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]")
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
        if let content = literal(from: start) ?? block(from: start, after: separator) { return content }
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
            return isCookie ? word.lowerBound..<endOfCookies(from: word.upperBound) : word
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

    private func endOfCookies(from start: Int) -> Int {
        bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D || Self.isQuote($0) } ?? bytes.count
    }

    /// Returns the content of a string that can have a prefix, as in `b'…'`, or be in a call, as in `Optional("…")`.
    private func literal(from start: Int) -> Range<Int>? {
        var open = start
        while open < bytes.count, open - start < Self.longestCall, Self.isOfCall(bytes[open]) { open += 1 }
        guard open > start else { return quoted(from: start) }
        guard open < bytes.count else { return nil }
        if bytes[open] == UInt8(ascii: "(") { return quoted(from: open + 1) }
        let isPrefix = open - start <= 2 && bytes[start..<open].allSatisfy { "bBfFrRuUN$@".utf8.contains($0) }
        return isPrefix && Self.isQuote(bytes[open]) ? quoted(from: open) : nil
    }

    private static let longestCall = 32

    private static func isOfCall(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "$") || byte == UInt8(ascii: "@")
    }

    /// Returns the lines of a YAML block scalar (YAML 1.2, section 8.1). The first line ends after the `|` or `>`.
    private func block(from start: Int, after separator: Int) -> Range<Int>? {
        guard start < bytes.count, bytes[start] == UInt8(ascii: "|") || bytes[start] == UInt8(ascii: ">") else {
            return nil
        }
        var position = start + 1
        // Indicators of indentation and chomping.
        while position < min(start + 3, bytes.count), bytes[position] > 0x20 { position += 1 }
        if position < bytes.count, bytes[position] == 0x0D { position += 1 }
        guard position < bytes.count, bytes[position] == 0x0A else { return nil }
        let column = column(ofLineAt: separator)
        position += 1
        var range: Range<Int>?
        while position < bytes.count {
            let end = endOfLine(from: position)
            var text = position
            while text < end, bytes[text] <= 0x20 { text += 1 }
            if text < end {
                guard text - position > column else { break }
                var last = end
                while bytes[last - 1] <= 0x20 { last -= 1 }
                range = (range?.lowerBound ?? text)..<last
            }
            position = end + 1
        }
        return range
    }

    /// Returns the column of the key in a line of YAML, after the hyphens of lists.
    private func column(ofLineAt index: Int) -> Int {
        var (start, key) = (index, index)
        while start > 0, bytes[start - 1] != 0x0A {
            start -= 1
            if bytes[start] != UInt8(ascii: " "), bytes[start] != UInt8(ascii: "-") { key = start }
        }
        return key - start
    }

    private func endOfLine(from start: Int) -> Int {
        bytes.withSpan { $0.firstIndex(of: 0x0A, from: start) } ?? bytes.count
    }

    /// Returns the content of a string. Its quotation marks may be escaped, doubled as in YAML and SQL, or written as
    /// in a shell: `'it'\''s'`.
    private func quoted(from start: Int) -> Range<Int>? {
        var open = start
        while open < bytes.count, bytes[open] == UInt8(ascii: "\\") { open += 1 }
        guard open < bytes.count, Self.isQuote(bytes[open]) else { return nil }
        let escapes = open - start
        var (index, run) = (open + 1, 0)
        while index < bytes.count {
            if bytes[index] == bytes[open], run == escapes {
                let rest = escapes == 0 ? lengthOfQuote(after: index, from: open) : 0
                if rest == 0 { return (open + 1)..<(index - escapes) }
                index += rest
            }
            run = bytes[index] == UInt8(ascii: "\\") ? run + 1 : 0
            index += 1
        }
        return (open + 1)..<bytes.count
    }

    /// Returns how many bytes after a quotation mark make it a part of the string that it would end.
    private func lengthOfQuote(after index: Int, from open: Int) -> Int {
        guard index > open + 1, index + 1 < bytes.count else { return 0 }
        if bytes[index + 1] == bytes[open] { return 1 }
        let isOfShell =
            bytes[open] == UInt8(ascii: "'") && bytes.withSpan { $0.contains(Self.quoteInShell, at: index + 1) }
        return isOfShell ? 3 : 0
    }

    private static let quoteInShell = Array(#"\''"#.utf8)

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

// Values after a name without an equals sign or a colon.
extension PairsInText {
    /// Returns the value of a command's option, as in `--password …` and `curl -u user:…`.
    private mutating func option(at start: Int) -> Range<Int>? {
        if start > 0, !Self.beginsOption(after: bytes[start - 1]) { return nil }
        var end = start
        while end < bytes.count, end - start <= Self.longestName, Self.isOfName(bytes[end]) { end += 1 }
        guard end - start > 1, end < bytes.count, ASCII.isBlank(bytes[end]) else { return nil }
        var value = end
        skipBlanks(&value)
        guard value < bytes.count, bytes[value] != UInt8(ascii: "-") else { return nil }
        let name = String(decoding: bytes[start..<end], as: UTF8.self)
        if Self.optionsOfUsers.contains(name) {
            // Other commands than curl have another meaning for `-u`.
            let isOfCurl = lastCurl.map { start - $0 <= Self.longestCommand } ?? false
            return isOfCurl || name.utf8.count > 2 ? password(ofUserAt: value) : nil
        }
        guard isSecret(name) else { return nil }
        if let content = quoted(from: value) { return content }
        let word = word(from: value)
        return Self.wordsAfterNames.contains(String(decoding: bytes[word], as: UTF8.self)) ? nil : word
    }

    private static func beginsOption(after byte: UInt8) -> Bool {
        byte <= 0x20 || isQuote(byte) || byte == UInt8(ascii: "`") || byte == UInt8(ascii: "[")
            || byte == UInt8(ascii: "(")
    }

    private static let optionsOfUsers: Set<String> = ["-u", "-U", "--user", "--proxy-user"]
    private static let longestCommand = 256

    /// Words that can follow the name of an option in a sentence.
    private static let wordsAfterNames: Set<String> = [
        "and", "argument", "can", "flag", "for", "from", "has", "if", "in", "instead", "is", "must", "of", "on",
        "option", "or", "parameter", "requires", "should", "so", "to", "value", "was", "when", "which", "will", "with",
    ]

    /// Returns the password after a user's name and a colon.
    private mutating func password(ofUserAt start: Int) -> Range<Int>? {
        let isQuoted = Self.isQuote(bytes[start])
        let user = start + (isQuoted ? 1 : 0)
        var colon = user
        while colon < bytes.count, colon - user <= Self.longestName, Self.isOfUser(bytes[colon]) { colon += 1 }
        guard colon > user, colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return nil }
        let end = (isQuoted ? quoted(from: start) : word(from: start))?.upperBound ?? 0
        guard colon + 1 < end else { return nil }
        let password = (colon + 1)..<end
        // Users and groups can be numbers, and URLs mask their own credentials.
        let isNumber = bytes[user..<colon].allSatisfy(ASCII.isDigit) && bytes[password].allSatisfy(ASCII.isDigit)
        return isNumber || bytes[password.lowerBound] == UInt8(ascii: "/") ? nil : password
    }

    private static func isOfUser(_ byte: UInt8) -> Bool { byte > 0x20 && !isQuote(byte) && byte != UInt8(ascii: ":") }

    /// Returns the element after the name of a secret header field, as in `('X-API-Key', '…')`.
    private func element(after comma: Int) -> Range<Int>? {
        guard comma > 0, Self.isQuote(bytes[comma - 1]), let name = name(before: comma)?.text,
            name.utf8.contains(UInt8(ascii: "-")) || ["authorization", "cookie"].contains(name.lowercased()),
            isSecret(name)
        else { return nil }
        var start = comma + 1
        skipBlanks(&start)
        return literal(from: start)
    }

    /// Returns the content of a string after the word `password`, or after `identified … by`, as in SQL.
    private func password(at quote: Int) -> Range<Int>? {
        var end = quote
        if end > 0, bytes[end - 1] == UInt8(ascii: "(") { end -= 1 }
        while end > 0, ASCII.isBlank(bytes[end - 1]) { end -= 1 }
        // The mark can also end a string.
        guard end < quote, quote + 1 < bytes.count, !Self.followsString(bytes[quote + 1]),
            let word = name(before: end), !word.isQuoted
        else { return nil }
        let isBy = ASCII.equalsIgnoringCase(word.text, "by") && isIdentified(before: end)
        return isBy || Self.isPassword(word.text) && isSecret(word.text) ? quoted(from: quote) : nil
    }

    private static func followsString(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]"): true
        default: false
        }
    }

    private func isIdentified(before end: Int) -> Bool {
        let text = bytes[max(0, end - Self.longestName)..<end].map(ASCII.lowercase)
        return text.withSpan { $0.firstIndex(of: Self.identified) } != nil
    }

    private static let identified = Array("identified".utf8)
}
