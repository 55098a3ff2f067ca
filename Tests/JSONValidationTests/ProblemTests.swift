import ErrandJSONValidation
import Foundation
import Testing

@Suite("Problems and limits", .endsInTime, .leakChecked)
struct ProblemTests {
    @Test("text in messages is escaped as in the rest of the package, and truncated by scalars")
    func shownText() {
        #expect(MessageText.shown("a\u{61C}b", limit: 2) == #"a\u{61C}…"#)
        #expect(MessageText.shown("a\u{61C}b", limit: 3) == #"a\u{61C}b"#)
        #expect(MessageText.shown("", limit: 0) == "")
    }

    @Test("pointers escape tilde and slash, and name keys by their characters")
    func pointers() {
        let shape = JSONShape.map(of: .map(of: .integer))
        #expect(shape.problems(#"{"a/b~c":{"\u0064\n":"x"}}"#).map(\.pointer) == ["/a~1b~0c/d\n"])
        #expect(
            shape.complaints(#"{"a/b~c":{"\u0064\n\u202e":"x"}}"#) == [
                #"/a~1b~0c/d\u{A}\u{202E}: expected an integer, found a string (byte 27)"#
            ])
        #expect(JSONShape.map(of: .integer).problems(#"{"":"x"}"#).map(\.pointer) == ["/"])
    }

    @Test("long keys and deep places don't create long messages")
    func boundedPointers() {
        let long = String(repeating: "k", count: 100_000)
        let problem = JSONShape.map(of: .integer).problems("{\"\(long)\":null}").first
        #expect(problem?.pointer.hasSuffix("k…") == true)
        #expect(problem?.pointer.utf8.count ?? 0 < 300)
        let text = String(repeating: "{\"kkkkkkkkkkkkkkkkkkkk\":", count: 400) + "x"
        let deep = JSONShape.any.problems(text).first
        #expect(deep?.pointer.hasSuffix("/…") == true)
        #expect(deep?.pointer.utf8.count ?? 0 < 1_200)
    }

    @Test("messages don't contain values of the text")
    func discretion() {
        let secret = "hunter2hunter2"
        let shape: JSONShape = [
            "a": .integer, "b": .string(length: 0...3), "c": .enumeration("x"), "d": .string(matching: /[0-9]+/),
            "e": .integer(in: 0...1),
            "f": .custom("it") { _ in false },
        ]
        let error = shape.problems(
            #"{"a":"\#(secret)","b":"\#(secret)","c":"\#(secret)","d":"\#(secret)","e":271828,"f":"\#(secret)"}"#)
        #expect(error.count == 6)
        for problem in error { #expect(!"\(problem)".contains("hunter2") && !"\(problem)".contains("271828")) }
    }

    @Test("the list of problems is limited, their count isn't, and a syntax error is always included")
    func bounds() {
        let text = "[\(Array(repeating: "true", count: 1_000).joined(separator: ",")),x]"
        do {
            try JSONShape.array(of: .integer).validate(Data(text.utf8))
            Issue.record("accepted")
        } catch {
            #expect(error.problems.count == 20)
            #expect(error.count == 1_001)
            #expect(error.problems.last?.kind == .syntax)
            #expect(error.problems.prefix(19).map(\.pointer) == (0..<19).map { "/\($0)" })
            #expect(error.description.hasSuffix("(1001 problems, 20 listed)"))
        }
    }

    @Test("with a limit of zero problems, one problem is still thrown")
    func noProblems() {
        var limits = JSONLimits()
        limits.maximumProblems = 0
        #expect(JSONShape.array.problems("{}", limits: limits).count == 1)
    }

    @Test(
        "repeated keys are found, in any spelling",
        arguments: [
            #"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, #"{"\u00e9":1,"é":2}"#, #"{"":1,"":2}"#,
            #"{"\ud83d\ude00":1,"😀":1}"#,
            #"{"a long key of many bytes":1,"a long key of many byte\u0073":1}"#,
        ])
    func duplicates(text: String) {
        #expect(JSONShape.any.problems(text).map(\.kind) == [.duplicateKey])
        #expect(JSONShape.map(of: .integer).problems(text).map(\.kind) == [.duplicateKey])
        let named: JSONShape = ["a": .any, "é": .any, "": .any, "😀": .any, "a long key of many bytes": .any]
        #expect(named.problems(text).filter { $0.kind != .missing }.map(\.kind) == [.duplicateKey])
        let wide = JSONShape.object(members: (0..<70).map { ("k\($0)", .optional(.any)) } + [("a", .any)])
        #expect(wide.problems(text).filter { $0.kind != .missing }.map(\.kind) == [.duplicateKey])
    }

    @Test("the same key in different objects isn't a repeated key")
    func noDuplicates() {
        #expect(JSONShape.any.accepts(#"[{"a":{"a":{"a":1}},"b":{"a":1}},{"a":1,"b":{"a":1,"b":2}}]"#))
        let keys = (0..<5_000).map { "\"key \($0)\":{\"key 1\":1}" }
        #expect(JSONShape.any.accepts("{\(keys.joined(separator: ","))}"))
        #expect(JSONShape.any.problems("{\(keys.joined(separator: ",")),\"key 77\":1}").map(\.kind) == [.duplicateKey])
    }

    @Test("the depth of arrays and objects is limited, exactly at the limit")
    func depth() {
        var limits = JSONLimits()
        limits.maximumDepth = 40
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(JSONShape.any.problems(nested(40), limits: limits).isEmpty)
        let problem = JSONShape.any.problems(nested(41), limits: limits).first
        #expect(problem?.kind == .limit && problem?.offset == 40)
        #expect(JSONShape.any.accepts(nested(512)) && !JSONShape.any.accepts(nested(513)))
        #expect(JSONShape.any.problems(String(repeating: "{\"a\":", count: 1_000_000)).map(\.kind) == [.limit])
        let either = JSONShape.recursive {
            .either(.array(of: .either($0, .custom("") { _ in true })), .array(of: .nullable($0)))
        }
        #expect(either.problems(nested(40), limits: limits).isEmpty)
        #expect(either.problems(nested(41), limits: limits).map(\.kind) == [.limit])
    }

    @Test("unlimited depth doesn't need stack")
    func greatDepth() {
        var limits = JSONLimits()
        limits.maximumDepth = .max
        let text = String(repeating: "[", count: 1_000_000) + String(repeating: "]", count: 1_000_000)
        #expect(JSONShape.any.problems(text, limits: limits).isEmpty)
    }

    @Test("the number of bytes is limited")
    func size() {
        var limits = JSONLimits()
        limits.maximumBytes = 5
        #expect(JSONShape.any.problems("[1,2]", limits: limits).isEmpty)
        #expect(
            JSONShape.any.complaints("[1,22]", limits: limits) == [
                "document: expected at most 5 bytes, found 6 (byte 5)"
            ])
    }

    @Test("the number of remembered keys is limited, and keys of the shape don't count")
    func keys() {
        var limits = JSONLimits()
        limits.maximumKeys = 3
        #expect(JSONShape.any.problems(#"[{"a":1,"b":{"c":1}},{"d":1,"e":1,"f":1}]"#, limits: limits).isEmpty)
        #expect(JSONShape.any.problems(#"{"a":1,"b":{"c":1,"d":1}}"#, limits: limits).map(\.kind) == [.limit])
        let shape: JSONShape = ["a": .any, "b": ["c": .any, "d": .any]]
        #expect(shape.problems(#"{"a":1,"b":{"c":1,"d":1}}"#, limits: limits).isEmpty)
        limits.maximumKeys = .min
        #expect(JSONShape.any.problems(#"{"a":1}"#, limits: limits).map(\.kind) == [.limit])
    }

    @Test("one shape can be used concurrently")
    func concurrency() async {
        let shape = JSONShape.recursive { ["v": .string(matching: /[a-z]*/), "n": .optional($0)] }
        await withTaskGroup { group in
            for index in 0..<50 {
                group.addTask {
                    shape.accepts(#"{"v":"abc","n":{"v":"\#(index % 2 == 0 ? "x" : "X")"}}"#) == (index % 2 == 0)
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test("an amount of one has a singular noun")
    func amounts() {
        for (count, expected) in [(1, "an array of 1 element"), (2, "an array of 2 elements")] {
            let shape = JSONShape.array(of: .integer, count: count...count)
            #expect(shape.problems("[]").map(\.expected) == [expected])
        }
    }

    @Test("an empty range doesn't have an amount")
    func emptyAmounts() {
        for shape in [
            JSONShape.array(of: .integer, count: ..<Int.min), .array(of: .integer, count: 5..<5),
            .array(of: .integer, count: Int.min..<Int.min),
        ] {
            #expect(shape.problems("[]").map(\.expected) == ["an array of another number of elements"])
        }
    }
}
