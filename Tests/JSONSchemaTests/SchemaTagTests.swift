import ErrandJSONValidation
import Foundation
import Testing

@testable import ErrandJSONSchema

@Suite("JSON Schema: branches that a tag tells apart", .endsInTime, .leakChecked)
struct SchemaTagTests {
    private func error(
        _ schema: JSONSchema, _ text: String, _ limits: JSONLimits = .standard, usesTags: Bool = true
    ) -> JSONValidationError? {
        schema.program.validate(ContiguousArray(text.utf8).span, limits, usesTags: usesTags)
    }

    /// Returns the number of lanes of the root state, and the number that remains for each tag value in a text.
    private func parts(_ schema: JSONSchema, _ text: String) -> (all: Int, left: [Int]) {
        let bytes = ContiguousArray(text.utf8)
        var validator = SchemaValidator(
            SchemaMachine(schema.program), program: schema.program, textCount: bytes.count, limits: .standard)
        validator.run(bytes.span)
        var machine = validator.machine
        let root = machine.state([SchemaMachine.root(schema.program.root, isHard: true)], schema.program)
        let state = machine.arena.states[Int(root)]
        guard state.tag >= 0, state.firstVariant >= 0 else { return (state.laneCount, []) }
        let count = schema.program.tags[Int(state.tag)].branches.count
        let variants = machine.arena.indexes[state.firstVariant..<state.firstVariant + count]
        return (state.laneCount, variants.filter { $0 >= 0 }.map { machine.arena.states[Int($0)].laneCount })
    }

    private static func union(_ count: Int, _ keyword: String = "oneOf") -> String {
        let branches = (0..<count).map {
            #"{"properties": {"kind": {"const": "k\#($0)"}, "v": {"type": "integer"}}, "required": ["kind"]}"#
        }
        return "{\"\(keyword)\": [\(branches.joined(separator: ","))]}"
    }

    @Test(
        "one branch remains, with the tag in any position and spelling",
        arguments: [
            #"{"kind":"k7","v":1}"#, #"{"v":1,"kind":"k7"}"#, #" { "v" : {"kind":"k1"} , "kind" : "k7" } "#,
            #"{"\u006bind":"k\u0037"}"#, #"{"x":"}\"","y":[{"kind":"k2"}],"kind":"k7","kind":"k8"}"#,
            "{\"kind\":\"k7\"}",
        ])
    func remains(text: String) throws {
        let found = parts(try JSONSchema(Data(Self.union(100).utf8)), text)
        #expect(found.all == 101 && found.left == [2])
    }

