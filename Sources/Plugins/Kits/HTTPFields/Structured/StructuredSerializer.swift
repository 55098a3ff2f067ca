import ErrandEssentials
import ErrandMessageSyntax

/// RFC 9651, section 4.1.
enum StructuredSerializer {
    typealias Failure = StructuredField.SerializationError

    static func parameters(_ parameters: StructuredField.Parameters) throws(Failure) -> String {
        var result = ""
        for (name, value) in parameters.all {
            result += ";" + (try key(name))
            if value != .boolean(true) { result += "=" + (try bareItem(value)) }
        }
        return result
    }

    static func key(_ key: String) throws(Failure) -> String {
        guard let first = key.utf8.first, StructuredParser.beginsKey(first), key.utf8.allSatisfy(StructuredParser.isKey)
        else { throw Failure(description: "\(key.debugDescription) isn't a valid structured field key") }
        return key
    }

    static func bareItem(_ item: StructuredField.BareItem) throws(Failure) -> String {
        switch item {
        case .integer(let value): return try integer(value)
        case .decimal(let value):
            guard value.thousandths.magnitude <= 999_999_999_999_999 else {
                throw Failure(description: "\(value) has more than 12 digits before the point")
            }
            return value.description
        case .string(let text):
            guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
                throw Failure(description: "a string contains a character other than printable ASCII")
            }
            return QuotedString.quoted(text)
        case .token(let text):
            guard let first = text.utf8.first, StructuredParser.beginsToken(first),
                text.utf8.allSatisfy(StructuredParser.isToken)
            else { throw Failure(description: "\(text.debugDescription) isn't a valid structured field token") }
            return text
        case .bytes(let data): return ":\(data.base64EncodedString()):"
        case .boolean(let value): return value ? "?1" : "?0"
        case .date(let seconds): return "@" + (try integer(seconds))
        case .displayString(let text):
            var result = "%\""
            for byte in text.utf8 {
                let isPlain = byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "\"")
                if isPlain {
                    result.unicodeScalars.append(Unicode.Scalar(byte))
                } else {
                    result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
                }
            }
            return result + "\""
        }
    }

    private static func integer(_ value: Int64) throws(Failure) -> String {
        guard value.magnitude <= 999_999_999_999_999 else {
            throw Failure(description: "\(value) has more than 15 digits")
        }
        return "\(value)"
    }
}
