public import Errand

import ErrandEssentials

/// What a log may show: header values by an allow list, query items and fields of bodies unless their name looks secret.
///
/// ```swift
/// var redaction = LogRedaction()
/// redaction.shownHeaders.insert("X-Trace")       // shown from now on
/// redaction.secretNames.insert("customer")       // every name with this in it is masked from now on
/// redaction.shownNames.insert("pagetoken")       // masked no more
/// ```
///
/// Credentials in URLs, `Authorization`, cookies and headers marked as sensitive are never shown, whatever is listed. A
/// secret that was found in a request is masked wherever else it turns up in what is logged of it, such as an error body
/// that echoes it.
public struct LogRedaction: Sendable {
    /// Headers whose values are shown; those that say nothing of a person by default.
    public var shownHeaders: Set<HTTPHeaderName> = [
        "Accept", "Accept-Encoding", "Accept-Language", "Accept-Ranges", "Age", "Allow", "Cache-Control", "Connection",
        "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Range",
        "Content-Type", "Date", "ETag", "Expect", "Expires", "Host", "If-Match", "If-Modified-Since", "If-None-Match",
        "If-Range", "If-Unmodified-Since", "Last-Modified", "Range", "Retry-After", "Server", "Trailer",
        "Transfer-Encoding", "Upgrade", "User-Agent", "Vary", "Via", "Warning",
    ]
    /// Parts of names, in lower case, letters and digits only, whose values are masked in queries, forms and JSON.
    public var secretNames: Set<String> = [
        "token", "secret", "password", "passwd", "pwd", "passphrase", "apikey", "accesskey", "privatekey", "auth",
        "session", "signature", "credential", "cookie", "csrf", "xsrf", "jwt", "bearer", "cardnumber", "cvv", "cvc",
        "iban", "ssn",
    ]
    /// Whole names, in the same form, that are masked as well; too short to look for within others.
    public var secretWords: Set<String> = ["key", "sid", "sig", "sign", "otp", "pin", "code", "hash", "nonce", "state"]
    /// Names, in the same form, that are shown though they look secret.
    public var shownNames: Set<String> = []

    /// What stands in the place of a secret.
    public static let mask = "•••"

    /// The defaults.
    public init() {}

    /// Whether the value of a query item or field is masked.
    public func isSecret(_ name: String) -> Bool {
        let plain = Self.plain(name)
        if shownNames.contains(plain) { return false }
        return secretWords.contains(plain) || secretNames.contains(where: plain.contains)
    }

    /// Whether the value of a header is masked.
    public func isSecret(_ field: HTTPHeaders.Field) -> Bool {
        field.isSensitive || !shownHeaders.contains(field.name)
    }

    private static func plain(_ name: String) -> String {
        let name = percentDecoded(name)
        return String(
            name.lowercased().unicodeScalars.filter { $0.properties.isAlphabetic || $0.properties.numericType != nil }
                .map(Character.init))
    }

    private static func percentDecoded(_ text: String) -> String {
        guard text.contains("%") else { return text }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension LogRedaction {
    /// A URL without credentials and fragment, the values of secret items masked; `secrets` gets what was masked.
    func url(_ text: String, _ secrets: inout LogSecrets) -> String {
        // What most URLs are: nothing to look for.
        if !text.utf8.contains(where: { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "?") })
        {
            return text
        }
        var text = text
        if let hash = text.firstIndex(of: "#") { text = String(text[..<hash]) }
        if let scheme = text.firstRange(of: "://") {
            let authority = text[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
            if let at = authority.lastIndex(of: "@") {
                for part in text[scheme.upperBound..<at].split(separator: ":") { secrets.add(String(part)) }
                text.replaceSubrange(scheme.upperBound..<at, with: Self.mask)
            }
        }
        guard let mark = text.firstIndex(of: "?") else { return text }
        return text[...mark] + form(String(text[text.index(after: mark)...]), &secrets)
    }

    /// A query or a form, item for item.
    func form(_ text: String, _ secrets: inout LogSecrets) -> String {
        let items = text.split(separator: "&", omittingEmptySubsequences: false).map { item -> String in
            guard let equals = item.firstIndex(of: "=") else { return String(item) }
            let name = item[..<equals]
            guard isSecret(String(name)) else { return String(item) }
            let value = String(item[item.index(after: equals)...])
            secrets.add(value)
            secrets.add(Self.percentDecoded(value))
            return name + "=" + Self.mask
        }
        return items.joined(separator: "&")
    }

    /// Header lines, secret values masked.
    func lines(_ headers: HTTPHeaders, _ secrets: inout LogSecrets) -> [String] {
        headers.map { field in
            guard isSecret(field) else { return "\(field.name): \(field.value)" }
            if field.isSensitive {
                secrets.add(field.value)
                // The part behind a scheme, and the parts of cookies.
                for part in field.value.split(whereSeparator: { " ;=,".contains($0) }) { secrets.add(String(part)) }
            }
            return "\(field.name): \(Self.mask)"
        }
    }
}

/// Values that were masked, to be masked wherever else they stand.
struct LogSecrets: Sendable {
    private var values: Set<String> = []

    /// Short ones would mask half of a text.
    mutating func add(_ value: String) {
        if value.utf8.count >= 6, values.count < 100 { values.insert(value) }
    }

    /// The same for bytes that are no text.
    func masked(_ data: Data) -> Data {
        var data = data
        for value in values.sorted(by: { $0.utf8.count > $1.utf8.count }) {
            let (secret, mask) = (Data(value.utf8), Data(LogRedaction.mask.utf8))
            var start = data.startIndex
            while let place = data[start...].firstRange(of: secret) {
                data.replaceSubrange(place, with: mask)
                start = place.lowerBound + mask.count
            }
        }
        return data
    }

    func masked(_ text: String) -> String {
        var text = text
        for value in values.sorted(by: { $0.utf8.count > $1.utf8.count }) where text.contains(value) {
            text = text.replacing(value, with: LogRedaction.mask)
        }
        return text
    }
}
