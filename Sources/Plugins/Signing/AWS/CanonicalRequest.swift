import Errand
import ErrandEssentials
import ErrandKeys
import ErrandMessageSyntax
import ErrandSupport

struct CanonicalRequest {
    let text: String
    let signedFields: String

    /// Transports and proxies add or change these fields, so the signature doesn't cover them.
    private static let excluded: Set<HTTPHeaderName> = [
        .acceptEncoding, .authorization, .connection, .expect, "Keep-Alive", .proxyAuthorization, .te, .trailer,
        .transferEncoding, .upgrade, .userAgent, "X-Amzn-Trace-Id",
    ]

    init(_ request: HTTPRequest, rules: AWSRequestSigner.PathRules, payload: String) throws {
        let target = try RequestURLParts(request.urlText, host: request.headers.values(of: .host))
        let fields = try Self.fields(request, target)
        signedFields = fields.map(\.name).joined(separator: ";")
        let lines = fields.map { "\($0.name):\($0.value)\n" }.joined()
        text = """
            \(request.method.rawValue)
            \(Self.path(target.path, rules))
            \(Self.query(target.query ?? ""))
            \(lines)
            \(signedFields)
            \(payload)
            """
    }

    private static func fields(
        _ request: HTTPRequest, _ target: RequestURLParts
    ) throws -> [(name: String, value: String)] {
        var headers = request.headers
        headers.set(.host, target.authority)
        if !headers.contains(.contentType), let type = request.body.contentType, !request.body.isNone {
            headers.set(.contentType, type)
        }
        var names: Set<HTTPHeaderName> = []
        let fields = try headers.compactMap { field -> (name: String, value: String)? in
            guard !excluded.contains(field.name), names.insert(field.name).inserted else { return nil }
            guard field.name.isValid else {
                throw SigningError(.invalidValue, "a field's name has a character that field names can't have")
            }
            let value = headers.values(of: field.name).map { value in
                value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
            }.joined(separator: ",")
            guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw SigningError(.invalidValue, "the value of a field contains a control character")
            }
            return (SignatureComponent.lowercased(field.name.rawName), value)
        }
        return fields.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    static func path(_ path: String, _ rules: AWSRequestSigner.PathRules) -> String {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        if rules == .s3 { return "/" + segments.map(encodedOnce).joined(separator: "/") }
        var kept: [Substring] = []
        for segment in segments {
            switch segment {
            case "", ".": break
            case "..": _ = kept.popLast()
            default: kept.append(segment)
            }
        }
        let isDirectory = ["", ".", ".."].contains(segments.last ?? "") && !kept.isEmpty
        return "/" + kept.map { PercentEncoding.encode(String($0)) }.joined(separator: "/") + (isDirectory ? "/" : "")
    }

    /// The segment may already be percent-encoded.
    private static func encodedOnce(_ text: Substring) -> String {
        guard let bytes = PercentEncoding.bytes(text) else { return PercentEncoding.encode(String(text)) }
        return encoded(bytes)
    }

    private static func encoded(_ bytes: [UInt8]) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return PercentEncoding.encode(text) }
        return bytes.map { byte in
            ASCII.isUnreserved(byte)
                ? String(Unicode.Scalar(byte)) : "%" + Hexadecimal.text([byte]).uppercased()
        }.joined()
    }

    static func query(_ query: Substring) -> String {
        let items = query.split(separator: "&").map { item -> (name: String, value: String) in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (encodedItem(parts[0]), parts.count > 1 ? encodedItem(parts[1]) : "")
        }
        let sorted = items.sorted { a, b in
            a.name == b.name
                ? a.value.utf8.lexicographicallyPrecedes(b.value.utf8)
                : a.name.utf8.lexicographicallyPrecedes(b.name.utf8)
        }
        return sorted.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    private static func encodedItem(_ text: Substring) -> String {
        guard let bytes = PercentEncoding.bytes(text, plusIsSpace: true) else {
            return PercentEncoding.encode(String(text))
        }
        return encoded(bytes)
    }
}

/// A date as `20150830T123600Z`.
struct AWSTimestamp {
    let text: String
    var day: Substring { text.prefix(8) }

    init(_ date: Date) {
        let seconds = Int64(exactly: date.timeIntervalSince1970.rounded(.down)) ?? 0
        let second = Int((seconds % 86400 + 86400) % 86400)
        let (year, month, day) = Self.civil(fromDay: (seconds - Int64(second)) / 86400)
        func padded(_ number: Int, _ width: Int = 2) -> String {
            let digits = "\(number)"
            return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
        }
        text =
            padded(year, 4) + padded(month) + padded(day) + "T" + padded(second / 3600) + padded(second / 60 % 60)
            + padded(second % 60) + "Z"
    }

    /// Counts in eras of 400 years, and in years that begin on March 1, so a leap day is the last day of its year.
    private static func civil(fromDay number: Int64) -> (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1460 + ofEra / 36524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * ofYear + 2) / 153
        let day = ofYear - (153 * month + 2) / 5 + 1
        let civilMonth = month < 10 ? month + 3 : month - 9
        return (Int(yearOfEra + era * 400 + (civilMonth <= 2 ? 1 : 0)), Int(civilMonth), Int(day))
    }
}

struct AWSSigningKey: Sendable {
    private let key: HMACKey

    init(
        _ credentials: AWSCredentials, _ time: AWSTimestamp, region: String, service: String
    ) throws(KeyError) {
        var key = HMACKey("AWS4\(credentials.secretAccessKey)".utf8)
        for part in [String(time.day), region, service, "aws4_request"] {
            key = HMACKey(try key.signature(of: Data(part.utf8)))
        }
        self.key = key
    }

    func signature(of text: String) throws(KeyError) -> String {
        Hexadecimal.text(Array(try key.signature(of: Data(text.utf8))))
    }

    func signature(
        of request: CanonicalRequest, _ time: AWSTimestamp, _ scope: String
    ) throws(KeyError) -> String {
        try signature(
            of: "AWS4-HMAC-SHA256\n\(time.text)\n\(scope)\n\(try Self.digest(Data(request.text.utf8)))")
    }

    static func digest(_ data: Data) throws(KeyError) -> String {
        Hexadecimal.text(Array(try KeyDigest.digest(of: data, .sha256)))
    }
}
