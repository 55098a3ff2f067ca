import ErrandMessageSyntax

/// Numbers of JSON (RFC 8259, section 6) in one form for each value, without loss: `1`, `1.0` and `10e-1` are one
/// number.
enum JSONNumberText {
    /// The digits without zeros at their ends, and the power of ten of the last one: `1e0`. Text that is no number, and
    /// a number whose exponent has more than 15 digits, stays as it is written.
    static func normal(_ text: String) -> String {
        var rest = Array(text.utf8)[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest = rest.dropFirst() }
        let whole = rest.prefix(while: ASCII.isDigit)
        rest = rest.dropFirst(whole.count)
        guard !whole.isEmpty else { return text }
        var fraction: ArraySlice<UInt8> = []
        if rest.first == UInt8(ascii: ".") {
            fraction = rest.dropFirst().prefix(while: ASCII.isDigit)
            rest = rest.dropFirst(1 + fraction.count)
        }
        let digits = (whole + fraction).drop { $0 == UInt8(ascii: "0") }
        let zeros = digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        guard let exponent = exponent(rest, isZero: digits.isEmpty) else { return text }
        if digits.isEmpty { return "0" }
        let power = exponent - Int64(fraction.count) + Int64(zeros)
        return (isNegative ? "-" : "") + String(decoding: digits.dropLast(zeros), as: UTF8.self) + "e\(power)"
    }

    /// Nil for text that is no exponent, or too long to calculate with; for zero any exponent is accepted.
    private static func exponent(_ text: ArraySlice<UInt8>, isZero: Bool) -> Int64? {
        guard let mark = text.first else { return 0 }
        guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return nil }
        var digits = text.dropFirst()
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        guard !digits.isEmpty, digits.allSatisfy(ASCII.isDigit) else { return nil }
        digits = digits.drop { $0 == UInt8(ascii: "0") }
        if isZero { return 0 }
        guard digits.count <= 15 else { return nil }
        let value = digits.reduce(into: Int64(0)) { $0 = $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        return isNegative ? -value : value
    }
}
