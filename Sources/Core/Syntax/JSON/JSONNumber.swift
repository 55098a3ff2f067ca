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

    private var anyInteger: Int? {
        let parts = parts
        guard parts.isIntegral else { return nil }
        var value = 0
        for (index, digit) in parts.digits.enumerated() where index < parts.significant {
            guard add(digit, to: &value) else { return nil }
        }
        // With more than twenty zeros only zero fits.
        for _ in 0..<(value == 0 ? 0 : min(parts.exponent - parts.fractionDigits, 20)) where !add(0, to: &value) {
            return nil
        }
        return value
    }

    /// Whether the number has no fraction, whatever its size.
    public var isIntegral: Bool { parts.isIntegral }

    /// The nearest `Double`; infinite beyond its range.
    public var double: Double {
        let parts = parts
        let exponent = parts.exponent - parts.fractionDigits
        if parts.significant <= 15, abs(exponent) <= 22 {
            // Both are exact, so that the single operation rounds correctly.
            var mantissa: Int64 = 0
            for (index, digit) in parts.digits.enumerated() where index < parts.significant {
                mantissa = mantissa * 10 + Int64(digit)
            }
            let value =
                exponent < 0
                ? Double(mantissa) / Self.powers[-exponent] : Double(mantissa) * Self.powers[exponent]
            return isNegative ? -value : value
        }
        // Further digits are below the precision of a Double; a text may have millions of them.
        let taken = min(parts.significant, 800)
        let digits = String(decoding: parts.digits.prefix(taken).map { UInt8($0) + 0x30 }, as: UTF8.self)
        let scaled = "\(isNegative ? "-" : "")0\(digits)e\(exponent + parts.significant - taken)"
        return Double(scaled) ?? .nan
    }

    /// Larger exponents count as this one: it is beyond any number of digits that a text can have, and small enough for one
    /// more digit in an `Int` of any width.
    public static let largestExponent = Int.max / 16

    private static let powers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20,
        1e21, 1e22,
    ]

    private var isNegative: Bool { start.pointee == 0x2D }

    private func add(_ digit: Int, to value: inout Int) -> Bool {
        let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
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
            p += 1
            let isNegative = p < end && p.pointee == 0x2D
            var exponent = 0
            while p < end {
                if JSONGrammar.isDigit(p.pointee) {
                    exponent = min(exponent * 10 + Int(p.pointee - 0x30), Self.largestExponent)
                }
                p += 1
            }
            parts.exponent = isNegative ? -exponent : exponent
        }
        return parts
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
