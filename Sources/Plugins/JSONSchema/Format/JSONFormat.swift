import ErrandJSONValidation
import ErrandMessageSyntax

/// The string formats of the standard (2020-12 validation, section 7.3).
enum JSONFormat: String, Sendable {
    case dateTime = "date-time"
    case date, time, duration
    case email
    case internationalEmail = "idn-email"
    case hostname
    case internationalHostname = "idn-hostname"
    case ipv4, ipv6
    case uri
    case uriReference = "uri-reference"
    case iri
    case iriReference = "iri-reference"
    case uuid
    case uriTemplate = "uri-template"
    case jsonPointer = "json-pointer"
    case relativeJSONPointer = "relative-json-pointer"
    case regex

    /// Returns `nil` if the string is too long to decide.
    func fits(_ text: String) -> Bool? {
        let bytes = Array(text.utf8)
        return switch self {
        case .dateTime: DateFormat.isDateTime(bytes)
        case .date: DateFormat.isDate(bytes)
        case .time: DateFormat.isTime(bytes)
        case .duration: DateFormat.isDuration(bytes)
        case .email: AddressFormat.isEmail(bytes, isInternational: false)
        case .internationalEmail: AddressFormat.isEmail(bytes, isInternational: true)
        case .hostname: HostnameFormat.isHostname(bytes)
        case .internationalHostname: HostnameFormat.isInternational(text)
        case .ipv4: AddressFormat.isIPv4(bytes[...])
        case .ipv6: AddressFormat.isIPv6(bytes[...])
        case .uri: URIFormat.isURI(text, isReference: false, isInternational: false)
        case .uriReference: URIFormat.isURI(text, isReference: true, isInternational: false)
        case .iri: URIFormat.isURI(text, isReference: false, isInternational: true)
        case .iriReference: URIFormat.isURI(text, isReference: true, isInternational: true)
        case .uuid: TextFormat.isUUID(bytes)
        case .uriTemplate: TextFormat.isURITemplate(text)
        case .jsonPointer: TextFormat.isPointer(bytes[...])
        case .relativeJSONPointer: TextFormat.isRelativePointer(bytes)
        case .regex: PatternParser.isPattern(text)
        }
    }
}

/// Dates, times and durations (RFC 3339, section 5.6 and appendix A).
enum DateFormat {
    static func isDateTime(_ bytes: [UInt8]) -> Bool {
        guard bytes.count > 11, bytes[10] | 0x20 == UInt8(ascii: "t") else { return false }
        return isDate(Array(bytes[..<10])) && isTime(Array(bytes[11...]))
    }

