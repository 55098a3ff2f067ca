/// The exact value of a number that ``JSONGrammar/number(in:from:)`` accepts.
///
/// ```swift
/// let seventy = JSONNumber(Array("7e1".utf8).span).integer      // 70
/// ```
public struct JSONNumber: Sendable {
    private let isNegative: Bool
    /// The first nineteen digits.
    private let mantissa: UInt64
    private let power: Int
    /// Digits from 0 to 9, without leading and trailing zeros. Empty for up to nineteen digits.
    private let digits: [UInt8]

    /// The limit for exponents. Larger exponents are reduced to this limit, which exceeds the number of digits in any
    /// text.
    private static let maximumExponent = Int.max / 16

    private static let maximumDigits = 19

    /// Creates a number from a text that contains only the number.
    public init(_ text: Span<UInt8>) {
        let isNegative = text.count > 0 && text[0] == UInt8(ascii: "-")
        let first = isNegative ? 1 : 0
        var (index, mantissa, power, count) = (first, 0 as UInt64, 0, 0)
        while index < text.count, JSONGrammar.isDigit(text[index]) {
            mantissa = mantissa &* 10 &+ UInt64(truncatingIfNeeded: text[index] &- 0x30)
            index &+= 1
        }
        count = index &- first
        if index < text.count, text[index] == 0x2E {
            index &+= 1
            let point = index
            while index < text.count, JSONGrammar.isDigit(text[index]) {
                mantissa = mantissa &* 10 &+ UInt64(truncatingIfNeeded: text[index] &- 0x30)
                index &+= 1
            }
            power = point &- index
            count &-= power
        }
        let exponent = index < text.count ? Self.exponent(in: text, from: index + 1) : 0
        if count <= Self.maximumDigits {
            self.init(isNegative: isNegative, mantissa: mantissa, power: power + exponent, digits: [])
        } else {
            self.init(isNegative: isNegative, decimal: text.extracting(first..<index), power: power + exponent)
        }
    }

    private init(isNegative: Bool, mantissa: UInt64, power: Int, digits: [UInt8]) {
        (self.isNegative, self.mantissa, self.power, self.digits) = (isNegative, mantissa, power, digits)
    }

    private init(isNegative: Bool, decimal: Span<UInt8>, power: Int) {
        var (digits, power): ([UInt8], Int) = ([], power)
        for index in 0..<decimal.count where decimal[index] != 0x2E {
            if !digits.isEmpty || decimal[index] != 0x30 { digits.append(decimal[index] - 0x30) }
        }
        while digits.last == 0 {
            digits.removeLast()
            power += 1
        }
        let mantissa = digits.prefix(Self.maximumDigits).reduce(0 as UInt64) { $0 * 10 + UInt64($1) }
        self.init(
            isNegative: isNegative, mantissa: mantissa, power: power,
            digits: digits.count <= Self.maximumDigits ? [] : digits)
    }

    /// Returns an exponent's value, from its sign or first digit to the end of the number, limited to
    /// ±`Int.max / 16`.
    public static func exponent(in bytes: Span<UInt8>, from start: Int) -> Int {
        let isNegative = start < bytes.count && bytes[start] == UInt8(ascii: "-")
        var exponent = 0
        for index in start..<bytes.count where JSONGrammar.isDigit(bytes[index]) {
            exponent = min(exponent * 10 + Int(bytes[index] - 0x30), maximumExponent)
        }
        return isNegative ? -exponent : exponent
    }

    // MARK: Integers

    /// Whether the value is zero.
    public var isZero: Bool { mantissa == 0 }

    /// Whether the number is an integer. It may be too large for `Int`.
    public var isIntegral: Bool { isZero || withoutTrailingZeros.power >= 0 }

    /// The value, or `nil` if it isn't an integer or doesn't fit in `Int`. 70, 70.0, and 7e1 are the same integer.
    public var integer: Int? { integer(Int.self) }

    /// Returns the value, or `nil` if it isn't an integer or doesn't fit in the type. Never rounds.
    public func integer<Value: FixedWidthInteger>(_ type: Value.Type) -> Value? {
        if isZero { return 0 }
        let (mantissa, power) = withoutTrailingZeros
        guard power >= 0 else { return nil }
        if digits.isEmpty {
            let short = isNegative ? Value(exactly: -Int128(mantissa)) : Value(exactly: mantissa)
            return short.flatMap { Self.appendingZeros(power, to: $0) }
        }
        var value: Value = 0
        for digit in digits {
            let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let digit = Value(truncatingIfNeeded: digit)
            let (sum, overflows) =
                isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
            if isTooLarge || overflows { return nil }
            value = sum
        }
        return Self.appendingZeros(power, to: value)
    }

