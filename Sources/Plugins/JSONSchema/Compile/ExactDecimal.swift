import ErrandJSONSyntax
import ErrandJSONValidation

/// A JSON number as `mantissa * 10^exponent`. The mantissa doesn't end in zero.
struct ExactDecimal: Sendable, Hashable {
    private(set) var isNegative = false
    /// The mantissa if it has at most 18 digits, otherwise 0.
    private(set) var short: UInt64 = 0
    /// The digits of a longer mantissa, otherwise empty.
    private(set) var long: [UInt8] = []
    private(set) var exponent = 0

    /// The range must contain a valid JSON number.
    init(_ text: Span<UInt8>, _ range: Range<Int>) {
        let end = range.upperBound
        var p = range.lowerBound
        if p < end, text[p] == UInt8(ascii: "-") {
            isNegative = true
            p += 1
        }
        let first = p
        // Zeros are added to the mantissa only when a nonzero digit follows them, so the mantissa doesn't end in zero.
        var (significant, zeros, isFraction, fraction) = (0, 0, false, 0)
        while p < end, text[p] | 0x20 != UInt8(ascii: "e") {
            let byte = text[p]
            p += 1
            if byte == UInt8(ascii: ".") {
                isFraction = true
                continue
            }
            if isFraction { fraction += 1 }
            if byte == 0x30 {
                if significant > 0 { zeros += 1 }
                continue
            }
            significant += zeros + 1
            if significant <= 18 {
                for _ in 0...zeros { short *= 10 }
                short += UInt64(byte - 0x30)
            }
            zeros = 0
        }
        if significant == 0 {
            isNegative = false
            return
        }
        if significant > 18 {
            (short, long) = (0, Self.digits(text, in: first..<p, count: significant))
        }
        exponent = (p < end ? JSONNumber.exponent(in: text.extracting(..<end), from: p + 1) : 0) + zeros - fraction
    }

    private static func digits(_ text: Span<UInt8>, in range: Range<Int>, count: Int) -> [UInt8] {
        var digits: [UInt8] = []
        digits.reserveCapacity(count)
        for index in range where digits.count < count {
            let digit = text[index] &- 0x30
            if text[index] != 0x2E, digit != 0 || !digits.isEmpty { digits.append(digit) }
        }
        return digits
    }

    var isZero: Bool { short == 0 && long.isEmpty }
    var isIntegral: Bool { exponent >= 0 }
    var isShort: Bool { long.isEmpty }

    var digitCount: Int {
        if !isShort { return long.count }
        var (count, rest) = (0, short)
        while rest > 0 { (count, rest) = (count + 1, rest / 10) }
        return count
    }

    var integer: Int? { shortInteger.flatMap(Int.init(exactly:)) }

    /// `nil` if the value has a fraction or more than 18 digits.
    var shortInteger: Int64? {
        guard isShort, exponent >= 0, isZero || digitCount + exponent <= 18 else { return nil }
        var value = Int64(short)
        for _ in 0..<exponent { value *= 10 }
        return isNegative ? -value : value
    }

    // MARK: Order

    static func < (a: ExactDecimal, b: ExactDecimal) -> Bool {
        if a.isNegative != b.isNegative { return a.isNegative }
        return a.isNegative ? b.isSmaller(a) : a.isSmaller(b)
    }

    /// Compares magnitudes, without the signs.
    private func isSmaller(_ other: ExactDecimal) -> Bool {
        if isZero || other.isZero { return isZero && !other.isZero }
        let (mine, others) = (digitCount, other.digitCount)
        if mine + exponent != other.exponent + others { return mine + exponent < other.exponent + others }
        if isShort, other.isShort {
            // The first digits of both numbers have the same power of ten, so aligning the mantissas takes fewer than
            // 18 zeros.
            var (a, b) = (short, other.short)
            for _ in 0..<max(0, others - mine) { a *= 10 }
            for _ in 0..<max(0, mine - others) { b *= 10 }
            return a < b
        }
        return allDigits.lexicographicallyPrecedes(other.allDigits)
    }

    private var allDigits: [UInt8] {
        if !isShort { return long }
        var (digits, rest) = ([UInt8](), short)
        while rest > 0 {
            digits.append(UInt8(rest % 10))
            rest /= 10
        }
        return digits.reversed()
    }

    // MARK: Multiples

    /// The other number must not be zero.
    func isMultiple(of other: ExactDecimal) -> Bool {
        if isZero { return true }
        let scale = exponent - other.exponent
        // If the divisor has a higher power of ten, this number isn't a multiple, because its mantissa doesn't end in
        // zero.
        if scale < 0 { return false }
        if isShort, other.isShort, scale <= 18 - digitCount || other.short == 1 {
            if other.short == 1 { return true }
            var value = short
            for _ in 0..<scale { value *= 10 }
            return value % other.short == 0
        }
        // A divisor of n bits has at most n factors of 2 and of 5, so further powers of ten don't affect divisibility.
        let zeros = min(scale, other.digitCount * 4)
        var remainder = Remainder(divisor: other.allDigits)
        for digit in allDigits { remainder.append(digit) }
        for _ in 0..<zeros { remainder.append(0) }
        return remainder.isZero
    }

    private struct Remainder {
        /// Words of nine decimal digits, the least significant first. An extra word leaves room for the next digit.
        private var words: [UInt64]
        private var divisor: [UInt64]

        init(divisor digits: [UInt8]) {
            divisor = []
            var end = digits.count
            while end > 0 {
                let start = max(0, end - 9)
                divisor.append(digits[start..<end].reduce(0) { $0 * 10 + UInt64($1) })
                end = start
            }
            divisor.append(0)
            words = Array(repeating: 0, count: divisor.count)
        }

        var isZero: Bool { words.allSatisfy { $0 == 0 } }

        mutating func append(_ digit: UInt8) {
            var carry = UInt64(digit)
            for index in words.indices {
                let value = words[index] * 10 + carry
                words[index] = value % 1_000_000_000
                carry = value / 1_000_000_000
            }
            // The previous remainder was below the divisor, so this runs at most nine times.
            while !isBelow { subtract() }
        }

        private var isBelow: Bool {
            for index in words.indices.reversed() where words[index] != divisor[index] {
                return words[index] < divisor[index]
            }
            return false
        }

        private mutating func subtract() {
            var borrow: UInt64 = 0
            for index in words.indices {
                let taken = divisor[index] + borrow
                borrow = words[index] < taken ? 1 : 0
                words[index] = words[index] + borrow * 1_000_000_000 - taken
            }
        }
    }
}
