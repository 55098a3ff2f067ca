import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax

/// Reads the header fields of upload protocols. A field that is invalid or repeated counts as missing.
enum UploadFields {
    static let version: HTTPHeaderName = "Upload-Draft-Interop-Version"
    static let complete: HTTPHeaderName = "Upload-Complete"
    static let offset: HTTPHeaderName = "Upload-Offset"
    static let length: HTTPHeaderName = "Upload-Length"
    static let limit: HTTPHeaderName = "Upload-Limit"

    /// Returns the number in a field. Accepts leading zeros, unlike structured fields, because tus servers send them.
    static func integer(_ headers: HTTPHeaders, _ name: HTTPHeaderName) -> Int64? {
        let values = headers.values(of: name)
        guard values.count == 1, values[0].utf8.count <= 20 else { return nil }
        let text = values[0].trimmingSpaces
        // Checks that the text contains only digits, because `Int64` would accept a sign.
        guard text.utf8.allSatisfy(ASCII.isDigit), let number = Int64(text), number <= 1 << 60 else { return nil }
        return number
    }

    static func boolean(_ headers: HTTPHeaders, _ name: HTTPHeaderName) -> Bool? {
        let values = headers.values(of: name)
        guard values.count == 1 else { return nil }
        return (try? StructuredField.Item(parsing: values[0]))?.value.boolean
    }

    static func list(_ headers: HTTPHeaders, _ name: HTTPHeaderName) -> [String] {
        headers.values(of: name).flatMap { $0.split(separator: ",") }.prefix(100).map {
            String($0).trimmingSpaces.lowercased()
        }
    }

    static func limits(_ headers: HTTPHeaders) -> [String: Int64]? {
        let values = headers.values(of: limit)
        guard !values.isEmpty,
            let fields = try? StructuredField.Dictionary(parsing: values.joined(separator: ", "))
        else { return nil }
        var numbers: [String: Int64] = [:]
        for name in ["max-size", "max-append-size", "min-append-size", "max-age", "expires"] {
            if let number = fields[name]?.item?.value.integer, number >= 0 { numbers[name] = number }
        }
        return numbers
    }

    /// Returns when the upload expires, according to the device's clock. Reads `max-age` in `Upload-Limit` (`expires`
    /// in version 6), or `Upload-Expires` from tus servers.
    static func expiry(_ headers: HTTPHeaders, now: Date) -> Date? {
        if let limits = limits(headers), let age = limits["max-age"] ?? limits["expires"] {
            return now.addingTimeInterval(Double(age))
        }
        return headers["Upload-Expires"].flatMap { HTTPDate.parse($0, now: now) }.map {
            headers.localDate($0, now: now)
        }
    }
}

extension String {
    var trimmingSpaces: String {
        let isSpace = { (character: Character) in character == " " || character == "\t" }
        return String(Substring(drop(while: isSpace).reversed().drop(while: isSpace).reversed()))
    }
}
