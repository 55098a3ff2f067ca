public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// Masks the secrets of one request and its response. If the redactor finds a secret in a header, a URL or a body, it
/// also masks the secret elsewhere, for example in an error page that repeats it.
///
/// ```swift
/// var redactor = Redactor()
/// let headers = redactor.headers(response.headers)
/// let url = redactor.url(response.url.absoluteString)      // "https://example.com/items?page=2&token=•••"
/// let body = redactor.masking(response.data)               // without the token, if the server sent it back
/// ```
///
/// First pass the headers, URLs and bodies to the methods that find secrets. Then pass the results to `masking`.
public struct Redactor: Sendable {
    /// The rules that decide which values are secret.
    public let redaction: Redaction
    private var secrets = SecretFinder()
    private var rememberedSecrets = 0
    private var rememberedValues: [String] = []
    /// Nil for a redactor of a single exchange.
    package private(set) var names: KnownNames?

    /// Creates a redactor that doesn't know any secrets yet.
    public init(_ redaction: Redaction = Redaction()) { self.redaction = redaction }

    package init(_ redaction: Redaction, names: KnownNames?) { (self.redaction, self.names) = (redaction, names) }

    /// Remembers a secret to mask it wherever it occurs, even if it's escaped for a URL, for HTML or for JSON.
    ///
    /// Secrets under six bytes are ignored, because they would mask parts of harmless words. Secrets after the first
    /// hundred are ignored, too.
    public mutating func remember(_ secret: String) { remember(Array(secret.utf8)) }

    private mutating func remember(_ secret: [UInt8]) {
        guard secret.count >= SecretFinder.minimumLength, rememberedSecrets < Self.maximumSecrets else { return }
        guard secrets.insert(secret) else { return }
        rememberedSecrets += 1
        if secret.allSatisfy(ASCII.isUnreserved) { return }
        let text = String(decoding: secret, as: UTF8.self)
        insertForms(of: text)
        // The secret may come from a JSON string.
        guard secret.contains(UInt8(ascii: "\\")),
            let plain = try? JSONDecoder().decode(String.self, from: Data("\"\(text)\"".utf8))
        else { return }
        insert(plain)
        insertForms(of: plain)
    }

    private mutating func insertForms(of text: String) {
        for form in SecretForms.all(of: text) { insert(form) }
    }

    private mutating func insert(_ secret: String) {
        guard secrets.count < Self.maximumForms else { return }
        _ = secrets.insert(Array(secret.utf8))
    }

    private static let maximumSecrets = 100
    /// The most encoded secrets to search for. More would make the search slow.
    private static let maximumForms = 400

    /// Masks the credentials and the secret items of a URL, and remembers them. Removes the fragment.
    public mutating func url(_ text: String) -> String {
        var found: [Substring] = []
        defer { rememberEncoded(found) }
        return URLSyntax.redacted(text, where: { redaction.isSecret($0) }) { found.append($0) }
    }

    /// Masks the secret items of a form or of a query without its `?`, and remembers them.
    public mutating func form(_ text: some StringProtocol) -> String {
        var found: [Substring] = []
        defer { rememberEncoded(found) }
        return URLSyntax.redactedItems(Substring(text), where: { redaction.isSecret($0) }) { found.append($0) }
    }

