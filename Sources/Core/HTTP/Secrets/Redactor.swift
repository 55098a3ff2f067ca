public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// Masks the secrets of one exchange. A secret found in a header, a URL or a body is then masked wherever it occurs,
/// for example in an error page that echoes it.
///
/// ```swift
/// var redactor = Redactor()
/// let headers = redactor.headers(response.headers)
/// let url = redactor.url(response.url.absoluteString)      // "https://example.com/items?page=2&token=•••"
/// let body = redactor.masking(response.data)               // without the token, if the server sent it back
/// ```
///
/// First pass everything that belongs to the exchange through the methods that find secrets, and then the results
/// through `masking`.
public struct Redactor: Sendable {
    /// The rules that decide which values are secret.
    public let redaction: Redaction
    private var secrets = SecretFinder()
    /// The values of sensitive header fields whose secrets are remembered.
    private var rememberedValues: [String] = []

    /// Creates a redactor that doesn't know any secrets yet.
    public init(_ redaction: Redaction = Redaction()) { self.redaction = redaction }

    /// Remembers a secret to mask it wherever it occurs. Ignores secrets under six bytes, which would mask parts of
    /// harmless words, and any after the first hundred.
    public mutating func remember(_ secret: String) { remember(Array(secret.utf8)) }

    private mutating func remember(_ secret: [UInt8]) {
        guard secret.count >= SecretFinder.minimumLength, secrets.count < Self.maximumSecrets else { return }
        guard secrets.insert(secret) else { return }
        if secret.allSatisfy(ASCII.isUnreserved) { return }
        // The secret's form in a URL, and in JSON, which may escape slashes.
        let text = String(decoding: secret, as: UTF8.self)
        insert(PercentEncoding.encode(text))
        if secret.contains(UInt8(ascii: "\\")) {
            if let plain = try? JSONDecoder().decode(String.self, from: Data("\"\(text)\"".utf8)) { insert(plain) }
        } else if secret.contains(UInt8(ascii: "/")) {
            insert(text.replacing("/", with: "\\/"))
        }
    }

    private mutating func insert(_ secret: String) { _ = secrets.insert(Array(secret.utf8)) }

    private static let maximumSecrets = 100

    /// Returns a URL without its fragment, with credentials and the values of secret query items masked.
    public mutating func url(_ text: String) -> String {
        var found: [Substring] = []
        defer { rememberEncoded(found) }
        return URLSyntax.redacted(text, where: { redaction.isSecret($0) }) { found.append($0) }
    }

    /// Returns a form, or a query without its `?`, with the values of secret items masked.
    public mutating func form(_ text: some StringProtocol) -> String {
        var found: [Substring] = []
        defer { rememberEncoded(found) }
        return URLSyntax.redactedItems(Substring(text), where: { redaction.isSecret($0) }) { found.append($0) }
    }

    /// Returns header fields with secret values masked.
    public mutating func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        var masked = headers
        masked.replaceValues { field in
            guard redaction.isSecret(field) else { return nil }
            if field.isSensitive { rememberValue(field.value) }
            return Redaction.mask
        }
        return masked
    }

    private mutating func rememberValue(_ text: String) {
        if rememberedValues.contains(where: { $0.hasSameBytes(as: text) }) { return }
        if rememberedValues.count < Self.maximumSecrets { rememberedValues.append(text) }
        let value = Array(text.utf8)
        remember(value)
        // The credentials after a scheme, and the parts of cookies.
        for part in value.split(whereSeparator: Self.separatesParts) { remember(Array(part)) }
    }

    /// Returns the text with all known secrets masked.
    public func masking(_ text: String) -> String {
        if !text.withSpan({ secrets.mayOccur(in: $0) }) { return text }
        return secrets.masked(Array(text.utf8), with: Redaction.mask).map { String(decoding: $0, as: UTF8.self) }
            ?? text
    }

    /// Returns header fields with all known secrets masked.
    public func masking(_ headers: HTTPHeaders) -> HTTPHeaders {
        if !headers.haveValue(where: { $0.withSpan { secrets.mayOccur(in: $0) } }) { return headers }
        var masked = headers
        masked.replaceValues { masking($0.value) }
        return masked
    }

    /// Returns the bytes with all known secrets masked.
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

/// Finds secrets in other bytes.
struct SecretFinder: Sendable {
    private var secrets: [[UInt8]] = []
    private var pieces = PrefixFilter()

    /// The length of the shortest secret.
    static let minimumLength = 6

    var count: Int { secrets.count }

    /// Adds a secret of at least ``minimumLength`` bytes. Returns false if it's too short or already known.
    mutating func insert(_ secret: [UInt8]) -> Bool {
        guard secret.count >= Self.minimumLength, !secrets.contains(secret) else { return false }
        secrets.append(secret)
        pieces.insert(secret)
        return true
    }

    /// Returns false if no secret occurs in the text. Almost always false for a text without secrets.
    func mayOccur(in text: Span<UInt8>) -> Bool { !secrets.isEmpty && pieces.mayOccur(in: text) }

    /// Returns the bytes with the mask in place of each secret, or `nil` if no secret occurs. Overlapping secrets get
    /// one mask.
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

    /// Returns the ranges of secrets in order, with overlapping ranges merged.
    private func occurrences(in text: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        // Few texts contain a secret, so the patterns aren't prepared in advance.
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

/// Looks for pieces of all secrets in one pass over a text (a Bloom filter).
///
/// Most texts of an exchange contain no secret. Searching each of them for each form of each secret took nine tenths of
/// the time that a recorder needs to mask an exchange. Each secret is represented by the three pieces of four bytes with
/// which its first six bytes begin, so wherever it occurs, one of them is at an offset that is a multiple of three. Only
/// those are looked up.
private struct PrefixFilter: Sendable {
    private static let (length, step) = (4, 3)
    /// One of 1,024 bits for each piece. Empty without secrets.
    private var bits: ContiguousArray<UInt64> = []

    /// - Parameter secret: has at least ``SecretFinder/minimumLength`` bytes.
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
        var index = Self.length - 1
        while index < text.count {
            let start = UInt32(text[index - 3]) << 24 | UInt32(text[index - 2]) << 16
            let (word, bit) = Self.position(start | UInt32(text[index - 1]) << 8 | UInt32(text[index]))
            if bits[word] & bit != 0 { return true }
            index += Self.step
        }
        return false
    }

    /// Distributes pieces by multiplication, and takes the upper ten bits.
    private static func position(_ piece: UInt32) -> (word: Int, bit: UInt64) {
        let hash = (piece &* 0x9E37_79B1) >> 22
        return (Int(hash >> 6), 1 << UInt64(hash & 63))
    }
}
