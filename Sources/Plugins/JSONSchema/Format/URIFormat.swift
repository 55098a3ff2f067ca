import ErrandMessageSyntax

/// URIs, IRIs and references to them (RFC 3986, appendix A, and RFC 3987, section 2.2).
enum URIFormat {
    static func isURI(_ text: String, isReference: Bool, isInternational: Bool) -> Bool {
        let parts = URIReference(text)
        let check = Check(isInternational: isInternational)
        if let scheme = parts.scheme {
            guard let first = scheme.utf8.first, ASCII.isLetter(first),
                scheme.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || "+-.".utf8.contains($0) })
            else { return false }
        } else {
            guard isReference, !text.hasPrefix(":") else { return false }
            // The text before a colon in the first segment would be a scheme.
            if parts.authority == nil, parts.path.prefix(while: { $0 != "/" }).contains(":") { return false }
        }
        if let authority = parts.authority, !check.isAuthority(authority) { return false }
        return check.isText(parts.path, ":@/") && check.isText(parts.query ?? "", ":@/?", isQuery: true)
            && check.isText(parts.fragment ?? "", ":@/?")
    }

    struct Check {
        let isInternational: Bool

        /// Allows unreserved characters, delimiters, escapes and the given characters.
        func isText(_ text: Substring, _ more: String, isQuery: Bool = false) -> Bool {
            var scalars = text.unicodeScalars[...]
            while let scalar = scalars.popFirst() {
                guard scalar.isASCII else {
                    guard isInternational, URIFormat.isInternational(scalar, isPrivate: isQuery) else { return false }
                    continue
                }
                let byte = UInt8(scalar.value)
                if byte == UInt8(ascii: "%") {
                    for _ in 0..<2 {
                        guard let digit = scalars.popFirst(), digit.isASCII, ASCII.isHexDigit(UInt8(digit.value)) else {
                            return false
                        }
                    }
                } else if !ASCII.isUnreserved(byte), !"!$&'()*+,;=".utf8.contains(byte), !more.utf8.contains(byte) {
                    return false
                }
            }
            return true
        }

        func isAuthority(_ authority: Substring) -> Bool {
            var rest = authority
            if let at = rest.lastIndex(of: "@") {
                guard isText(rest[..<at], ":") else { return false }
                rest = rest[rest.index(after: at)...]
            }
            if rest.hasPrefix("[") {
                guard let end = rest.firstIndex(of: "]") else { return false }
                let literal = rest[rest.index(after: rest.startIndex)..<end]
                guard isLiteral(literal) else { return false }
                rest = rest[rest.index(after: end)...]
                return rest.isEmpty || rest.hasPrefix(":") && rest.dropFirst().utf8.allSatisfy(ASCII.isDigit)
            }
            if let colon = rest.lastIndex(of: ":") {
                guard rest[rest.index(after: colon)...].utf8.allSatisfy(ASCII.isDigit) else { return false }
                rest = rest[..<colon]
            }
            return isText(rest, "")
        }

        private func isLiteral(_ literal: Substring) -> Bool {
            let bytes = Array(literal.utf8)
            if bytes.first == UInt8(ascii: "v") || bytes.first == UInt8(ascii: "V") {
                let version = bytes.dropFirst().prefix(while: ASCII.isHexDigit)
                let rest = bytes.dropFirst(1 + version.count)
                return !version.isEmpty && rest.first == UInt8(ascii: ".") && rest.count > 1
                    && rest.dropFirst().allSatisfy { ASCII.isUnreserved($0) || "!$&'()*+,;=:".utf8.contains($0) }
            }
            return AddressFormat.isIPv6(bytes[...])
        }
    }

    /// `ucschar` and, if `isPrivate`, `iprivate` of RFC 3987, section 2.2.
    static func isInternational(_ scalar: Unicode.Scalar, isPrivate: Bool) -> Bool {
        switch scalar.value {
        case 0xA0...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFEF: true
        case 0x1_0000...0xE_FFFD: scalar.value & 0xFFFF < 0xFFFE && !(0xE_0000...0xE_0FFF).contains(scalar.value)
        case 0xE000...0xF8FF, 0xF_0000...0xF_FFFD, 0x10_0000...0x10_FFFD: isPrivate
        default: false
        }
    }
}
