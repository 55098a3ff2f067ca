import ErrandMessageSyntax

/// UUIDs (RFC 4122), URI templates (RFC 6570), JSON Pointers (RFC 6901), relative ones, and regular expressions.
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
        guard isInteger(&rest, allowsZero: true) else { return false }
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") {
            rest.removeFirst()
            guard isInteger(&rest, allowsZero: false) else { return false }
        }
        return rest.elementsEqual([UInt8(ascii: "#")]) || isPointer(rest)
    }

    private static func isInteger(_ rest: inout ArraySlice<UInt8>, allowsZero: Bool) -> Bool {
        let digits = rest.prefix(while: ASCII.isDigit)
        rest = rest.dropFirst(digits.count)
        guard let first = digits.first else { return false }
        return first != 0x30 || allowsZero && digits.count == 1
    }

    /// RFC 6570, section 2; an apostrophe is a literal (erratum 6937).
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
