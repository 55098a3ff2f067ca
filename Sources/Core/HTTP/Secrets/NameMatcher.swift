import ErrandMessageSyntax
import ErrandSupport

/// Finds words in field names, all words in one pass over the bytes (Aho-Corasick). Ignores ordinary words that contain
/// the name of a secret, such as `author`.
///
/// It compares a name's letters and digits in lower case, after percent-decoding.
final class NameMatcher: Sendable {
    /// The next state by state and symbol. A state represents the longest suffix of the text read so far that begins a
    /// word. The first state is the empty suffix.
    private let next: [UInt32]
    private let states: [State]
    /// The parts that aren't ASCII. They aren't in the states, because a character can have several byte sequences.
    private let otherParts: [String]
    private let otherWords: Set<String>

    private struct State {
        var length = 0
        /// How many parts end in this state, less the ordinary words that end here and contain a part.
        var parts = 0
        var isWord = false
        /// The state of the longest proper suffix that also begins a word.
        var fallback: UInt32 = 0
    }

    /// The number of symbols: 26 letters and 10 digits.
    private static let symbols = 36

    /// - Parameters:
    ///   - parts: Matched anywhere in a name.
    ///   - words: Matched as the whole name.
    init(parts: Set<String>, words: Set<String>) {
        var builder = Builder()
        for part in parts where !part.isEmpty && Self.isASCII(part) { builder.add(part) { $0.parts += 1 } }
        for (part, ordinary) in Self.ordinaryWords where parts.contains(part) {
            for word in ordinary.words { builder.add(word) { $0.parts -= 1 } }
            for word in ordinary.others where !parts.contains(word) { builder.add(word) { $0.parts += 1 } }
        }
        for word in words where Self.isASCII(word) { builder.add(word) { $0.isWord = true } }
        builder.link()
        (next, states) = (builder.next, builder.states)
        otherParts = parts.filter { !Self.isASCII($0) }
        otherWords = words.filter { !Self.isASCII($0) }
    }

    /// Ordinary words by the part that they contain. `words` are their beginnings or middles, such as `author` for
    /// `auth`. `others` are longer words that count as the part after all, such as `authoriz`.
    static let ordinaryWords: [String: (words: [String], others: [String])] = [
        "auth": (["author"], ["authoriz", "authoris"]), "secret": (["secretar"], []),
        "token": (["tokeniz", "tokenisa", "tokenise", "tokenisi"], []), "iban": (["ibandw"], []),
        "ssn": (["accessn", "addressn", "businessn", "classn", "processn", "successn", "witnessn"], []),
    ]

    private static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    func matches(_ name: Span<UInt8>) -> Bool {
        var scan = Scan()
        var index = 0
        while index < name.count {
            var byte = name[index]
            index += 1
            if byte == UInt8(ascii: "%"), index + 1 < name.count, let high = ASCII.hexValue(name[index]),
                let low = ASCII.hexValue(name[index + 1])
            {
                byte = high << 4 | low
                index += 2
            }
            guard byte < 0x80 else { return matches(plain: Self.plain(name)) }
            if let symbol = Self.symbol(byte) { advance(&scan, symbol) }
        }
        return isMatch(scan)
    }

    /// The name consists of lowercase letters and digits of any script.
    private func matches(plain name: String) -> Bool {
        var scan = Scan()
        for byte in name.utf8 {
            guard let symbol = Self.symbol(byte) else {
                (scan.state, scan.length) = (0, scan.length + 1)
                continue
            }
            advance(&scan, symbol)
        }
        if isMatch(scan) || otherWords.contains(name) { return true }
        // Compare characters and bytes. Equal characters can have different bytes, and a part can match in bytes only,
        // for example if an accent follows it.
        return otherParts.contains { name.contains($0) || name.utf8.firstRange(of: $0.utf8) != nil }
    }

    static func plain(_ name: Span<UInt8>) -> String {
        var plain = String.UnicodeScalarView()
        let decoded = PercentEncoding.decodeLeniently(String(decoding: name))
        plain.append(
            contentsOf: decoded.lowercased().unicodeScalars.filter {
                $0.properties.isAlphabetic || $0.properties.numericType != nil
            })
        return String(plain)
    }

    // MARK: States

    private struct Scan {
        var state = 0
        var length = 0
        var parts = 0
    }

    private func advance(_ scan: inout Scan, _ symbol: Int) {
        scan.state = Int(next[scan.state * Self.symbols + symbol])
        scan.length += 1
        scan.parts += states[scan.state].parts
    }

    private func isMatch(_ scan: Scan) -> Bool {
        let last = states[scan.state]
        return scan.parts > 0 || last.isWord && last.length == scan.length
    }

    private static func symbol(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(byte - UInt8(ascii: "a"))
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0")) + 26
        default: nil
        }
    }

    private struct Builder {
        var next = [UInt32](repeating: 0, count: symbols)
        var states = [State()]

        /// Adds a word to the states. Ignores a word with uppercase letters or punctuation, because names are compared
        /// without them.
        mutating func add(_ word: String, _ mark: (inout State) -> Void) {
            guard word.utf8.allSatisfy({ ASCII.isAlphanumeric($0) && ASCII.lowercase($0) == $0 }) else { return }
            var state = 0
            for symbol in word.utf8.compactMap(NameMatcher.symbol) {
                let slot = state * NameMatcher.symbols + symbol
                if next[slot] == 0 {
                    next[slot] = UInt32(states.count)
                    states.append(State(length: states[state].length + 1))
                    next += repeatElement(0, count: NameMatcher.symbols)
                }
                state = Int(next[slot])
            }
            mark(&states[state])
        }

        /// Fills each missing transition with the transition of the state's fallback. Starts with the shortest states.
        mutating func link() {
            var queue = [0]
            var position = 0
            while position < queue.count {
                let state = queue[position]
                let fallback = Int(states[state].fallback)
                position += 1
                if state != fallback { states[state].parts += states[fallback].parts }
                for symbol in 0..<NameMatcher.symbols {
                    let slot = state * NameMatcher.symbols + symbol
                    let other = state == 0 ? 0 : next[fallback * NameMatcher.symbols + symbol]
                    if next[slot] == 0 {
                        next[slot] = other
                    } else {
                        states[Int(next[slot])].fallback = other
                        queue.append(Int(next[slot]))
                    }
                }
            }
        }
    }
}
