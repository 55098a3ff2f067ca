#if os(Linux) || os(macOS)
import Foundation
import Testing

@testable import ErrandJSONValidation

@Suite("Patterns against node", .timeLimit(.minutes(60)), .leakChecked)
struct PatternOracleTests {
    /// `ERRAND_PATTERN_PAIRS=1000000 swift test --filter PatternOracleTests` compares that many pairs.
    private static let pairs =
        ProcessInfo.processInfo.environment["ERRAND_PATTERN_PAIRS"].flatMap { Int($0) } ?? 20_000
    static let node: String? =
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/node" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private static let script = """
        const fs = require("fs");
        const out = [];
        // From each character, one after the other: node alone also looks between the halves of a surrogate pair, where
        // no match begins (ECMA-262, 22.2.7.2).
        function matches(expression, text) {
            for (let place = 0; ; place += text.codePointAt(place) > 0xffff ? 2 : 1) {
                expression.lastIndex = place;
                if (expression.test(text)) return true;
                if (place >= text.length) return false;
            }
        }
        for (const line of fs.readFileSync(process.argv[1], "utf8").split("\\n")) {
            if (!line) continue;
            const [flags, pattern, text] = JSON.parse(line);
            try { out.push(matches(new RegExp(pattern, flags + "y"), text) ? "1" : "0"); } catch { out.push("e"); }
        }
        fs.writeFileSync(process.argv[2], out.join(""));
        """

    @Test(
        "random patterns match random texts as in node, and are refused if node refuses them",
        .enabled(if: node != nil, "NOT RUN: node, the oracle for patterns, is not in the PATH"), arguments: 0..<4)
    func oracle(part: Int) throws {
        var generator = RandomPattern(seed: 60_000 + part)
        var left = Self.pairs / 4
        var kinds: [Character: Int] = [:]
        var differing: [String] = []
        while left > 0 {
            let batch = (0..<min(left, 25_000)).map { _ in generator.pair() }
            left -= batch.count
            let expected = try verdicts(of: batch)
            try #require(expected.count == batch.count)
            for (pair, outcome) in zip(batch, expected) {
                kinds[outcome, default: 0] += 1
                let found = verdict(pair)
                // An unsupported pattern must at least be a valid pattern.
                let isSame = found == outcome || found == "u" && outcome != "e"
                if !isSame { differing.append("\(pair): here \(found), in node \(outcome)") }
            }
        }
        #expect(differing.isEmpty, "\(differing.count): \(differing.prefix(20).joined(separator: "\n"))")
        for outcome: Character in ["0", "1", "e"] { #expect(kinds[outcome, default: 0] > 200) }
    }

    private func verdict(_ pair: RandomPattern.Pair) -> Character {
        let source = pair.ignoresCase ? "(?i:\(pair.pattern))" : pair.pattern
        let program: PatternProgram
        do throws(PatternFault) { program = try PatternProgram(source) } catch {
            return error.kind == .invalid ? "e" : "u"
        }
        var machine = PatternMachine()
        let text = ContiguousArray(pair.text.utf8)
        let outcome = machine.run(program, on: text.span, .anywhere, budget: 4_000_000, usesTable: false)
        if let table = PatternTable.make(program, .anywhere, work: 4_000).table,
            let other = table.run(text.span, 0..<text.count), other != outcome
        {
            return "t"
        }
        return outcome == .matches ? "1" : outcome == .differs ? "0" : "x"
    }

    private func verdicts(of batch: [RandomPattern.Pair]) throws -> [Character] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-patterns-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, output) = (folder.appending(path: "pairs"), folder.appending(path: "verdicts"))
        let encoder = JSONEncoder()
        let lines = try batch.map { pair in
            try String(
                decoding: encoder.encode([pair.ignoresCase ? "iu" : "u", pair.pattern, pair.text]), as: UTF8.self)
        }
        try Data(lines.joined(separator: "\n").utf8).write(to: input)
        let process = Process()
        process.executableURL = URL(filePath: Self.node ?? "")
        process.arguments = ["-e", Self.script, input.path(), output.path()]
        try process.run()
        process.waitUntilExit()
        return Array(String(decoding: try Data(contentsOf: output), as: UTF8.self))
    }
}

/// Random patterns, many of them slightly wrong, with texts that may match.
struct RandomPattern {
    struct Pair {
        var pattern: String
        var text: String
        var ignoresCase: Bool
    }

    private var random: SeededGenerator

    /// Seeds are drawn from a generator, because consecutive seeds soon run into nearly the same sequence.
    init(seed: Int) {
        var seeds = SeededGenerator(seed: seed)
        random = SeededGenerator(seed: seeds.next())
    }

    private static let letters = [
        "a", "b", "s", "S", "k", "K", "i", "1", "_", "-", " ", "\u{17F}", "\u{212A}", "\u{DF}", "\u{1E9E}", "\u{130}",
        "\u{3A3}", "\u{3C2}", "\u{3C3}", "\u{1F600}", "\u{2028}", "\n", "\u{E9}", "\u{416}", "\u{964}", "\u{3042}",
        "\u{1C5}", "\u{10400}", "\u{10428}", "\u{FB06}", "\u{AB70}", "\u{13A0}",
    ]

    mutating func pair() -> Pair {
        let text = (0..<random.below(6)).map { _ in random.pick(Self.letters) }.joined()
        let ignoresCase = random.chance(3)
        var pattern = pattern(3)
        // A surrounding group would hide unbalanced brackets, so only patterns without a group are broken.
        if !ignoresCase, random.chance(4) { pattern = broken(pattern) }
        return Pair(pattern: pattern, text: text, ignoresCase: ignoresCase)
    }

    private mutating func broken(_ pattern: String) -> String {
        var scalars = Array(pattern.unicodeScalars)
        for _ in 0..<1 + random.below(2) {
            let place = random.below(scalars.count + 1)
            if place < scalars.count, random.chance(2) {
                scalars.remove(at: place)
            } else {
                let more = random.pick([
                    "(", ")", "[", "]", "{", "}", "*", "?", "\\", "^", "$", "|", "-", "\\1", "\\k<n>", "(?<n>", "\\u",
                    "\\p",
                    "{1}", "\\-", "\\_", ",", "<", ":", "=", "!",
                ])
                scalars.insert(contentsOf: Array(more.unicodeScalars), at: place)
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private mutating func pattern(_ depth: Int) -> String {
        switch random.below(depth > 0 ? 13 : 6) {
        case 0, 1: return literal()
        case 2: return characterClass()
        case 3: return escape()
        case 4: return random.pick(["^", "$", ".", "\\b", "\\B", ""])
        case 5: return literal()
        case 6, 7, 8: return pattern(depth - 1) + pattern(depth - 1)
        case 9: return "(?:\(pattern(depth - 1))|\(pattern(depth - 1)))"
        case 10:
            let quantifier = random.pick(["*", "+", "?", "{0,2}", "{1,}", "{2}", "*?", "??"])
            return "(?:\(pattern(depth - 1)))\(quantifier)"
        case 11: return "(?\(random.pick(["=", "!", "<=", "<!"]))\(pattern(depth - 1)))"
        default: return "(\(pattern(depth - 1)))" + random.pick(["", "", "\\1", "*"])
        }
    }

    private mutating func literal() -> String {
        let letter = random.pick(Self.letters)
        return letter == "\n" ? "\\n" : letter
    }

    private mutating func escape() -> String {
        random.pick([
            "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\x41", "\\u0053", "\\u{17f}", "\\ud83d\\ude00", "\\ud83d",
            "\\cJ",
            "\\0", "\\t", "\\/", "\\.", "\\p{L}", "\\P{Lu}", "\\p{Ll}", "\\p{Script=Greek}", "\\p{scx=Deva}",
            "\\P{sc=Latn}",
            "\\p{Emoji_Component}", "\\p{Extended_Pictographic}", "\\p{ASCII}", "\\p{Any}", "\\p{Alphabetic}",
            "\\p{CWU}",
            "\\p{Lowercase}", "\\p{Pattern_Syntax}", "\\p{Zs}", "\\p{Nothing}", "\\-", "\\_", "\\%", "\\a",
            "\\u{110000}",
        ])
    }

    private mutating func characterClass() -> String {
        var parts = ""
        for _ in 0..<random.below(4) {
            switch random.below(7) {
            case 0: parts += "[" + literal()
            case 1:
                parts += random.pick([
                    "a-s", "A-Z", "\\u0130-\\u0180", "k-\\u{212a}", "b-a", "\\d-z", "-", "\u{3A3}-\u{3C3}",
                ])
            case 2: parts += escape()
            case 3: parts += random.pick(["\\b", "\\-", "\\]", "\\^", "\\ud800-\\udbff", "\\B", "\\c1"])
            default: parts += literal()
            }
        }
        return "[\(random.pick(["", "", "^"]))\(parts)]"
    }
}
#endif