    @Test("no branch remains for an unknown or missing tag", arguments: [#"{"kind":"x"}"#, #"{"kind":7}"#, "{}"])
    func nothing(text: String) throws {
        let schema = try JSONSchema(Data(Self.union(100).utf8))
        #expect(parts(schema, text).left == [1])
        let found = error(schema, text)
        #expect(found == error(schema, text, usesTags: false))
        #expect(found?.problems.first?.expected == "a value that fits one of 100 schemas")
    }

    @Test("tags can be numbers and literals, come after references, be missing in some branches, and be nested")
    func kinds() throws {
        let schema = try JSONSchema(
            Data(
                ##"""
                {"$defs": {"one": {"properties": {"v": {"const": 1}}, "required": ["v"]},
                  "base": {"required": ["v"]}},
                 "anyOf": [{"$ref": "#/$defs/one"}, {"type": "null"},
                  {"allOf": [{"$ref": "#/$defs/base"}, {"properties": {"v": {"enum": [2.50, true]}}}]},
                  {"properties": {"v": {"const": "x"}}, "required": ["v"], "oneOf": [
                    {"properties": {"w": {"const": "a"}}, "required": ["w"]},
                    {"properties": {"w": {"const": "b"}}, "required": ["w"]},
                    {"properties": {"w": {"const": "c"}}, "required": ["w"]}]}]}
                """##.utf8))
        #expect(schema.program.tags.count == 2)
        for (text, fits) in [
            (#"{"v":1.0}"#, true), (#"{"v":10e-1}"#, true), (#"{"v":2.5}"#, true), (#"{"v":true}"#, true),
            (#"{"v":false}"#, false), (#"{"v":"x"}"#, false), (#"{"v":"x","w":"b"}"#, true), ("null", true),
            (#"{"w":"b","v":"x"}"#, true), (#"{"w":"d","v":"x"}"#, false), (#"{"v":[1]}"#, false), ("{}", false),
        ] {
            #expect((error(schema, text) == nil) == fits, "\(text)")
            #expect(error(schema, text) == error(schema, text, usesTags: false), "\(text)")
        }
        #expect(parts(schema, #"{"v":1}"#).left == [3])
    }

    /// `ERRAND_SCHEMA_VERDICTS=1000000 swift test --filter SchemaTagTests` compares that many verdicts.
    private static let verdicts =
        ProcessInfo.processInfo.environment["ERRAND_SCHEMA_VERDICTS"].flatMap { Int($0) } ?? 10_000

    @Test("random unions have the same problems with and without tags", arguments: 0..<10)
    func agrees(part: Int) {
        var (tagged, valid, invalid) = (0, 0, 0)
        let count = max(50, Self.verdicts / 200)
        for index in 0..<count {
            var generator = RandomUnion(seed: part * 100_000 + index)
            let text = generator.schema().rendered(&generator.random)
            guard let schema = try? JSONSchema(Data(text.utf8)) else { continue }
            if !schema.program.tags.isEmpty { tagged += 1 }
            for _ in 0..<20 {
                var document = generator.document().rendered(&generator.random)
                if generator.random.chance(10) { document = String(document.dropLast(generator.random.below(9))) }
                var limits = JSONLimits()
                limits.maximumProblems = generator.random.pick([1, 20, 1_000])
                limits.refusesRepeatedKeys = !generator.random.chance(4)
                if generator.random.chance(6) { limits.maximumKeys = generator.random.below(6) }
                if generator.random.chance(8) { limits.maximumDepth = 1 + generator.random.below(3) }
                let isFirst = generator.random.chance(2)
                let first = error(schema, document, limits, usesTags: isFirst)
                let second = error(schema, document, limits, usesTags: !isFirst)
                if first == nil { valid += 1 } else { invalid += 1 }
                limits.maximumSteps = generator.random.below(200)
                let short = error(schema, document, limits)?.verdict
                #expect(short == .notJudged || short == first?.verdict, "\(part) \(index): \(document) by \(text)")
                if first == second { continue }
                Issue.record(
                    "\(part) \(index): \(document) by \(text): \(isFirst): \(String(describing: first)) and \(String(describing: second))"
                )
                return
            }
        }
        #expect(tagged > count * 2 / 5 && valid > count && invalid > count, "\(tagged) \(valid) \(invalid)")
    }

    @Test("annotations come from all branches")
    func annotations() throws {
        let branches = (0..<10).map {
            #"{"title": "t\#($0)", "properties": {"kind": {"const": "k\#($0)"}}, "required": ["kind"]}"#
        }
        let schema = try JSONSchema(Data("{\"oneOf\": [\(branches.joined(separator: ","))]}".utf8))
        let text = Data(#"{"kind":"k3"}"#.utf8)
        try schema.validate(text)
        #expect(try schema.annotations(of: text).map(\.schemaLocation) == ["#/oneOf/3/title"])
    }

    @Test("a late tag is searched for within a budget, even in nested objects")
    func budget() throws {
        let text =
            ##"{"$defs": {"u": \##(Self.union(50, "anyOf").dropLast()), "properties": {"in": {"$ref": "#/$defs/u"}}}}, "$ref": "#/$defs/u"}"##
        let schema = try JSONSchema(Data(text.utf8))
        let filler = String(repeating: "x", count: 2_000)
        let nested =
            String(repeating: "{\"f\":\"\(filler)\",\"in\":", count: 400) + "{\"kind\":\"k3\"}"
            + String(repeating: ",\"kind\":\"k4\",\"v\":7}", count: 400)
        #expect(error(schema, nested) == nil && error(schema, nested, usesTags: false) == nil)
        let wrong = nested.replacingOccurrences(of: "\"k3\"", with: "3")
        #expect(error(schema, wrong) != nil && error(schema, wrong) == error(schema, wrong, usesTags: false))
    }

    @Test("many tags use only a share of a text's memory limit")
    func memory() throws {
        let schema = try JSONSchema(Data("{\"items\": \(Self.union(6_000))}".utf8))
        let objects = (0..<6_000).map { "{\"kind\":\"k\($0)\",\"v\":1}" }
        let text = "[\(objects.joined(separator: ","))]"
        var limits = JSONLimits()
        limits.maximumSteps = .max
        #expect(error(schema, text, limits) == nil)
        limits.maximumMemoryBytes = 8 << 20
        #expect(error(schema, text, limits) == nil)
    }
}