    private static func appendingZeros<Value: FixedWidthInteger>(_ count: Int, to value: Value) -> Value? {
        var value = value
        var left = count
        while left > 0 {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            (value, left) = (product, left - 1)
        }
        return value
    }

    private var withoutTrailingZeros: (mantissa: UInt64, power: Int) {
        var (mantissa, power) = (mantissa, power)
        guard digits.isEmpty else { return (mantissa, power) }
        while power < 0, mantissa.isMultiple(of: 10) { (mantissa, power) = (mantissa / 10, power + 1) }
        return (mantissa, power)
    }

    // MARK: Floating point

    /// The nearest `Double`, or infinity if the value is out of range.
    public var double: Double {
        guard digits.isEmpty else { return rounded { Double($0) } ?? .nan }
        if isZero { return isNegative ? -0.0 : 0 }
        if mantissa < 1 << 53, abs(power) <= 22 {
            // Both operands are exact as `Double`, so a single operation rounds correctly.
            let (digits, scale) = (Double(mantissa), Self.powers[abs(power)])
            let value = power < 0 ? digits / scale : digits * scale
            return isNegative ? -value : value
        }
        guard let binary = BinaryFraction(mantissa, power) else { return rounded { Double($0) } ?? .nan }
        let value = Double(binary.significand) * Double(bitPattern: UInt64(1_023 + binary.exponent) << 52)
        return isNegative ? -value : value
    }

    /// The nearest `Float`, or infinity if the value is out of range.
    public var float: Float {
        if isZero { return isNegative ? -0.0 : 0 }
        guard digits.isEmpty, let binary = BinaryFraction(mantissa, power) else {
            return rounded { Float($0) } ?? .nan
        }
        let value = Float(binary.significand) * Float(bitPattern: UInt32(127 + binary.exponent) << 23)
        return isNegative ? -value : value
    }

    /// `read` parses a decimal text with the C library.
    private func rounded<Value>(_ read: (String) -> Value?) -> Value? {
        guard !digits.isEmpty else { return read("\(isNegative ? "-" : "")\(mantissa)e\(power)") }
        // Neither a value nor a midpoint between two values has this many digits, so further digits only decide how a
        // midpoint is rounded.
        let taken = digits.prefix(800)
        var text = String(decoding: taken.map { $0 + 0x30 }, as: UTF8.self)
        var power = power + digits.count - taken.count
        if taken.count < digits.count {
            text += "1"
            power -= 1
        }
        return read("\(isNegative ? "-" : "")\(text)e\(power)")
    }

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20,
        1e21, 1e22,
    ]
}

extension JSONNumber {
    /// Returns the value of a text that is a number, or `nil` for other text.
    public static func double(_ text: [UInt8]) -> Double? {
        guard let first = text.first, first == UInt8(ascii: "-") || JSONGrammar.isDigit(first) else { return nil }
        let text = text[...]
        let end = JSONGrammar.number(in: text.span, from: 0).end
        guard end.fault == .none, end.index == text.count else { return nil }
        return JSONNumber(text.span).double
    }
}

/// A number of at most nineteen digits as 64 bits and a power of two.
///
/// The lowest bit also records whether lower bits were cut off, so converting to a narrower type rounds correctly.
struct BinaryFraction {
    let significand: UInt64
    let exponent: Int

    /// Returns `nil` for zero, and for powers beyond ±19.
    init?(_ mantissa: UInt64, _ power: Int) {
        guard mantissa != 0, abs(power) < Self.powers.count else { return nil }
        if power < 0 {
            let divisor = Self.powers[-power]
            let (above, below) = (mantissa.leadingZeroBitCount, divisor.leadingZeroBitCount)
            let dividend = mantissa << UInt64(above)
            // Can't overflow, because half of the dividend is less than the divisor, whose highest bit is set.
            let (quotient, remainder) = (divisor << UInt64(below)).dividingFullWidth((dividend >> 1, dividend << 63))
            significand = quotient | (remainder == 0 ? 0 : 1)
            exponent = below - above - 63
        } else {
            let (high, low) = mantissa.multipliedFullWidth(by: Self.powers[power])
            guard high != 0 else {
                (significand, exponent) = (low, 0)
                return
            }
            let shift = UInt64(high.leadingZeroBitCount)
            significand = high << shift | low >> (64 - shift) | (low << shift == 0 ? 0 : 1)
            exponent = 64 - Int(shift)
        }
    }

    private static let powers: [UInt64] = (0..<20).map { count in (0..<count).reduce(1) { power, _ in power * 10 } }
}
