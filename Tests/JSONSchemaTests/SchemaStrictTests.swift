import ErrandJSONValidation
import Foundation
import Testing

@testable import ErrandJSONSchema

@Suite("JSON Schema: schemas that don't compile, and verdicts", .endsInTime, .leakChecked)
struct SchemaStrictTests {
    private func fault(_ text: String, _ dialect: JSONSchemaDialect) -> JSONSchemaError? {
        do { _ = try JSONSchema(Data(text.utf8), dialect: dialect) } catch { return error }
        return nil
    }

    @Test(
        "lists whose elements must differ don't compile if two are equal",
        arguments: [
            (#"{"required": ["a", "a"]}"#, "/required/1"), (#"{"required": ["a", "b", "\u0061"]}"#, "/required/2"),
            (#"{"type": ["integer", "integer"]}"#, "/type/1"), (#"{"type": ["null", "array", "null"]}"#, "/type/2"),
            (#"{"dependencies": {"k": ["a", "a"]}}"#, "/dependencies/k/1"),
        ])
    func equalElements(schema: String, pointer: String) {
        for dialect in [JSONSchemaDialect.draft7, .draft2019_09, .draft2020_12] {
            let found = fault(schema, dialect)
            #expect(found?.code == .invalidKeyword && found?.pointer == pointer, "\(String(describing: found))")
        }
        #expect(fault(#"{"dependentRequired": {"k": ["a", "a"]}}"#, .draft2020_12)?.pointer == "/dependentRequired/k/1")
        #expect(fault(#"{"required": [], "type": ["integer", "number"], "enum": [1, 1]}"#, .draft2020_12) == nil)
    }

    @Test("a schema compiles if the metaschema accepts it", arguments: 0..<4)
    func metaschemas(part: Int) throws {
        let uris: [(JSONSchemaDialect, String)] = [
            (.draft7, "http://json-schema.org/draft-07/schema#"),
            (.draft2019_09, "https://json-schema.org/draft/2019-09/schema"),
            (.draft2020_12, "https://json-schema.org/draft/2020-12/schema"),
        ]
        let values = [
            "1", "-1", "1.5", "0", "null", "true", "\"a\"", "\"object\"", "[]", "{}", "[\"a\"]", "[\"a\",\"a\"]",
            "[{}]",
            "[1]", "{\"a\":{}}", "{\"a\":1}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\",\"b\"]}", "[\"object\",\"array\"]",
            "[\"object\",\"object\"]", "[true,1]", "\"(\"",
        ]
        let keywords = [
            "type", "required", "enum", "const", "multipleOf", "minimum", "exclusiveMaximum", "minLength", "maxItems",
            "uniqueItems", "allOf", "oneOf", "not", "if", "items", "contains", "properties", "patternProperties",
            "additionalProperties", "propertyNames", "title", "description", "readOnly", "examples", "format",
            "pattern",
            "$comment", "definitions", "minContains", "maxProperties", "default",
        ]
        var random = SeededGenerator(seed: 4_711 + part)
        var (good, bad) = (0, 0)
        for (dialect, uri) in uris {
            let metaschema = try JSONSchema(Data("{\"$ref\":\"\(uri)\"}".utf8), dialect: dialect, formats: .assertion)
            for _ in 0..<400 {
                let text = "{\"\(random.pick(keywords))\": \(random.pick(values))}"
                var isSchema = true
                do { try metaschema.validate(Data(text.utf8)) } catch { isSchema = false }
                // The metaschema's `format` makes `pattern` and the keys of `patternProperties` regular expressions.
                let found = fault(text, dialect)
                #expect((found == nil) == isSchema, "\(text) \(uri): \(String(describing: found))")
                if isSchema { good += 1 } else { bad += 1 }
            }
        }
        #expect(good > 200 && bad > 200)
    }

    @Test("each element and each key that no schema evaluates is listed")
    func unevaluated() throws {
        #expect(
            try violations(#"{"contains": {"type": "string"}, "unevaluatedItems": false}"#, #"[1, "a", 2, 3]"#) == [
                "/0 #/unevaluatedItems", "/2 #/unevaluatedItems", "/3 #/unevaluatedItems",
            ])
        #expect(
            try violations(
                #"{"anyOf": [{"properties": {"a": true}}, {"properties": {"b": true}, "required": ["b"]}], "unevaluatedProperties": false}"#,
                #"{"a": 1, "b": 2, "c": 3, "d": 4}"#) == [
                    "/c #/unevaluatedProperties", "/d #/unevaluatedProperties",
                ])
        let text = "[\((0..<50).map(String.init).joined(separator: ","))]"
        let schema = try JSONSchema(Data(#"{"contains": {"const": 7}, "unevaluatedItems": false}"#.utf8))
        let error = #expect(throws: JSONValidationError.self) { try schema.validate(Data(text.utf8)) }
        #expect(error?.count == 49 && error?.problems.count == 20 && error?.problems.first?.pointer == "/0")
    }

    @Test("an error shows whether the text is invalid or couldn't be judged")
    func verdicts() throws {
        var limits = JSONLimits()
        limits.maximumPatternBytes = 3
        func verdict(_ schema: String, _ text: String) throws -> JSONValidationError.Verdict? {
            let schema = try JSONSchema(Data(schema.utf8))
            do { try schema.validate(Data(text.utf8), limits: limits) } catch { return error.verdict }
            return nil
        }
        #expect(try verdict(#"{"pattern": "a"}"#, #""b""#) == .doesNotFit)
        #expect(try verdict(#"{"pattern": "a"}"#, #""bbbb""#) == .notJudged)
        #expect(try verdict(#"{"items": {"pattern": "a"}, "maxItems": 1}"#, #"["bbbb", "a"]"#) == .doesNotFit)
        #expect(try verdict(#"{"anyOf": [{"pattern": "a"}, {"maxLength": 1}]}"#, #""bbbb""#) == .notJudged)
        #expect(try verdict(#"{"not": {"pattern": "a"}}"#, #""bbbb""#) == .notJudged)
        #expect(try verdict(#"{"items": {"pattern": "a"}}"#, #"["bbbb", "a""#) == .doesNotFit)
    }
}
