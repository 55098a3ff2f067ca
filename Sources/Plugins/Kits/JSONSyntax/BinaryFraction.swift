/// A decimal number of nineteen digits at most, as 64 bits and a power of two: all that is needed to round it once.
///
/// The lowest bit of the significand also stands for all below it, so that its conversion to a type of fewer bits
/// rounds as the number itself does.
struct BinaryFraction {
    let significand: UInt64
    let exponent: Int

    /// The product of an integer and a power of ten; nil for zero and for powers beyond the nineteenth.
    init?(_ mantissa: UInt64, _ power: Int) {
        guard mantissa != 0, abs(power) < Self.powers.count else { return nil }
        if power < 0 {
            let divisor = Self.powers[-power]
            let (above, below) = (mantissa.leadingZeroBitCount, divisor.leadingZeroBitCount)
            let dividend = mantissa << UInt64(above)
            // Half of the dividend is less than the divisor, whose highest bit is set: no quotient overflows.
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