    static func isDate(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10])
        else { return false }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(month) && (1...days[month - 1]).contains(day)
    }

    static func isTime(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 9, bytes[2] == UInt8(ascii: ":"), bytes[5] == UInt8(ascii: ":"),
            let hour = number(bytes[0..<2]), let minute = number(bytes[3..<5]), let second = number(bytes[6..<8]),
            hour < 24, minute < 60, second <= 60
        else { return false }
        var rest = bytes[8...]
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: ASCII.isDigit)
            if digits.isEmpty { return false }
            rest = rest.dropFirst(1 + digits.count)
        }
        var offset = 0
        switch rest.first {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): if rest.count != 1 { return false }
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            let zone = Array(rest.dropFirst())
            guard zone.count == 5, zone[2] == UInt8(ascii: ":"), let hours = number(zone[0..<2]),
                let minutes = number(zone[3..<5]), hours < 24, minutes < 60
            else { return false }
            offset = (hours * 60 + minutes) * (rest.first == UInt8(ascii: "+") ? 1 : -1)
        default: return false
        }
        // A leap second is the last second of a day in UTC.
        return second < 60 || (hour * 60 + minute - offset + 2_880) % 1_440 == 1_439
    }

    static func isDuration(_ bytes: [UInt8]) -> Bool {
        guard bytes.first == UInt8(ascii: "P") else { return false }
        var rest = bytes[1...]
        let date = units(&rest)
        if date == "W" { return rest.isEmpty }
        guard ["", "Y", "YM", "YMD", "M", "MD", "D"].contains(date) else { return false }
        if rest.isEmpty { return !date.isEmpty }
        guard rest.removeFirst() == UInt8(ascii: "T") else { return false }
        let time = units(&rest)
        return rest.isEmpty && ["H", "HM", "HMS", "M", "MS", "S"].contains(time)
    }

    /// Reads pairs such as `3Y6M`, and returns their letters, `YM`.
    private static func units(_ rest: inout ArraySlice<UInt8>) -> String {
        var letters = ""
        while true {
            let digits = rest.prefix(while: ASCII.isDigit)
            guard !digits.isEmpty, let letter = rest.dropFirst(digits.count).first, ASCII.isLetter(letter),
                letters.count < 4
            else { return letters }
            letters.unicodeScalars.append(Unicode.Scalar(letter))
            rest = rest.dropFirst(digits.count + 1)
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard bytes.allSatisfy(ASCII.isDigit) else { return nil }
        return bytes.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}

/// UUIDs (RFC 4122), URI templates (RFC 6570), JSON Pointers (RFC 6901) and relative ones, and regular expressions.
enum TextFormat {
    static func isUUID(_ bytes: [UInt8]) -> Bool {
        bytes.count == 36
            && bytes.indices.allSatisfy { index in
                [8, 13, 18, 23].contains(index) ? bytes[index] == UInt8(ascii: "-") : ASCII.isHexDigit(bytes[index])
            }
    }

    static func isPointer(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first else { return true }
        guard first == UInt8(ascii: "/") else { return false }
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "~") {
                guard let escape = rest.popFirst(), escape == 0x30 || escape == 0x31 else { return false }
            }
        }
        return true
    }

    /// draft-bhutton-relative-json-pointer-00, section 3.
    static func isRelativePointer(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        guard isInteger(&rest) else { return false }
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") {
            rest.removeFirst()
            guard isInteger(&rest) else { return false }
        }
        return rest.elementsEqual([UInt8(ascii: "#")]) || isPointer(rest)
    }

    /// An integer has no leading zeros.
    private static func isInteger(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let digits = rest.prefix(while: ASCII.isDigit)
        rest = rest.dropFirst(digits.count)
        return digits.first.map { $0 != 0x30 || digits.count == 1 } == true
    }

    /// RFC 6570, section 2. An apostrophe is a literal (erratum 6937).
    static func isURITemplate(_ text: String) -> Bool {
        var scalars = text.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "{":
                guard let end = scalars.firstIndex(of: "}"), isExpression(scalars[..<end]) else { return false }
                scalars = scalars[scalars.index(after: end)...]
            case "%": guard isHex(scalars.popFirst()), isHex(scalars.popFirst()) else { return false }
            case "\u{0}"..." ", "\"", "<", ">", "\\", "^", "`", "|", "}", "\u{7F}": return false
            default: if !scalar.isASCII, !URIFormat.isInternational(scalar, isPrivate: true) { return false }
            }
        }
        return true
    }

    private static func isExpression(_ text: Substring.UnicodeScalarView) -> Bool {
        var text = text
        if let first = text.first, "+#./;?&=,!@|".unicodeScalars.contains(first) { text.removeFirst() }
        return text.split(separator: ",", omittingEmptySubsequences: false).allSatisfy { isVariable($0) }
    }

    private static func isVariable(_ text: Substring.UnicodeScalarView) -> Bool {
        var name = text
        if name.last == "*" {
            name.removeLast()
        } else if let colon = name.firstIndex(of: ":") {
            let length = name[name.index(after: colon)...]
            guard (1...4).contains(length.count), length.first != "0",
                length.allSatisfy({ $0.isASCII && ASCII.isDigit(UInt8($0.value)) })
            else { return false }
            name = name[..<colon]
        }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            var rest = part
            while let scalar = rest.popFirst() {
                if scalar == "%" {
                    guard isHex(rest.popFirst()), isHex(rest.popFirst()) else { return false }
                } else {
                    guard scalar.isASCII, scalar == "_" || ASCII.isAlphanumeric(UInt8(scalar.value)) else {
                        return false
                    }
                }
            }
            return !part.isEmpty
        }
    }

    private static func isHex(_ scalar: Unicode.Scalar?) -> Bool {
        scalar.map { $0.isASCII && ASCII.isHexDigit(UInt8($0.value)) } ?? false
    }
}
