import ErrandEssentials

/// Writes JSON without line breaks, because an event in an event stream can't contain them in a data line.
struct JSONText {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false

    mutating func object(_ body: (inout JSONText) -> Void) { nested(open: "{", close: "}", body) }

    mutating func array<Element>(_ elements: some Sequence<Element>, _ body: (inout JSONText, Element) -> Void) {
        nested(open: "[", close: "]") { text in for element in elements { body(&text, element) } }
    }

    private mutating func nested(open: Character, close: Character, _ body: (inout JSONText) -> Void) {
        comma()
        bytes += open.utf8
        needsComma = false
        body(&self)
        bytes += close.utf8
        needsComma = true
    }

    private mutating func key(_ name: StaticString) {
        comma()
        quote("\(name)")
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Members. Nil values are left out.

    mutating func add(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        add(value)
    }

    mutating func add(_ name: StaticString, _ value: (some BinaryInteger)?) {
        guard let value else { return }
        key(name)
        raw("\(value)")
    }

    mutating func add(_ name: StaticString, _ value: Bool?) {
        guard let value else { return }
        key(name)
        raw(value ? "true" : "false")
    }

    /// Adds a duration in milliseconds, with three decimals.
    mutating func add(_ name: StaticString, _ value: Duration?) {
        guard let value else { return }
        key(name)
        add(value)
    }

    mutating func object(_ name: StaticString, _ body: (inout JSONText) -> Void) {
        key(name)
        object(body)
    }

    mutating func array<Element>(
        _ name: StaticString, of elements: some Sequence<Element>, _ body: (inout JSONText, Element) -> Void
    ) {
        key(name)
        array(elements, body)
    }

    // MARK: Elements

    mutating func add(_ value: String) {
        comma()
        quote(value)
        needsComma = true
    }

    mutating func add(_ value: Duration?) {
        guard let value else { return raw("null") }
        let microseconds = Int64((value / .microseconds(1)).rounded())
        let (whole, rest) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1000)
        let digits = String(rest)
        let sign = microseconds < 0 ? "-" : ""
        raw("\(sign)\(whole)" + (rest == 0 ? "" : "." + String(repeating: "0", count: 3 - digits.count) + digits))
    }

    private mutating func raw(_ text: String) {
        comma()
        bytes += text.utf8
        needsComma = true
    }

    private mutating func comma() { if needsComma { bytes.append(UInt8(ascii: ",")) } }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0A: bytes += "\\n".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x09: bytes += "\\t".utf8
            case 0..<0x20, 0x7F:
                let digits = String(byte, radix: 16)
                bytes += ("\\u00" + (digits.count < 2 ? "0" : "") + digits).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
