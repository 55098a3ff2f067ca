/// The value of a number that ``JSONGrammar/number(_:_:)`` has accepted.
///
/// ```swift
/// let seventy = Array("7e1".utf8).withUnsafeBufferPointer { text -> Int? in
///     guard let start = text.baseAddress else { return nil }
///     return JSONNumber(start: start, end: start + text.count).integer      // 70
/// }
/// ```
///
/// It holds addresses, so that nothing is copied: the text has to outlive it.
public struct JSONNumber {
    /// The minus sign or the first digit.
    public let start: UnsafePointer<UInt8>
    /// Behind the last digit.
    public let end: UnsafePointer<UInt8>

    /// The number between two places of a text.
    public init(start: UnsafePointer<UInt8>, end: UnsafePointer<UInt8>) {
        self.start = start
        self.end = end
    }

    /// The value if it has no fraction and fits `Int`: 70, 70.0 and 7e1 alike; else nil.
    public var integer: Int? { shortInteger ?? anyInteger }

    /// The common case: only digits, and too few of them to overflow.
    private var shortInteger: Int? {
        guard end - start <= 18 else { return nil }
        var value: Int64 = 0
        var p = isNegative ? start + 1 : start
        while p < end {
            guard JSONGrammar.isDigit(p.pointee) else { return nil }
            value = value * 10 + Int64(p.pointee - 0x30)
            p += 1
        }
        return Int(exactly: isNegative ? -value : value)
    }

    private var anyInteger: Int? { integer(Int.self) }

    /// The value in a type of any width if it has no fraction and fits; else nil. Nothing is rounded.
    public func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        let parts = parts
        guard parts.isIntegral else { return nil }
        var value: Value = 0
        for (index, digit) in parts.digits.enumerated() where index < parts.significant {
            guard add(digit, to: &value) else { return nil }
        }
        // With more than forty zeros only zero fits.
        for _ in 0..<(value == 0 ? 0 : min(parts.exponent - parts.fractionDigits, 40)) where !add(0, to: &value) {
            return nil
        }
        return value
    }

    /// Whether the value is zero.
    public var isZero: Bool { parts.significant == 0 }

    /// Whether the number has no fraction, whatever its size.
    public var isIntegral: Bool { parts.isIntegral }

    /// The nearest `Double`; infinite beyond its range.
    public var double: Double {
        guard let short = shortDecimal else { return rounded { Double($0) } ?? .nan }
        if short.mantissa < 1 << 53, abs(short.exponent) <= 22 {
            // Both are exact, so that the single operation rounds correctly.
            let (mantissa, power) = (Double(short.mantissa), Self.powers[abs(short.exponent)])
            let value = short.exponent < 0 ? mantissa / power : mantissa * power
            return isNegative ? -value : value
        }
        guard let binary = BinaryFraction(short.mantissa, short.exponent) else { return rounded { Double($0) } ?? .nan }
        let value = Double(binary.significand) * Double(bitPattern: UInt64(1_023 + binary.exponent) << 52)
        return isNegative ? -value : value
    }

    /// The nearest `Float`; infinite beyond its range.
    public var float: Float {
        guard let short = shortDecimal, let binary = BinaryFraction(short.mantissa, short.exponent) else {
            return rounded { Float($0) } ?? .nan
        }
        let value = Float(binary.significand) * Float(bitPattern: UInt32(127 + binary.exponent) << 23)
        return isNegative ? -value : value
    }

    /// The digits as one number, with a power of ten; nil for more than nineteen digits.
    private var shortDecimal: (mantissa: UInt64, exponent: Int)? {
        var p = isNegative ? start + 1 : start
        let first = p
        var (mantissa, exponent): (UInt64, Int) = (0, 0)
        while p < end, JSONGrammar.isDigit(p.pointee) {
            mantissa = mantissa &* 10 &+ UInt64(truncatingIfNeeded: p.pointee &- 0x30)
            p += 1
        }
        var digits = p - first
        if p < end, p.pointee == 0x2E {
            p += 1
            let point = p
            while p < end, JSONGrammar.isDigit(p.pointee) {
                mantissa = mantissa &* 10 &+ UInt64(truncatingIfNeeded: p.pointee &- 0x30)
                p += 1
            }
            exponent = point - p
            digits -= exponent
        }
        guard digits <= 19 else { return nil }
        if p < end { exponent += Self.exponent(p + 1, end) }
        return (mantissa, exponent)
    }

    /// The value by the C library.
    private func rounded<Value>(_ read: (String) -> Value?) -> Value? {
        let parts = parts
        // No value and no middle between two has so many digits; whether there are more decides at most how a middle
        // rounds.
        let taken = min(parts.significant, 800)
        var digits = String(decoding: parts.digits.prefix(taken).map { UInt8($0) + 0x30 }, as: UTF8.self)
        var exponent = parts.exponent - parts.fractionDigits + parts.significant - taken
        if taken < parts.significant {
            digits += "1"
            exponent -= 1
        }
        return read("\(isNegative ? "-" : "")0\(digits)e\(exponent)")
    }

    /// Larger exponents count as this one: it is beyond any number of digits that a text can have, and small enough for
    /// one more digit in an `Int` of any width.
    public static let maximumExponent = Int.max / 16

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20,
        1e21, 1e22,
    ]

    private var isNegative: Bool { start.pointee == 0x2D }

    private func add<Value: FixedWidthInteger>(_ digit: Int, to value: inout Value) -> Bool {
        let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
        let digit = Value(truncatingIfNeeded: digit)
        let (sum, over) = isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
        value = sum
        return !overflow && !over
    }

    private struct Parts {
        var digits: Digits
        /// The number of digits of the mantissa up to the last one that is not zero.
        var significant = 0
        /// How many of these digits are in the fraction.
        var fractionDigits = 0
        var exponent = 0

        var isIntegral: Bool { significant == 0 || exponent >= fractionDigits }
    }

    private var parts: Parts {
        var parts = Parts(digits: Digits(p: isNegative ? start + 1 : start, end: end))
        var p = parts.digits.p
        var (seen, whole, isFraction) = (0, 0, false)
        while p < end, p.pointee | 0x20 != 0x65 {
            if p.pointee == 0x2E {
                isFraction = true
            } else {
                seen += 1
                if !isFraction { whole += 1 }
                if p.pointee != 0x30 { parts.significant = seen }
            }
            p += 1
        }
        // Digits after the point if positive, zeros before it if negative.
        parts.fractionDigits = parts.significant - whole
        if p < end {
            parts.exponent = Self.exponent(p + 1, end)
        }
        return parts
    }

    /// The value of an exponent, from its sign or first digit to the end of its number: at most ``maximumExponent``,
    /// either way.
    public static func exponent(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int {
        var p = start
        let isNegative = p < end && p.pointee == 0x2D
        var exponent = 0
        while p < end {
            if JSONGrammar.isDigit(p.pointee) {
                exponent = min(exponent * 10 + Int(p.pointee - 0x30), maximumExponent)
            }
            p += 1
        }
        return isNegative ? -exponent : exponent
    }

    /// The digits of the mantissa.
    private struct Digits: Sequence, IteratorProtocol {
        var p: UnsafePointer<UInt8>
        let end: UnsafePointer<UInt8>

        mutating func next() -> Int? {
            if p < end, p.pointee == 0x2E { p += 1 }
            guard p < end, JSONGrammar.isDigit(p.pointee) else { return nil }
            defer { p += 1 }
            return Int(p.pointee - 0x30)
        }
    }
}
