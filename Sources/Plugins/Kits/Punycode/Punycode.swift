// Encodes host name labels in other scripts as ASCII. Internal to the package.

/// Punycode (RFC 3492) without the prefix `xn--`.
package enum Punycode {
    /// The length of a host name's label in bytes (RFC 1035, section 2.3.4).
    private static let maximumLength = 63

    package static func encode(_ label: some Sequence<Unicode.Scalar>) -> String? {
        let scalars = label.prefix(maximumLength + 1).map { Int($0.value) }
        if scalars.count > maximumLength { return nil }
        let plain = scalars.filter { $0 < 0x80 }
        var result = plain.map { UInt8(truncatingIfNeeded: $0) }
        if !plain.isEmpty { result.append(UInt8(ascii: "-")) }
        var state = State()
        var (delta, done) = (0, plain.count)
        while done < scalars.count, let next = scalars.lazy.filter({ $0 >= state.character }).min() {
            delta += (next - state.character) * (done + 1)
            state.character = next
            for scalar in scalars {
                if scalar < next { delta += 1 }
                if scalar != next { continue }
                append(delta, state, to: &result)
                done += 1
                state.adapt(to: delta, count: done, isFirst: done == plain.count + 1)
                delta = 0
            }
            delta += 1
            state.character += 1
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Accepts upper- and lowercase.
    package static func decode(_ encoding: [UInt8]) -> [Unicode.Scalar]? {
        var scalars: [Unicode.Scalar] = []
        var rest = encoding[...]
        if let hyphen = encoding.lastIndex(of: UInt8(ascii: "-")) {
            scalars = encoding[..<hyphen].map { Unicode.Scalar($0) }
            rest = encoding[(hyphen + 1)...]
            if scalars.isEmpty { return nil }
        }
        var (state, index) = (State(), 0)
        while !rest.isEmpty {
            let before = index
            guard let delta = number(&rest, state, plus: index) else { return nil }
            index = delta
            let count = scalars.count + 1
            state.adapt(to: index - before, count: count, isFirst: before == 0)
            state.character += index / count
            index %= count
            guard state.character <= 0x10FFFF, let scalar = Unicode.Scalar(UInt32(state.character)) else { return nil }
            scalars.insert(scalar, at: index)
            index += 1
        }
        return scalars
    }

    /// The next character, and the bias of the numbers (section 3.4).
    private struct State {
        var character = 0x80
        private var bias = 72

        /// Positions start at 1. A digit below the threshold ends its number.
        func threshold(_ position: Int) -> Int { min(max(position * Punycode.base - bias, 1), 26) }

        mutating func adapt(to delta: Int, count: Int, isFirst: Bool) {
            var (delta, steps) = (isFirst ? delta / 700 : delta / 2, 0)
            delta += delta / count
            while delta > 455 {
                delta /= Punycode.base - 1
                steps += Punycode.base
            }
            bias = steps + Punycode.base * delta / (delta + 38)
        }
    }

    private static let base = 36

    private static func append(_ number: Int, _ state: State, to result: inout [UInt8]) {
        var (rest, position) = (number, 1)
        while true {
            let threshold = state.threshold(position)
            if rest < threshold { return result.append(digit(rest)) }
            result.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += 1
        }
    }

    private static func number(_ bytes: inout ArraySlice<UInt8>, _ state: State, plus start: Int) -> Int? {
        var (sum, weight, position) = (start, 1, 1)
        while true {
            guard let digit = bytes.popFirst().flatMap(value) else { return nil }
            sum += digit * weight
            let threshold = state.threshold(position)
            if sum > 0x7FFF_FFFF { return nil }
            if digit < threshold { return sum }
            weight *= base - threshold
            if weight > 0x7FFF_FFFF { return nil }
            position += 1
        }
    }

    private static func digit(_ number: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: number < 26 ? 0x61 + number : 0x30 + number - 26)
    }

    private static func value(_ digit: UInt8) -> Int? {
        switch digit {
        case 0x30...0x39: Int(digit) - 0x30 + 26
        case 0x41...0x5A: Int(digit) - 0x41
        case 0x61...0x7A: Int(digit) - 0x61
        default: nil
        }
    }
}
