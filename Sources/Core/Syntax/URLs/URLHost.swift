import ErrandEssentials

/// Parses the host of a URL according to the WHATWG standard (section 3.5).
enum URLHost {
    /// Parses a host. `isOpaque` is true for an unknown scheme, whose host can be any text.
    static func parse(
        _ text: ArraySlice<UInt8>, isOpaque: Bool, table: InternationalName.Table
    ) throws(URLSyntax.Fault) -> [UInt8] {
        if text.first == UInt8(ascii: "[") {
            guard text.last == UInt8(ascii: "]") else {
                throw URLSyntax.Fault(description: "the host begins with [ but has no closing ]")
            }
            return try literal(text.dropFirst().dropLast())
        }
        if isOpaque {
            if text.contains(where: isForbidden) { throw forbidden }
            return URLPart.opaqueHost.encoded(text)
        }
        let name = try name(URLPart.decoded(text), table)
        guard !name.isEmpty else { throw URLSyntax.Fault(description: "the URL has no host") }
        if name.contains(where: { isForbidden($0) || $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "%") }) {
            throw forbidden
        }
        if endsInNumber(name) { return dotted(try address(name)) }
        return name
    }

    private static var forbidden: URLSyntax.Fault {
        URLSyntax.Fault(description: "the host has a character that isn't allowed in host names")
    }

    /// Whether the byte is one of the standard's forbidden host code points.
    private static func isForbidden(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x00, 0x09, 0x0A, 0x0D, 0x20, UInt8(ascii: "#"), UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "<"),
            UInt8(ascii: ">"), UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "[")...UInt8(ascii: "^"),
            UInt8(ascii: "|"):
            true
        default: false
        }
    }

    /// Returns a host name in ASCII. Keeps Punycode labels.
    private static func name(_ bytes: [UInt8], _ table: InternationalName.Table) throws(URLSyntax.Fault) -> [UInt8] {
        if bytes.allSatisfy({ $0 < 0x80 }) { return bytes.map(ASCII.lowercase) }
        guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(where: isForbidden) else {
            throw forbidden
        }
        return try InternationalName.ascii(text, table: table).utf8.map(ASCII.lowercase)
    }

    // MARK: IPv4

    /// Whether the last label is a number. The host must then be an address.
    private static func endsInNumber(_ name: [UInt8]) -> Bool {
        var name = name[...]
        if name.last == UInt8(ascii: ".") { name = name.dropLast() }
        let last = name[(name.lastIndex(of: UInt8(ascii: ".")).map { $0 + 1 } ?? name.startIndex)...]
        return !last.isEmpty && (last.allSatisfy(ASCII.isDigit) || number(last) != nil)
    }

    /// Parses an IPv4 address of one to four numbers, each of them decimal, octal or hexadecimal.
    private static func address(_ name: [UInt8]) throws(URLSyntax.Fault) -> UInt32 {
        var name = name[...]
        if name.last == UInt8(ascii: ".") { name = name.dropLast() }
        let fault = URLSyntax.Fault(description: "the host ends in a number, but isn't a valid IPv4 address")
        var address: UInt64 = 0
        let parts = name.split(separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
        guard let last = parts.last, parts.count <= 4 else { throw fault }
        for (place, part) in parts.dropLast().enumerated() {
            guard let number = number(part), number <= 255 else { throw fault }
            address |= number << UInt64(24 - 8 * place)
        }
        guard let number = number(last), number < 1 << UInt64(8 * (5 - parts.count)) else { throw fault }
        return UInt32(address | number)
    }

    /// Parses a number. Caps the result at 2^40, which is too large for any part of an address.
    private static func number(_ text: ArraySlice<UInt8>) -> UInt64? {
        var (digits, radix) = (text, UInt64(10))
        if text.isEmpty { return nil }
        if text.count >= 2, text.first == UInt8(ascii: "0") {
            let isHexadecimal = text[text.startIndex + 1] | 0x20 == UInt8(ascii: "x")
            (digits, radix) = isHexadecimal ? (text.dropFirst(2), 16) : (text.dropFirst(), 8)
        }
        var number: UInt64 = 0
        for byte in digits {
            guard let digit = ASCII.hexValue(byte), UInt64(digit) < radix else { return nil }
            number = min(number * radix + UInt64(digit), 1 << 40)
        }
        return number
    }

    private static func dotted(_ address: UInt32) -> [UInt8] {
        Array([24, 16, 8, 0].map { String(address >> $0 & 0xFF) }.joined(separator: ".").utf8)
    }

    // MARK: IPv6

    private static func literal(_ text: ArraySlice<UInt8>) throws(URLSyntax.Fault) -> [UInt8] {
        if text.contains(UInt8(ascii: "%")) {
            throw URLSyntax.Fault(
                description: "the host's IPv6 address has a zone, which is valid only on the server's own machine")
        }
        guard let pieces = pieces(text) else {
            throw URLSyntax.Fault(description: "the host in brackets isn't an IPv6 address")
        }
        return [UInt8(ascii: "[")] + Array(shortest(pieces).utf8) + [UInt8(ascii: "]")]
    }

    private static func pieces(_ text: ArraySlice<UInt8>) -> [UInt16]? {
        // `front` contains the pieces before `::`, and `back` the pieces after it. `::` represents all missing zeros,
        // so it can occur only once.
        var (front, back): ([UInt16], [UInt16]?) = ([], nil)
        var rest = text
        if rest.starts(with: "::".utf8) {
            rest = rest.dropFirst(2)
            back = []
        }
        while !rest.isEmpty {
            guard front.count + (back?.count ?? 0) < 8 else { return nil }
            let digits = rest.prefix(4).prefix(while: ASCII.isHexDigit)
            if digits.endIndex < rest.endIndex, rest[digits.endIndex] == UInt8(ascii: ".") {
                guard let tail = dottedTail(rest) else { return nil }
                if back == nil { front += tail } else { back? += tail }
                break
            }
            let piece = digits.reduce(UInt16(0)) { $0 << 4 | UInt16(ASCII.hexValue($1) ?? 0) }
            guard !digits.isEmpty else { return nil }
            if back == nil { front.append(piece) } else { back?.append(piece) }
            rest = rest[digits.endIndex...]
            if rest.isEmpty { break }
            guard rest.first == UInt8(ascii: ":") else { return nil }
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: ":") {
                if back != nil { return nil }
                back = []
                rest = rest.dropFirst()
            } else if rest.isEmpty {
                return nil
            }
        }
        let count = front.count + (back?.count ?? 0)
        guard let back else { return count == 8 ? front : nil }
        return count < 8 ? front + Array(repeating: 0, count: 8 - count) + back : nil
    }

    private static func dottedTail(_ text: ArraySlice<UInt8>) -> [UInt16]? {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 4, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var numbers: [UInt16] = []
        for part in parts {
            guard (1...3).contains(part.count), part.allSatisfy(ASCII.isDigit),
                part.count == 1 || part.first != UInt8(ascii: "0")
            else { return nil }
            let number = part.reduce(UInt16(0)) { $0 * 10 + UInt16($1 - UInt8(ascii: "0")) }
            guard number <= 255 else { return nil }
            numbers.append(number)
        }
        return [numbers[0] << 8 | numbers[1], numbers[2] << 8 | numbers[3]]
    }

    private static func shortest(_ pieces: [UInt16]) -> String {
        var longest = 0..<0
        var start = 0
        for index in 0...pieces.count where index == pieces.count || pieces[index] != 0 {
            if index - start > max(1, longest.count) { longest = start..<index }
            start = index + 1
        }
        func text(_ pieces: ArraySlice<UInt16>) -> String {
            pieces.map { String($0, radix: 16) }.joined(separator: ":")
        }
        if longest.isEmpty { return text(pieces[...]) }
        return text(pieces[..<longest.lowerBound]) + "::" + text(pieces[longest.upperBound...])
    }
}

