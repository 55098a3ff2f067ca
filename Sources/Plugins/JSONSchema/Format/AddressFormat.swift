import ErrandMessageSyntax

/// Email addresses (RFC 5321, section 4.1.2, and RFC 6531) and IP addresses (RFC 2673 and RFC 4291).
enum AddressFormat {
    static func isEmail(_ bytes: [UInt8], isInternational: Bool) -> Bool {
        guard let at = bytes.lastIndex(of: UInt8(ascii: "@")) else { return false }
        let (local, domain) = (bytes[..<at], bytes[(at + 1)...])
        if !isInternational, bytes.contains(where: { $0 >= 0x80 }) { return false }
        guard isLocal(local) else { return false }
        guard domain.first == UInt8(ascii: "["), domain.last == UInt8(ascii: "]") else {
            let text = String(decoding: domain, as: UTF8.self)
            return isInternational ? HostnameFormat.isInternational(text) : HostnameFormat.isHostname(Array(domain))
        }
        let literal = domain.dropFirst().dropLast()
        if String(decoding: literal.prefix(5), as: UTF8.self).lowercased() == "ipv6:" {
            return isIPv6(literal.dropFirst(5))
        }
        return isIPv4(literal, allowsLeadingZeros: true)
    }

    private static func isLocal(_ local: ArraySlice<UInt8>) -> Bool {
        if local.count >= 2, local.first == 0x22, local.last == 0x22 {
            var rest = local.dropFirst().dropLast()
            while let byte = rest.popFirst() {
                if byte == 0x5C {
                    guard let escaped = rest.popFirst(), escaped >= 0x20, escaped < 0x7F else { return false }
                } else if byte < 0x20 || byte == 0x22 || byte == 0x7F {
                    return false
                }
            }
            return true
        }
        return local.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.allSatisfy { $0 >= 0x80 || isAtomText($0) }
        }
    }

    private static func isAtomText(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || "!#$%&'*+-/=?^_`{|}~".utf8.contains(byte)
    }

    /// - Parameter allowsLeadingZeros: Whether a part may be written as `01`, as in the domain of an email address (RFC
    ///   5321, section 4.1.3).
    static func isIPv4(_ bytes: ArraySlice<UInt8>, allowsLeadingZeros: Bool = false) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                guard (1...3).contains(part.count), part.allSatisfy(ASCII.isDigit),
                    allowsLeadingZeros || part.count == 1 || part.first != 0x30
                else { return false }
                return part.reduce(0) { $0 * 10 + Int($1 - 0x30) } < 256
            }
    }

    static func isIPv6(_ bytes: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: bytes, as: UTF8.self)
        guard bytes.allSatisfy({ ASCII.isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }) else {
            return false
        }
        var halves: [Substring] = []
        if let gap = text.firstRange(of: "::") {
            halves = [text[..<gap.lowerBound], text[gap.upperBound...]]
            // Rejects a second `::` and `:::`.
            if halves[1].contains("::") || halves[1].hasPrefix(":") { return false }
        } else {
            halves = [text[...]]
        }
        var groups = 0
        for (index, half) in halves.enumerated() where !half.isEmpty {
            let parts = half.split(separator: ":", omittingEmptySubsequences: false)
            for (number, part) in parts.enumerated() {
                let isLast = index == halves.count - 1 && number == parts.count - 1
                if isLast, part.contains(".") {
                    if !isIPv4(Array(part.utf8)[...]) { return false }
                    groups += 2
                } else {
                    guard (1...4).contains(part.utf8.count), !part.contains(".") else { return false }
                    groups += 1
                }
            }
        }
        return halves.count == 2 ? groups <= 7 : groups == 8
    }
}
