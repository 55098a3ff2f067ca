/// Small JSON texts, valid and damaged.
struct RandomJSON {
    var random: SeededGenerator

    init(seed: Int) { random = SeededGenerator(seed: seed) }

    /// Returns valid JSON with white space, escapes, and numbers of every form.
    mutating func text() -> [UInt8] {
        var bytes: [UInt8] = []
        value(&bytes, 3)
        return bytes
    }

    /// Returns a modified copy of the text, which may or may not be valid JSON.
    mutating func mutated(_ text: [UInt8]) -> [UInt8] {
        var bytes = text
        for _ in 0...random.below(2) {
            let place = random.below(bytes.count + 1)
            let other = min(bytes.count, place + random.below(4))
            switch random.below(6) {
            case 0: bytes.removeSubrange(place..<other)
            case 1: bytes.insert(contentsOf: Array(random.pick(Self.tokens).utf8), at: place)
            case 2: if place < bytes.count { bytes[place] = UInt8(truncatingIfNeeded: random.next()) }
            case 3: if place < bytes.count { bytes[place] ^= 1 << UInt8(random.below(8)) }
            case 4: bytes.insert(contentsOf: bytes[place..<other], at: place)
            default: bytes.removeSubrange(place...)
            }
        }
        return bytes
    }

    private static let tokens = [
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "\\ud83d", "\\ude00", "\\u0000", "\\u00e9", "0", "00", "-",
        "+", ".",
        "e", "E", "1e5", "-0", "null", "true", "false", "nul", "\"a\":", "\"a\":1,", "\u{FEFF}", "é", "e\u{301}", "😀",
        " ",
        "\n", "\t", "\u{0}", "\u{1F}", "\u{7F}", "//", "'", "NaN", "Infinity", "1.", ".5", "1.5e+2", "\u{2028}",
    ]

    private mutating func value(_ bytes: inout [UInt8], _ depth: Int) {
        space(&bytes)
        switch random.below(depth > 0 ? 10 : 6) {
        case 0: bytes += Array(random.pick(["null", "true", "false"]).utf8)
        case 1, 2: number(&bytes)
        case 3, 4, 5: string(&bytes)
        case 6, 7:
            bytes.append(UInt8(ascii: "["))
            for index in 0..<random.below(4) {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value(&bytes, depth - 1)
            }
            space(&bytes)
            bytes.append(UInt8(ascii: "]"))
        default:
            bytes.append(UInt8(ascii: "{"))
            for index in 0..<random.below(4) {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                space(&bytes)
                string(&bytes)
                space(&bytes)
                bytes.append(UInt8(ascii: ":"))
                value(&bytes, depth - 1)
            }
            space(&bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        space(&bytes)
    }

    private mutating func space(_ bytes: inout [UInt8]) {
        guard random.chance(6) else { return }
        for _ in 0...random.below(10) { bytes.append(random.pick([0x20, 0x20, 0x0A, 0x0D, 0x09])) }
    }

    private mutating func number(_ bytes: inout [UInt8]) {
        var text = random.chance(3) ? "-" : ""
        text += random.chance(4) ? "0" : "\(1 + random.below(random.pick([9, 999, 99_999_999])))"
        if random.chance(3) { text += ".\(random.below(1_000))" }
        if random.chance(4) { text += random.pick(["e", "E"]) + random.pick(["", "+", "-"]) + "\(random.below(30))" }
        bytes += Array(text.utf8)
    }

    private mutating func string(_ bytes: inout [UInt8]) {
        bytes.append(0x22)
        for _ in 0..<random.below(random.pick([2, 4, 20])) {
            bytes += Array(
                random.pick([
                    "a", "b", "c", "x", "1", " ", "/", "~", "é", "e\u{301}", "\u{301}", "東", "😀", "\\n", "\\\"", "\\\\",
                    "\\/",
                    "\\u0061", "\\u00e9", "\\ud83d\\ude00", "\\u6771",
                ]).utf8)
        }
        bytes.append(0x22)
    }
}