    /// Masks the secret values in header fields, and remembers them.
    public mutating func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        var masked = headers
        masked.replaceValues { field in
            if field.isSensitive {
                rememberValue(field.value)
                return Redaction.mask
            }
            let kind = kind(of: field.name)
            if kind == .shown { return nil }
            if kind == .secret { rememberWords(of: field.value) }
            return Redaction.mask
        }
        return masked
    }

    /// Returns the fields that aren't sensitive, but have a secret's name, such as `X-API-Key`.
    package mutating func namedSecrets(in headers: HTTPHeaders) -> ContiguousArray<HTTPHeaders.Field> {
        headers.unmarkedFields { kind(of: $0) == .secret }
    }

    package mutating func rememberWords(of fields: ContiguousArray<HTTPHeaders.Field>) {
        for field in fields { rememberWords(of: field.value) }
    }

    private mutating func kind(of name: HTTPHeaderName) -> KnownNames.Kind {
        names?.kind(of: name, in: redaction) ?? redaction.kind(of: name)
    }

    /// Remembers the words of a value. Ignores words without a digit, because such fields also contain ordinary words.
    private mutating func rememberWords(of value: String) {
        for part in value.utf8.split(whereSeparator: Self.separatesParts)
        where part.count >= Self.minimumNamedLength && part.contains(where: ASCII.isDigit) {
            remember(Array(part))
        }
    }

    private static let minimumNamedLength = 8

    private mutating func rememberValue(_ text: String) {
        if rememberedValues.contains(where: { $0.hasSameBytes(as: text) }) { return }
        if rememberedValues.count < Self.maximumSecrets { rememberedValues.append(text) }
        let value = Array(text.utf8)
        remember(value)
        // Also mask the credentials after a scheme, and the parts of cookies.
        for part in value.split(whereSeparator: Self.separatesParts) { remember(Array(part)) }
        if let password = Self.password(inBasic: text) { remember(password) }
    }

    /// Returns the password in Basic credentials (RFC 7617), because a server may repeat it decoded. The user name
    /// isn't masked.
    private static func password(inBasic text: String) -> String? {
        guard ASCII.equalsIgnoringCase(String(Substring(text.utf8.prefix(6))), "basic ") else { return nil }
        let words = text.split(separator: " ")
        guard words.count == 2, let data = Data(base64Encoded: String(words[1])),
            let colon = data.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return String(validating: data[(colon + 1)...], as: UTF8.self)
    }

    /// Masks all known secrets in text.
    public func masking(_ text: String) -> String {
        if !secrets.mayOccur(in: text) { return text }
        return secrets.masked(Array(text.utf8), with: Redaction.mask).map { String(decoding: $0, as: UTF8.self) }
            ?? text
    }

    /// Masks all known secrets in header fields.
    public func masking(_ headers: HTTPHeaders) -> HTTPHeaders {
        if !headers.haveValue(where: { secrets.mayOccur(in: $0) }) { return headers }
        var masked = headers
        masked.replaceValues { masking($0.value) }
        return masked
    }

    /// Masks all known secrets in bytes.
    public func masking(_ data: Data) -> Data {
        if !secrets.mayOccur(in: data.span) { return data }
        return secrets.masked(Array(data), with: Redaction.mask).map { Data($0) } ?? data
    }

    private static func separatesParts(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ","): true
        default: false
        }
    }

    private mutating func rememberEncoded(_ values: [Substring]) {
        for value in values {
            remember(String(value))
            remember(PercentEncoding.decodeLeniently(value, plusIsSpace: true))
        }
    }
}

struct SecretFinder: Sendable {
    private var secrets: [[UInt8]] = []
    private var pieces = PrefixFilter()

    static let minimumLength = 6

    var count: Int { secrets.count }

    mutating func insert(_ secret: [UInt8]) -> Bool {
        guard secret.count >= Self.minimumLength, !secrets.contains(secret) else { return false }
        secrets.append(secret)
        pieces.insert(secret)
        return true
    }

    /// Returns whether the text may contain a secret. Almost always returns false for a text without secrets.
    func mayOccur(in text: Span<UInt8>) -> Bool { !secrets.isEmpty && pieces.mayOccur(in: text) }

    func mayOccur(in text: String) -> Bool {
        if secrets.isEmpty { return false }
        // A closure that uses `self` would copy the secrets.
        let pieces = pieces
        return text.withSpan { pieces.mayOccur(in: $0) }
    }

    /// Masks the secrets in a text. Overlapping secrets get one mask.
    func masked(_ text: [UInt8], with mask: String) -> [UInt8]? {
        let ranges = occurrences(in: text)
        if ranges.isEmpty { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var end = 0
        for range in ranges {
            result += text[end..<range.lowerBound]
            result += mask.utf8
            end = range.upperBound
        }
        return result + text[end...]
    }

    private func occurrences(in text: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        // Few texts contain a secret, so search patterns aren't created earlier.
        for secret in secrets { ranges += BytePattern(secret).matches(in: text) }
        ranges.sort { $0.lowerBound < $1.lowerBound }
        var merged: [Range<Int>] = []
        for range in ranges {
            if let last = merged.last, range.lowerBound < last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }
}

/// Looks for pieces of all secrets in one pass (a Bloom filter), because most texts don't contain a secret.
///
/// Contains three four-byte pieces of each secret, which start at its first three bytes. Wherever a secret occurs, one
/// of its pieces starts at a multiple of three, so the filter looks up only these offsets.
private struct PrefixFilter: Sendable {
    private static let (length, step) = (4, 3)
    /// 1,024 bits, one for each hash value. Empty without secrets.
    private var bits: ContiguousArray<UInt64> = []

    /// - Parameter secret: At least ``SecretFinder/minimumLength`` bytes.
    mutating func insert(_ secret: [UInt8]) {
        if bits.isEmpty { bits = ContiguousArray(repeating: 0, count: 16) }
        for start in 0..<Self.step {
            let piece = secret[start..<start + Self.length].reduce(0) { $0 << 8 | UInt32($1) }
            let (word, bit) = Self.position(piece)
            bits[word] |= bit
        }
    }

    func mayOccur(in text: Span<UInt8>) -> Bool {
        let bits = bits.span
        var start = 0
        while start + Self.length <= text.count {
            let (word, bit) = Self.position(text.bigEndian(at: start))
            if bits[word] & bit != 0 { return true }
            start += Self.step
        }
        return false
    }

    private static func position(_ piece: UInt32) -> (word: Int, bit: UInt64) {
        let hash = (piece &* 0x9E37_79B1) >> 22
        return (Int(hash >> 6), 1 << UInt64(hash & 63))
    }
}
