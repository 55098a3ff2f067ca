/// Generates the same random numbers from the same seed on every machine (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Adjacent seeds give unrelated sequences.
    package init(seed: some BinaryInteger) { state = Self.mixed(UInt64(truncatingIfNeeded: seed) &* Self.step) }

    package mutating func next() -> UInt64 {
        state &+= Self.step
        return Self.mixed(state)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }

    /// Returns true with a probability of 1 in `part`.
    package mutating func chance(_ part: Int) -> Bool { below(part) == 0 }

    package mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}
