import ErrandJSONValidation
import Foundation
import Testing

@testable import ErrandJSONSchema

@Suite("JSON Schema: limits", .endsInTime, .leakChecked)
struct LimitTests {
    private func error(_ schema: String, _ text: String, _ limits: JSONLimits) throws -> JSONValidationError? {
        let schema = try JSONSchema(Data(schema.utf8), formats: .assertion)
        do { try schema.validate(Data(text.utf8), limits: limits) } catch { return error }
        return nil
    }

    private func fault(_ text: String, _ change: (inout JSONSchemaLimits) -> Void = { _ in }) -> JSONSchemaError? {
        var limits = JSONSchemaLimits()
        change(&limits)
        do { _ = try JSONSchema(Data(text.utf8), limits: limits) } catch { return error }
        return nil
    }

    // MARK: Compiling

    @Test("schemas that grow with combinations of dynamic anchors stop at the budget, which the message names")
    func environments() {
        let names = (0..<18).map { "r\($0)" }
        let references = names.map { "\"\($0)\":{\"$ref\":\"\($0)\"}" }.joined(separator: ",")
        let resources = names.map { name in
            "\"\(name)\":{\"$id\":\"\(name)\",\"$dynamicAnchor\":\"\(name)\",\"properties\":{\(references)}}"
        }
        let anchors = (0..<1_000).map { "\"a\($0)\":{\"$dynamicAnchor\":\"m\($0)\"}" }
        for more in [[], anchors] {
            let all = (resources + more).joined(separator: ",")
            let found = fault("{\"$id\":\"http://x/\",\"$ref\":\"r0\",\"$defs\":{\(all)}}") {
                $0.maximumSteps = 500_000
                $0.maximumBytes = 4 << 20
            }
            #expect(found?.code == .tooLarge)
            #expect(
                found?.reason == "needs more than 500000 steps to compile"
                    || found?.reason == "needs more than 4194304 bytes when compiled",
                "\(String(describing: found))")
        }
    }

    private static let schemas: [String] = {
        let numbers = String(repeating: "0,", count: 20_000)
        let parts = String(repeating: #"{"minimum":1},"#, count: 5_000)
        let members = (0..<8_000).map { "\"k\($0)\":{}" }.joined(separator: ",")
        let names = (0..<10_000).map { "\"k\($0)\"" }.joined(separator: ",")
        let resources = (0..<60).map { "\"\($0)\":{\"$id\":\"\($0)\"}" }.joined(separator: ",")
        let base = "http://x/" + String(repeating: "a", count: 40_000) + "/"
        return [
            "{\"enum\": [\(numbers)0]}", "{\"allOf\": [\(parts)true]}", "{\"properties\": {\(members)}}",
            "{\"required\": [\(names)]}", #"{"pattern": "(abcdefghijk){9000}"}"#,
            "{\"description\": \"" + String(repeating: "x", count: 1_100_000) + "\"}",
            "{\"$id\": \"\(base)\", \"$defs\": {\(resources)}}",
        ]
    }()

    @Test("compiling a schema is limited, for every kind of work", arguments: schemas)
    func compiling(schema: String) {
        #expect(fault(schema) == nil)
        let found = fault(schema) {
            $0.maximumSteps = 1_000_000
            $0.maximumBytes = 1 << 20
        }
        #expect(found?.code == .tooLarge, "\(String(describing: found))")
        #expect(fault(schema) { $0.maximumSteps = -1 }?.code == .tooLarge)
    }

    // MARK: Validating

    @Test("limits with the largest possible numbers count as unlimited")
    func noLimits() throws {
        var limits = JSONLimits()
        for limit in [
            \JSONLimits.maximumDepth, \.maximumBytes, \.maximumProblems, \.maximumKeys, \.maximumPatternBytes,
            \.maximumPatternSteps, \.maximumUniqueItems, \.maximumSteps, \.maximumMemoryBytes,
        ] { limits[keyPath: limit] = .max }
        let schema = """
            {"type":"object","additionalProperties":{"anyOf":[{"type":"integer","multipleOf":0.01},{"uniqueItems":true,\
            "items":{"pattern":"^(a|b)+$"}}]},"patternProperties":{"^b":{}},"unevaluatedProperties":false}
            """
        let text = #"{"a":[1,2,"ab",{"b":1}],"b":3,"\u0063":1e2}"#
        #expect(try error(schema, text, limits) == nil)
        #expect(try error(schema, #"{"a":["c","c"]}"#, limits)?.verdict == .doesNotFit)
        let shape = JSONShape.map(of: .either(.number, .array(of: .any)))
        #expect(throws: Never.self) { try shape.validate(Data(text.utf8), limits: limits) }
        #expect(fault(schema) { ($0.maximumSteps, $0.maximumBytes) = (.max, .max) } == nil)
    }

    @Test("the steps of patterns count together, over all strings and keys of a text")
    func patterns() throws {
        let branches = (0..<40).map { "{\"pattern\":\"^(a|b|ab|c\($0)|\\u00e9)*$\"}" }.joined(separator: ",")
        let text =
            "[\((0..<20).map { _ in "\"\(String(repeating: "ab", count: 200))\u{e9}\"" }.joined(separator: ","))]"
        var limits = JSONLimits()
        #expect(try error("{\"items\":{\"allOf\":[\(branches)]}}", text, limits) == nil)
        limits.maximumSteps = 200_000
        let found = try #require(try error("{\"items\":{\"allOf\":[\(branches)]}}", text, limits))
        #expect(found.verdict == .notJudged)
        #expect(found.problems.allSatisfy { $0.expected == "a document whose validation needs at most 200000 steps" })
    }

    @Test("a pattern gets a table only after texts have taken as many steps as building it takes")
    func tables() throws {
        let patterns = (0..<300).map { "\"(a|b)*a(a|b)(a|b)(a|b)k\($0)\":{}" }.joined(separator: ",")
        let schema = try JSONSchema(Data("{\"patternProperties\":{\(patterns)}}".utf8))
        func tables() -> Int {
            schema.program.patterns.count { $0.program.table(.anywhere) != nil }
        }
        try schema.validate(Data("{}".utf8))
        #expect(tables() == 0)
        try schema.validate(Data(#"{"abc": 1}"#.utf8))
        #expect(tables() == 0)
        for _ in 0..<40 { try schema.validate(Data("{\"\(String(repeating: "ab", count: 100))\": 1}".utf8)) }
        #expect(tables() == 300)
    }

    @Test("combinations of patterns are bounded by memory, and the message names the limit")
    func combinations() throws {
        let letters = "abcdefghijkl"
        let patterns = letters.map { "\"\($0)\":{\"type\":\"integer\"}" }.joined(separator: ",")
        let text = (0..<4_096).map { number in
            "\"\(number)\(String(letters.enumerated().filter { number >> $0.offset & 1 != 0 }.map(\.element)))\":1"
        }.joined(separator: ",")
        var limits = JSONLimits()
        #expect(try error("{\"patternProperties\":{\(patterns)}}", "{\(text)}", limits) == nil)
        limits.maximumMemoryBytes = 200_000
        let found = try error("{\"patternProperties\":{\(patterns)}}", "{\(text)}", limits)
        #expect(found?.problems.map(\.expected) == ["a document whose validation needs at most 200000 bytes of memory"])
        #expect(found?.verdict == .notJudged)
    }

    private static let excesses: [(schema: String, text: String, words: String)] = {
        let numbers = { (count: Int) in "[" + (0..<count).map(String.init).joined(separator: ",") + "]" }
        let string = { (count: Int) in String(repeating: "b", count: count) }
        let keys = "{" + (0..<5_000).map { "\"k\($0)\":1" }.joined(separator: ",") + "}"
        let names = (0..<300).map { "\"k\($0)\"" }.joined(separator: ",")
        return [
            (#"{"items": {"minimum": 0}}"#, "[" + String(repeating: "1.5,", count: 2_000) + "1]", "at most 1000 steps"),
            (#"{"uniqueItems": true}"#, numbers(5_000), "70000 bytes of memory"),
            ("{}", keys, "70000 bytes of memory"),
            (#"{"pattern": "a"}"#, "\"" + string(500) + "\"", "at most 300 bytes, because a pattern applies to it"),
            (#"{"pattern": "^(a|b|\u00e9)*$"}"#, "\"" + string(100) + "\u{e9}\"", "in at most 200 steps"),
            (#"{"format": "uri"}"#, "\"a:" + string(2_000) + "\"", "at most 1000 steps"),
            (#"{"minLength": 60000}"#, "\"" + string(60_000) + "\"", "at most 1000 steps"),
            (#"{"multipleOf": 7777777777777777777777}"#, String(repeating: "7", count: 150), "in at most 200 steps"),
            (
                "{\"items\": {\"required\": [\(names)]}}", "[" + String(repeating: "{},", count: 50) + "1]",
                "at most 1000 steps"
            ),
            (
                #"{"anyOf": [{"contains": {"minimum": 3}}, true], "unevaluatedItems": false}"#, numbers(200),
                "at most 1000 steps"
            ),
        ]
    }()

    @Test("every limit is named in the message of a text that exceeds it", arguments: excesses)
    func messages(schema: String, text: String, words: String) throws {
        #expect(try error(schema, text, JSONLimits())?.verdict != .notJudged)
        var limits = JSONLimits()
        if words.hasSuffix("steps"), words.hasPrefix("at most") { limits.maximumSteps = 1_000 }
        limits.maximumPatternSteps = 200
        limits.maximumPatternBytes = 300
        limits.maximumMemoryBytes = 70_000
        let found = try #require(try error(schema, text, limits))
        #expect(found.problems.contains { $0.kind == .limit && $0.expected.contains(words) }, "\(found)")
    }

    @Test("names that are too long for hosts are refused because of their length")
    func names() throws {
        for format in ["idn-hostname", "idn-email", "hostname", "email"] {
            let schema = try JSONSchema(Data("{\"format\":\"\(format)\"}".utf8), formats: .assertion)
            for part in ["\u{3042}", "\u{3042}.", "a.", "xn--a-"] {
                let name = String(repeating: part, count: 40_000)
                let text = format.hasSuffix("email") ? "a@\(name)b" : "\(name)b"
                #expect(throws: JSONValidationError.self) { try schema.validate(Data("\"\(text)\"".utf8)) }
            }
        }
    }

    @Test("limits never reverse a verdict", arguments: 0..<8)
    func verdicts(part: Int) throws {
        var (judged, open) = (0, 0)
        for index in 0..<150 {
            var generator = RandomSchema(seed: 88_000_000 + part * 1_000 + index)
            let tree = generator.schema()
            guard let schema = try? JSONSchema(Data(tree.rendered(&generator.random).utf8)) else { continue }
            for _ in 0..<8 {
                let text = Data(generator.document().rendered(&generator.random).utf8)
                var fits = true
                do { try schema.validate(text) } catch { fits = false }
                var limits = JSONLimits()
                limits.maximumSteps = generator.random.below(40)
                limits.maximumPatternSteps = generator.random.below(12)
                limits.maximumPatternBytes = generator.random.below(4)
                limits.maximumUniqueItems = generator.random.below(4)
                var verdict: JSONValidationError.Verdict?
                do { try schema.validate(text, limits: limits) } catch { verdict = error.verdict }
                if verdict == .notJudged { open += 1 } else { judged += 1 }
                #expect(
                    verdict == .notJudged || (verdict == nil) == fits,
                    "\(tree) \(String(decoding: text, as: UTF8.self))")
            }
        }
        #expect(judged > 50 && open > 15)
    }

    @Test("a text of the maximum depth is validated on a small stack")
    func smallStack() async throws {
        let schema = try JSONSchema(Data(##"{"additionalProperties": {"$ref": "#"}, "items": {"$ref": "#"}}"##.utf8))
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = Data((String(repeating: open, count: 512) + "7" + String(repeating: close, count: 512)).utf8)
            let fits = await withCheckedContinuation { continuation in
                let thread = Thread { continuation.resume(returning: (try? schema.validate(text)) != nil) }
                thread.stackSize = 256 << 10
                thread.start()
            }
            #expect(fits)
        }
    }
}