/// Converts internationalized host names to ASCII (UTS 46, RFC 5891): `例え.jp` becomes `xn--r8jz45g.jp`. Uses libidn2 on
/// Linux, or Foundation's character table on Apple platforms and in programs that link Foundation.
package enum InternationalName {
    package enum Table: Sendable {
        case system
        /// Behaves like a system without libidn2, for tests.
        case missing
    }

    /// The maximum length in bytes, before and after conversion. DNS allows 253 ASCII characters, and each of them can
    /// come from at most three bytes.
    private static let maximumLength = 1024

    static func ascii(_ name: String, table: Table) throws(URLSyntax.Fault) -> String {
        guard name.utf8.count <= maximumLength, !name.utf8.contains(0) else { throw refusal(name) }
        if table == .system {
            switch HostName.converted(name, maximumLength: maximumLength) {
            case .done(let host): return host
            case .refused: throw refusal(name)
            case .missing: break
            }
            if let host = foundation(name) { return host }
            #if canImport(Darwin)
            throw refusal(name)
            #endif
        }
        throw URLSyntax.Fault(
            description:
                "the host \(name.debugDescription) isn't ASCII, and this system can't convert it to Punycode: "
                + "libidn2 is missing")
    }

    private static func foundation(_ name: String) -> String? {
        guard let url = URL(string: "http://\(name)/"), let host = url.host(percentEncoded: true),
            // The URL must not change, because Foundation maps some characters to a slash or another separator.
            url.absoluteString == "http://\(host)/", host.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") })
        else { return nil }
        return host
    }

    private static func refusal(_ name: String) -> URLSyntax.Fault {
        URLSyntax.Fault(
            description:
                "the host \(String(name.prefix(200)).debugDescription) has a character that isn't allowed in host names"
        )
    }
}
