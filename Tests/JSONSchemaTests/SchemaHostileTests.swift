import ErrandJSONSchema
import ErrandJSONValidation
import Foundation
import Testing

@Suite("JSON Schema: hostile schemas and documents", .endsInTime, .leakChecked)
struct SchemaHostileTests {
    private func problems(_ schema: JSONSchema, _ text: String, _ limits: JSONLimits = .standard) -> [JSONProblem] {
        do { try schema.validate(Data(text.utf8), limits: limits) } catch { return error.problems }
        return []
    }

    private func fault(_ text: String) -> JSONSchemaError? {
        do { _ = try JSONSchema(Data(text.utf8)) } catch { return error }
        return nil
    }

    @Test("tens of thousands of chained definitions are compiled")
    func chain() throws {
        #if DEBUG
        let count = 20_000
        #else
        let count = 100_000
        #endif
        let definitions = (0..<count).map { "\"d\($0)\":{\"$ref\":\"#/$defs/d\($0 + 1)\"}" }.joined(separator: ",")
        let text = ##"{"$ref":"#/$defs/d0","$defs":{\##(definitions),"d\##(count)":{"type":"null"}}}"##
        let schema = try JSONSchema(Data(text.utf8))
        #expect(problems(schema, "null").isEmpty && problems(schema, "1").count == 1)
        let loop = text.replacingOccurrences(of: #"{"type":"null"}"#, with: ##"{"$ref":"#/$defs/d7"}"##)
        #expect(fault(loop)?.code == .endlessRecursion)
    }

    @Test("a schema in a pipe, a device, a directory or a place without a file is refused at once, and a file is read")
    func irregularFile() throws {
        let folder = URL.temporaryDirectory.appending(path: "schema-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = folder.appending(path: "pipe")
        #expect(mkfifo(pipe.path, 0o600) == 0)
        let page = try #require(URL(string: "https://example.com/schema.json"))
        for place in [pipe, folder, URL(filePath: "/dev/zero"), folder.appending(path: "none"), page] {
            let error = #expect(throws: JSONSchemaError.self) { try JSONSchema(contentsOf: place) }
            #expect(error?.code == .notJSON && error?.reason.hasPrefix("cannot be read") == true)
        }
        let file = folder.appending(path: "schema.json")
        try Data(#"{"type":"null"}"#.utf8).write(to: file)
        #expect(problems(try JSONSchema(contentsOf: file), "1").count == 1)
        var limits = JSONSchemaLimits()
        limits.maximumBytes = 3
        let error = #expect(throws: JSONSchemaError.self) { try JSONSchema(contentsOf: file, limits: limits) }
        #expect(error?.code == .tooLarge)
    }

    @Test("a schema that is nested too deeply is refused, alone or within a document")
    func deepSchema() throws {
        let deep = String(repeating: #"{"not":"#, count: 100_000) + "true" + String(repeating: "}", count: 100_000)
        #expect(fault(deep)?.code == .tooLarge)
        let allowed = String(repeating: #"{"items":"#, count: 400) + "false" + String(repeating: "}", count: 400)
        let schema = try JSONSchema(Data(allowed.utf8))
        let nested = { (count: Int) in String(repeating: "[", count: count) + String(repeating: "]", count: count) }
        #expect(problems(schema, nested(400)).isEmpty && !problems(schema, nested(401)).isEmpty)
    }

    @Test("a deeply nested document is validated, even if all of it is hashed")
    func deepDocument() throws {
        var limits = JSONLimits()
        let nested = { (count: Int) in String(repeating: "[", count: count) + String(repeating: "]", count: count) }
        let schema = try JSONSchema(Data(##"{"uniqueItems": true, "items": {"$ref": "#"}}"##.utf8))
        #expect(problems(schema, nested(100_000)).first?.kind == .limit)
        limits.maximumDepth = 1_000_000
        #expect(problems(schema, nested(100_000), limits).isEmpty)
        let twice = "[\(nested(50_000)),\(nested(50_000)) ]"
        #expect(problems(schema, twice, limits).first?.schemaLocation == "#/uniqueItems")
    }

    @Test("nested branches are read once, at any depth")
    func nestedBranches() throws {
        let text = """
            {"$defs": {"n": {"anyOf": [
              {"items": {"$ref": "#/$defs/n"}, "maxItems": 1}, {"items": {"$ref": "#/$defs/n"}, "type": "array"},
              {"items": {"oneOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}}]}}, "$ref": "#/$defs/n"}
            """
        let schema = try JSONSchema(Data(text.utf8))
        let nested = String(repeating: "[", count: 400) + "1" + String(repeating: "]", count: 400)
        var limits = JSONLimits()
        limits.maximumSteps = 400 * 20
        #expect(problems(schema, nested, limits).isEmpty)
    }

    @Test("explaining branches that all fail is limited")
    func explanations() throws {
        let branches = (0..<300).map { ##"{"required": ["k\##($0)"], "additionalProperties": {"$ref": "#"}}"## }
        let schema = try JSONSchema(
            Data(#"{"type": ["object", "null"], "oneOf": [\#(branches.joined(separator: ","))]}"#.utf8))
        let nested = String(repeating: #"{"a":"#, count: 200) + "null" + String(repeating: "}", count: 200)
        let found = problems(schema, nested)
        #expect(found.contains { $0.schemaLocation == "#/oneOf" } && found.count <= 20)
    }

    @Test("a union with four times the branches takes four times the steps")
    func unions() throws {
        func steps(_ count: Int) throws -> Int {
            let branches = (0..<count).map {
                #"{"properties": {"kind": {"const": "k\#($0)"}, "v": {"type": "integer"}}, "required": ["kind"]}"#
            }
            let schema = try JSONSchema(Data(#"{"items": {"oneOf": [\#(branches.joined(separator: ","))]}}"#.utf8))
            let text = "[" + (0..<50).map { #"{"kind":"k\#($0)","v":1}"# }.joined(separator: ",") + "]"
            var (low, high) = (0, 10_000_000)
            while low < high {
                var limits = JSONLimits()
                limits.maximumSteps = (low + high) / 2
                if problems(schema, text, limits).isEmpty {
                    high = (low + high) / 2
                } else {
                    low = (low + high) / 2 + 1
                }
            }
            return low
        }
        let (few, many) = (try steps(100), try steps(400))
        #expect(few > 10_000 && many <= few * 4)
    }

    @Test(
        "patterns that make other engines backtrack are matched",
        arguments: ["^(a+)+$", "^(a|aa)+$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"])
    func patterns(pattern: String) throws {
        let schema = try JSONSchema(
            Data(#"{"pattern": "\#(pattern)", "propertyNames": {"pattern": "\#(pattern)"}}"#.utf8))
        let long = String(repeating: "a", count: 20_000) + "!"
        #expect(problems(schema, "\"\(long)\"").map(\.kind) == [.value])
        #expect(problems(schema, "{\"\(long)\":1}").map(\.kind) == [.value])
        #expect(problems(schema, "\"\(long)\u{e9}\"").map(\.kind) == [.value])
    }

    @Test("an enumeration of 100,000 values is validated")
    func enumeration() throws {
        let values = (0..<50_000).map { "\"value \($0)\",\($0).5" }.joined(separator: ",")
        let schema = try JSONSchema(Data(#"{"items": {"enum": [\#(values), {"a": [1]}]}}"#.utf8))
        let text = "[" + (0..<20_000).map { "\"value \($0)\",\($0 * 2).50" }.joined(separator: ",") + #",{"a":[1.0]}]"#
        #expect(problems(schema, text).isEmpty)
        #expect(problems(schema, #"["value 50000", 1.25, {"a": [2]}, null]"#).count == 4)
    }

    @Test("elements are compared for uniqueness up to a limit")
    func unique() throws {
        let schema = try JSONSchema(Data(#"{"uniqueItems": true}"#.utf8))
        let elements = (0..<20_000).map { #"{"b":[\#($0)],"a":"x"}"# }
        #expect(problems(schema, "[\(elements.joined(separator: ","))]").isEmpty)
        #expect(problems(schema, #"[\#(elements.joined(separator: ",")),{"a":"\u0078","b":[7e0]}]"#).count == 1)
        var limits = JSONLimits()
        limits.maximumUniqueItems = 10
        #expect(problems(schema, "[\((0...10).map { "\($0)" }.joined(separator: ","))]", limits).first?.kind == .limit)
    }

    @Test("a number with a million digits is validated")
    func longNumber() throws {
        let schema = try JSONSchema(Data(#"{"multipleOf": 7, "minimum": 1e999999}"#.utf8))
        let digits = String(repeating: "7", count: 1_000_001)
        #expect(problems(schema, digits).isEmpty)
        let divisor = String(repeating: "7", count: 900)
        let other = try JSONSchema(Data(#"{"multipleOf": \#(divisor)}"#.utf8))
        #expect(problems(other, digits).map(\.kind) == [.limit])
        #expect(fault(#"{"minimum": \#(digits)}"#)?.code == .tooLarge)
    }

    @Test("many schemas that need other schemas' evaluated members are validated")
    func unevaluated() throws {
        let branches = (0..<600).map {
            ##"{"$ref": "#/$defs/b\##($0 + 1)", "properties": {"k\##($0)": true}, "unevaluatedProperties": true}"##
        }
        let definitions = branches.enumerated().map { #""b\#($0)": \#($1)"# }.joined(separator: ",")
        let text = ##"{"$ref": "#/$defs/b0", "unevaluatedProperties": false, "$defs": {\##(definitions), "b600": {}}}"##
        let schema = try JSONSchema(Data(text.utf8))
        #expect(problems(schema, #"{"k5": 1, "other": 2}"#).isEmpty)
    }

    @Test("a union that needs the evaluated properties of every branch is limited")
    func steps() throws {
        let schema = try JSONSchema(Data(#"{"items": {"anyOf": [{"minimum": 1}, {"maximum": 0}]}}"#.utf8))
        var limits = JSONLimits()
        limits.maximumSteps = 100
        let text = "[\((0..<100).map { "\($0)" }.joined(separator: ","))]"
        #expect(problems(schema, text, limits).map(\.kind) == [.limit])
        #expect(problems(schema, text).isEmpty)
    }

    @Test("a schema serves many tasks at the same time")
    func concurrency() async throws {
        let schema = try JSONSchema(Data(#"{"items": {"anyOf": [{"type": "string"}, {"minimum": 3}]}}"#.utf8))
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<64 {
                group.addTask {
                    let text = "[\"a\", \(index), \"b\(index)\"]"
                    do { try schema.validate(Data(text.utf8)) } catch { return index < 3 }
                    return index >= 3
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
