import Foundation
import Testing

@testable import ErrandJSONValidation

@Suite("Patterns", .endsInTime, .leakChecked)
struct PatternTests {
    private func matches(_ source: String, _ text: String, _ scope: PatternMachine.Scope = .whole) throws -> Bool {
        let program = try PatternProgram(source)
        var machine = PatternMachine()
        let outcome = machine.run(program, on: ContiguousArray(text.utf8).span, scope, budget: 10_000_000)
        #expect(outcome != .exceeded)
        return outcome == .matches
    }

    @Test(
        "whole strings are matched as in ECMA-262 with the flag u",
        arguments: [
            ("", "", true), ("", "a", false), ("a", "a", true), ("a", "b", false), ("a|bc|", "bc", true),
            ("a|bc|", "", true), ("(ab)*", "ababab", true), ("(ab)*", "aba", false), ("a+b?", "aaab", true),
            ("a{2}", "aa", true), ("a{2}", "aaa", false), ("a{2,}", "aaaa", true), ("a{1,3}?", "aaa", true),
            ("a{0}b", "b", true), ("(a*)*", "aaaa", true), ("(a*)+b", "aaac", false), ("(|a)+", "aaa", true),
            ("[a-c]+", "abcd", false), ("[^a-c]", "d", true), ("[^]", "\n", true), ("[]", "a", false),
            ("[-a]", "-", true), ("[a-]", "-", true), (#"[\]\-\\^]+"#, "]-\\^", true), (#"[\d\-z]"#, "5", true),
            (".", "é", true), (".", "😀", true), (".", "\n", false), (".", "\u{2028}", false), ("..", "e\u{301}", true),
            (#"\d+"#, "0129", true), (#"\d"#, "٣", false), (#"\w+"#, "aZ_9", true), (#"\w"#, "é", false),
            (#"\s+"#, " \t\u{A0}\u{FEFF}\u{3000}", true), (#"\S\D\W"#, "aa-", true), (#"[\D]"#, "é", true),
            (#"[^\D]"#, "5", true), (#"[\S\s]"#, "\u{2029}", true), (#"\p{L}+"#, "aéЖ東", true),
            (#"\p{Lu}\p{Letter}"#, "Éé", true), (#"\P{L}"#, "1", true), (#"[\p{Nd}x]+"#, "٣x", true),
            (#"[^\p{L}]"#, "é", false), (#"\p{gc=Zs}"#, "\u{3000}", true),
            (#"\p{Alphabetic}\p{White_Space}"#, "ж ", true),
            (#"\x41\u0042\u{1F600}\ud83d\ude00\cJ\0"#, "AB😀😀\n\0", true), (#"\t\n\v\f\r"#, "\t\n\u{B}\u{C}\r", true),
            (#"[\b]"#, "\u{8}", true), (#"\/\.\*\$"#, "/.*$", true), (#"^a$"#, "a", true), ("a^b", "ab", false),
            (#"a\b.\bb"#, "a b", true), (#"a\Bb"#, "ab", true), (#"a\bb"#, "ab", false), (#"\B"#, "", true),
            ("(?=.*[0-9])(?=.*[a-z])[0-9a-z]{4,}", "ab12", true), ("(?=.*[0-9])(?=.*[a-z])[0-9a-z]{4,}", "abcd", false),
            ("(?!ab).*", "abc", false), ("(?!ab).*", "bac", true), (".*(?<=bc)d", "abcd", true),
            (".*(?<!bc)d", "abcd", false), ("(?:a(?=b)|b)+", "abab", true),
            ("(?<year>[0-9]{4})-[0-9]{2}", "2026-11", true),
            ("(?i:straSSe|É)", "STRASSE", true), ("(?i:straSSe|É)", "é", true), ("(?i:a(?-i:b))", "AB", false),
            ("(?<=(?=a)a)b|ab", "ab", true), ("[😀-😂]", "😁", true),
            (#"[^@[\]]+@[a-z.]+"#, "a@b.c", true), ("[[]", "[", true), (#"\ud800"#, "x", false),
            (#"[^\udc00]"#, "x", true),
            (#"\ud83d\ude00"#, "😀", true), (#"[\ud83d\ude00]"#, "😀", true), (#"(?<\u0061>x)"#, "x", true),
            (#"(?<\u{1d49c}\ud835\udc9c>x)"#, "x", true), (#"\p{Script=Greek}+"#, "λόγος", true),
            (#"\p{sc=Grek}"#, "a", false), (#"\p{scx=Deva}"#, "\u{964}", true), (#"\p{sc=Deva}"#, "\u{964}", false),
            (#"\p{Extended_Pictographic}\p{Emoji_Component}"#, "❤\u{FE0F}", true), (#"\p{RI}{2}"#, "🇸🇪", true),
            (#"\p{Pattern_Syntax}\P{Bidi_Control}"#, "+x", true), (#"(?i:\w)"#, "\u{17F}", true),
            (#"(?i:s\x4b)"#, "\u{17F}\u{212A}", true), (#"\w"#, "\u{212A}", false), (#"(?i:[^s])"#, "\u{17F}", false),
            (#"(?i:[\W])"#, "s", false), (#"(?i:\b.\b)"#, "\u{17F}", true), (#"\b.\b"#, "\u{17F}", false),
            ("(?s:.)", "\n", true), ("(?m:a$\n^b)", "a\nb", true), ("(?i-s:A.)", "a\n", false), ("(?i:ß)", "ẞ", true),
            ("(?=(a|b))(?!b)[ab](?<=a)(?<!b)", "a", true), ("(?=(?=a)a)(?:a|b)", "b", false),
        ] as [(String, String, Bool)])
    func whole(source: String, text: String, expected: Bool) throws {
        #expect(try matches(source, text) == expected, "\(source) on \(text)")
    }

    @Test(
        "a pattern can match anywhere in a text",
        arguments: [
            ("b+", "abbc", true), ("^b", "ab", false), ("b$", "ab", true), ("", "x", true), ("é", "xéy", true),
            (#"\bfoo\b"#, "a foo b", true), (#"\bfoo\b"#, "afoo", false), ("(?<=a)b", "cab", true),
            ("(?<!a)b", "ab", false), ("a.c", "a\u{1F600}c", true), ("^", "x", true), ("^.*", "x", true),
            ("^[0-9]*", "abc", true), ("^(https?://)?", "ftp://x", true), ("^(x-)?", "y", true), ("^a*$", "ab", false),
            ("^|a", "b", true), ("(^)+b*", "ab", true), ("^$", "a", false), ("$", "a", true), ("^$|b", "ab", true),
        ] as [(String, String, Bool)])
    func anywhere(source: String, text: String, expected: Bool) throws {
        #expect(try matches(source, text, .anywhere) == expected, "\(source) in \(text)")
    }

    @Test(
        "an invalid or unsupported pattern is refused with the reason and position",
        arguments: [
            ("(", 0), ("ab)", 2), ("a(b", 1), ("[a", 0), ("*a", 0), ("a**", 2), ("a{2,1}", 1), ("{", 0), ("}", 0),
            ("a]", 1),
            (#"\"#, 0), (#"\a"#, 0), (#"\_x"#, 0), (#"x\q"#, 1), (#"(a)\1"#, 3), (#"(?<n>a)\k<n>"#, 7), ("a++", 2),
            ("(?>a)", 0),
            ("(?<n>a)(?<n>b)", 10), ("(?<1>a)", 3), ("[b-a]", 1), (#"[\d-\w]"#, 1), (#"\p{Nothing}"#, 0), (#"\p"#, 0),
            (#"\u{110000}"#, 0), (#"\x4"#, 0), (#"\01"#, 0), ("^*", 0), ("(?=a)*", 0), ("a{99999}", 6),
            ("(?x:a)", 0), ("(?ii:a)", 0), ("(?-:a)", 0), ("(?i-i:a)", 0), ("(?P<n>a)", 0), (#"\-"#, 0), (#"\%"#, 0),
            (#"\ "#, 0), (#"(a)\2"#, 3), (#"\k<n>"#, 0), (#"(?<n>a)\k<m>"#, 7), (#"(?<\u0031>a)"#, 3),
            (#"\p{Script=Nothing}"#, 0), (#"[\c1]"#, 1), (#"[\B]"#, 1), (#"(a)\1("#, 5),
        ] as [(String, Int)])
    func refused(source: String, offset: Int) {
        let error = #expect(throws: JSONShapeError.self) { try JSONShape.string(pattern: source) }
        #expect(error?.pattern == source && error?.offset == offset, "\(String(describing: error))")
        #expect(error?.reason.isEmpty == false)
    }

    @Test("patterns that would grow without bound are refused before they do")
    func sizes() throws {
        for source in [
            "((a{1,9999}){1,9999}){1,9999}", String(repeating: "(", count: 50_000),
            String(repeating: "(?:", count: 5_000) + String(repeating: ")", count: 5_000),
            String(repeating: "a", count: 1_000_000),
        ] { #expect(throws: JSONShapeError.self) { try JSONShape.string(pattern: source) } }
        #expect(try matches("((){1,60000}){1,60000}", ""))
        #expect(try matches(".{0,20000}", String(repeating: "x", count: 20_000)))
    }

    @Test("patterns that take exponential time in other engines end after a few steps", arguments: [20, 40, 5_000])
    func backtracking(length: Int) throws {
        let text = String(repeating: "a", count: length) + "!"
        for source in ["(a+)+", "(a|a)*b", "(a*)*c", "([a-z]+)*d", "(a|aa)+$", "(?=(a+)+$)a+!", "(.*)*(.*)*x"] {
            var limits = JSONLimits()
            limits.maximumPatternSteps = 60 * (length + 2)
            let problems = try JSONShape.string(pattern: source).problems("\"\(text)\"", limits: limits)
            #expect(problems.map(\.kind) == [.value], "\(source)")
        }
        #expect(JSONShape.string(matching: /(a+)+/).problems("\"\(text)\"").map(\.kind) == [.value])
    }

    @Test("lookarounds take as many steps as the text is long, in any position", arguments: [500, 4_000])
    func lookarounds(length: Int) throws {
        let text = String(repeating: "a", count: length)
        for source in ["(?=.*b)a", "(a(?=.*b))*c", "(?<=b.*)a", "(?=(?=.*b)a*c)a", "(?!.*b$)b"] {
            let program = try PatternProgram(source)
            var machine = PatternMachine()
            let bytes = ContiguousArray(text.utf8)
            let outcome = machine.run(program, on: bytes.span, .anywhere, budget: 40 * (length + 10))
            #expect(outcome == .differs, "\(source)")
        }
    }

    @Test("a repeated set is stored once, and parts that match no characters aren't repeated")
    func sharing() throws {
        let set = String(String.UnicodeScalarView((0..<8_000).compactMap { Unicode.Scalar(0x3400 + $0 * 2) }))
        #expect(try PatternProgram("[\(set)]{65535}").sets.count == 1)
        #expect(try PatternProgram(String(repeating: "[a-c]", count: 3_000)).sets.count == 1)
        let empty = String(repeating: "()", count: 5_000)
        #expect(throws: PatternFault.self) { _ = try PatternProgram("(\(empty)a){60000}") }
    }

    @Test("a string that takes more steps than the budget is a problem that names the limit, and reading continues")
    func budget() throws {
        var limits = JSONLimits()
        limits.maximumPatternSteps = 100
        let shape: JSONShape = ["a": try .string(pattern: "(a+)+"), "b": .integer]
        let problems = shape.problems(#"{"a":"\#(String(repeating: "a", count: 200))","b":"x"}"#, limits: limits)
        #expect(problems.map(\.kind) == [.limit, .type])
        #expect(
            problems.first?.description
                == "/a: expected a string that matches (a+)+ within 100 steps, found a string that needs more (byte 5)")
        limits.maximumPatternBytes = 10
        #expect(
            shape.complaints(#"{"a":"aaaaaaaaaaaa","b":1}"#, limits: limits) == [
                "/a: expected a string of at most 10 bytes, because a pattern applies to it, found 12 (byte 5)"
            ])
        limits.maximumPatternSteps = -1
        limits.maximumPatternBytes = 1_000
        #expect(shape.problems(#"{"a":"a","b":1}"#, limits: limits).map(\.kind) == [.limit])
    }

    @Test("an unsupported literal makes the shape unusable, and the problem names the reason")
    func literals() {
        #expect(JSONShape.string(matching: /[a-z]+-(\d+)/).accepts(#""abc-12""#))
        #expect(JSONShape.string(matching: /straße/.ignoresCase()).accepts(#""STRAßE""#))
        let shape: JSONShape = ["a": .string(matching: /(a)\1/)]
        let problem = shape.problems("{}").first
        #expect(problem?.kind == .shape)
        #expect(
            problem?.description
                == #"the shape cannot be used: expected a pattern that is supported, found the pattern (a)\1 has a backreference, which is not supported (character 3)"#
        )
    }

    @Test("a table accepts the same texts as its pattern's steps", arguments: 0..<8)
    func tables(part: Int) throws {
        var random = SeededGenerator(seed: 171 + part)
        func pattern(_ depth: Int) -> String {
            switch random.below(depth > 0 ? 10 : 5) {
            case 0: return random.pick(["a", "b", "c", "[ab]", "[^a]", "."])
            case 1: return random.pick(["^", "$", "(?:^)", "(?:$)"])
            case 2: return random.pick(["a*", "b?", "(?:ab)*"])
            case 3, 4: return random.pick(["a", "b"])
            case 5, 6: return pattern(depth - 1) + pattern(depth - 1)
            case 7, 8: return "(?:\(pattern(depth - 1))|\(pattern(depth - 1)))"
            default: return "(?:\(pattern(depth - 1)))" + random.pick(["*", "+", "?", "{1,2}", "{0,2}"])
            }
        }
        var (fits, fails) = (0, 0)
        for _ in 0..<300 {
            let program = try PatternProgram(pattern(4))
            for scope in [PatternMachine.Scope.whole, .anywhere] {
                guard let table = PatternTable.make(program, scope, work: 1_000_000).table else { continue }
                for _ in 0..<6 {
                    let text = String((0..<random.below(6)).map { _ in Character(random.pick(["a", "b", "c"])) })
                    var machine = PatternMachine()
                    let bytes = ContiguousArray(text.utf8)
                    let expected = machine.run(program, on: bytes.span, scope, budget: 1_000_000, usesTable: false)
                    let found = table.run(bytes.span, 0..<bytes.count)
                    #expect(found == expected, "\(text)")
                    if expected == .matches { fits += 1 } else { fails += 1 }
                }
            }
        }
        #expect(fits > 300 && fails > 300)
    }

    @Test("random patterns match like the standard library's", arguments: 0..<8)
    func random(part: Int) throws {
        var random = SeededGenerator(seed: 71 + part)
        func pattern(_ depth: Int) -> String {
            switch random.below(depth > 0 ? 9 : 4) {
            case 0: return random.pick(["a", "b", "c"])
            case 1: return random.pick(["[ab]", "[^a]", "."])
            case 2: return "a"
            case 3: return "b"
            case 4: return pattern(depth - 1) + pattern(depth - 1)
            case 5: return "(?:\(pattern(depth - 1))|\(pattern(depth - 1)))"
            case 6: return "(?:\(pattern(depth - 1)))" + random.pick(["*", "+", "?", "{1,2}", "{2}", "*?"])
            case 7: return "(?\(random.pick(["=", "!"]))\(pattern(depth - 1)))\(pattern(depth - 1))"
            default: return pattern(depth - 1)
            }
        }
        var (fits, fails) = (0, 0)
        for _ in 0..<150 {
            let source = pattern(4)
            let regex = try Regex(source)
            for _ in 0..<6 {
                let text = String((0..<random.below(6)).map { _ in Character(random.pick(["a", "b", "c"])) })
                let expected = try regex.wholeMatch(in: text) != nil
                if expected { fits += 1 } else { fails += 1 }
                #expect(try matches(source, text) == expected, "\(source) on \(text)")
            }
        }
        #expect(fits > 50 && fails > 50)
    }
}
