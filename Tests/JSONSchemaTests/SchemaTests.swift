import ErrandJSONSchema
import ErrandJSONValidation
import Foundation
import Testing

/// Returns a schema's violations for a text: each problem's pointer and its location in the schema, separated by a
/// space.
func violations(
    _ schema: String, _ text: String, dialect: JSONSchemaDialect = .draft2020_12,
    formats: JSONSchemaFormats = .annotation
) throws -> [String] {
    let schema = try JSONSchema(Data(schema.utf8), dialect: dialect, formats: formats)
    do { try schema.validate(Data(text.utf8)) } catch {
        return error.problems.map { "\($0.pointer) \($0.schemaLocation ?? "-")" }
    }
    return []
}

@Suite("JSON Schema: keywords", .endsInTime, .leakChecked)
struct SchemaTests {
    @Test("the assertions of the validation vocabulary report positions in the document and the schema")
    func assertions() throws {
        let schema = """
            {"type": "object", "required": ["id", "name"], "properties": {
              "id": {"type": "integer", "minimum": 1}, "name": {"type": "string", "minLength": 2, "pattern": "^[A-Z]"},
              "price": {"type": "number", "exclusiveMaximum": 100, "multipleOf": 0.01},
              "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2, "uniqueItems": true},
              "state": {"enum": ["open", "closed", null]}, "kind": {"const": {"a": [1, 2]}}},
             "additionalProperties": false, "maxProperties": 6}
            """
        #expect(
            try violations(
                schema, #"{"id": 7.0, "name": "Ada", "price": 99.99, "state": null, "kind": {"a": [1.0, 2e0]}}"#) == [])
        #expect(try violations(schema, #"{"id": 0}"#) == ["/id #/properties/id/minimum", "/name #/required"])
        #expect(
            try violations(schema, #"{"id": 1.5, "name": "a", "price": 0.015, "tags": ["x", "\u0078", 3], "x": 1}"#)
                == [
                    "/id #/properties/id/type", "/name #/properties/name/minLength", "/name #/properties/name/pattern",
                    "/price #/properties/price/multipleOf", "/tags/2 #/properties/tags/items/type",
                    "/tags #/properties/tags/maxItems", "/tags #/properties/tags/uniqueItems",
                    "/x #/additionalProperties",
                ])
        #expect(
            try violations(schema, #"{"id": 1, "name": "Bo", "state": "lost", "kind": {"a": [2, 1]}}"#) == [
                "/state #/properties/state/enum", "/kind #/properties/kind/const",
            ])
        #expect(try violations(schema, "[]") == [" #/type"])
    }

    @Test("numbers are exact decimals of any size")
    func numbers() throws {
        for (schema, text, fits) in [
            (#"{"multipleOf": 0.0001}"#, "0.0075", true), (#"{"multipleOf": 0.0001}"#, "0.00751", false),
            (#"{"multipleOf": 0.5}"#, "1e308", true), (#"{"multipleOf": 0.123456789}"#, "1e308", false),
            (#"{"multipleOf": 3}"#, "3e400", true),
            (#"{"multipleOf": 7}"#, "1" + String(repeating: "0", count: 60), false),
            (#"{"multipleOf": 12345678901234567890123}"#, "24691357802469135780246", true),
            (#"{"multipleOf": 12345678901234567890123}"#, "24691357802469135780247", false),
            (#"{"multipleOf": 1e5}"#, "1e4", false), (#"{"multipleOf": 1e-400}"#, "3", true),
            (#"{"maximum": 9007199254740992}"#, "9007199254740993", false),
            (#"{"maximum": 0.1}"#, "0.1000000000000000000000000001", false),
            (#"{"minimum": -1e400}"#, "-1e399", true), (#"{"minimum": -1e400}"#, "-1e401", false),
            (#"{"exclusiveMinimum": 0}"#, "1e-999999999999", true), (#"{"exclusiveMinimum": 0}"#, "-0.0", false),
            (#"{"type": "integer"}"#, "1.0e2", true), (#"{"type": "integer"}"#, "12.5e1", true),
            (#"{"type": "integer"}"#, "12.5e0", false), (#"{"const": 1}"#, "10e-1", true),
            (#"{"const": 0}"#, "-0e7", true),
            (#"{"enum": [100000000000000000001]}"#, "100000000000000000002", false),
        ] { #expect(try violations(schema, text).isEmpty == fits, "\(schema) \(text)") }
    }

    @Test("a problem of an in-place applicator names the keyword, and the closest branch explains it")
    func applicators() throws {
        let schema = """
            {"oneOf": [
              {"properties": {"kind": {"const": "card"}, "number": {"type": "string"}}, "required": ["kind", "number"]},
              {"properties": {"kind": {"const": "iban"}, "iban": {"type": "string"}}, "required": ["kind", "iban"]}]}
            """
        #expect(try violations(schema, #"{"kind": "card", "number": "4"}"#) == [])
        #expect(
            try violations(schema, #"{"kind": "iban", "iban": 4}"#) == [
                " #/oneOf", "/iban #/oneOf/1/properties/iban/type",
            ])
        #expect(try violations(#"{"oneOf": [{"minimum": 1}, {"maximum": 5}]}"#, "3") == [" #/oneOf"])
        #expect(
            try violations(#"{"anyOf": [{"type": "string"}, {"minimum": 5}]}"#, "3") == [
                " #/anyOf", " #/anyOf/1/minimum",
            ])
        #expect(try violations(#"{"not": {"type": "null"}}"#, "null") == [" #/not"])
        let conditional = """
            {"if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"required": ["b"]}, "else": {"required": ["c"]}}
            """
        #expect(try violations(conditional, #"{"a": 1}"#) == ["/b #/then/required"])
        #expect(try violations(conditional, #"{"a": 2}"#) == ["/c #/else/required"])
        #expect(
            try violations(#"{"dependentSchemas": {"a/b": {"minProperties": 2}}}"#, #"{"a/b": 1}"#) == [
                " #/dependentSchemas/a~1b/minProperties"
            ])
        #expect(try violations(#"{"dependentRequired": {"a": ["b"]}}"#, #"{"a": 1}"#) == ["/b #/dependentRequired"])
        #expect(
            try violations(#"{"propertyNames": {"maxLength": 2}}"#, #"{"abc": 1}"#) == [
                "/abc #/propertyNames/maxLength"
            ])
        #expect(try violations(#"{"contains": {"type": "null"}}"#, "[1]") == [" #/contains"])
        #expect(
            try violations(#"{"contains": {"type": "null"}, "minContains": 0, "maxContains": 1}"#, "[null, null]") == [
                " #/maxContains"
            ])
    }

    @Test("unevaluated keys and elements are found through branches that hold")
    func unevaluated() throws {
        let schema = """
            {"properties": {"a": true}, "anyOf": [{"properties": {"b": {"type": "string"}}, "required": ["b"]},
              {"properties": {"c": true}, "required": ["c"]}], "unevaluatedProperties": false}
            """
        #expect(try violations(schema, #"{"a": 1, "b": ""}"#) == [])
        #expect(try violations(schema, #"{"a": 1, "c": "", "b": 7}"#) == ["/b #/unevaluatedProperties"])
        #expect(try violations(schema, #"{"b": "", "d": 7}"#) == ["/d #/unevaluatedProperties"])
        let items = #"{"prefixItems": [true], "contains": {"type": "string"}, "unevaluatedItems": {"type": "null"}}"#
        #expect(try violations(items, #"[1, "a", null, "b"]"#) == [])
        #expect(try violations(items, #"[1, "a", 2]"#) == ["/2 #/unevaluatedItems"])
    }

    @Test("lengths count characters, and comparisons decode escapes but don't normalize")
    func strings() throws {
        #expect(try violations(#"{"maxLength": 2, "minLength": 2}"#, #""\ud83d\ude00😀""#) == [])
        #expect(try violations(#"{"const": "a\u00e9\n"}"#, #""\u0061é\u000a""#) == [])
        #expect(try violations(#"{"const": "\u00e9"}"#, #""e\u0301""#) == [" #/const"])
        #expect(try violations(#"{"properties": {"\u00e9": false}}"#, #"{"e\u0301": 1, "x": 2}"#) == [])
        #expect(try violations(#"{"enum": ["\u00e9"]}"#, #""e\u0301""#) == [" #/enum"])
        #expect(try violations(#"{"uniqueItems": true}"#, #"["\u00e9", "e\u0301"]"#) == [])
        #expect(try violations(#"{"required": ["\u00e9"]}"#, #"{"e\u0301": 1}"#) == ["/\u{E9} #/required"])
        #expect(try violations(#"{"const": {"e\u0301": 1}}"#, #"{"\u00e9": 1}"#) == [" #/const"])
        #expect(try violations(#"{"const": "\u00b5"}"#, #""\u03bc""#) == [" #/const"])
        #expect(try violations(#"{"required": ["\""]}"#, #"{"\u0022": 1}"#) == [])
        #expect(try violations(#"{"pattern": "^\\p{Lu}+$"}"#, #""\u00c9É""#) == [])
    }

    @Test(
        "formats are annotations by default, and assertions on demand",
        arguments: [
            ("date-time", "2024-02-29T12:00:00Z", "2023-02-29T12:00:00Z"), ("date", "2024-12-31", "2024-13-01"),
            ("time", "23:59:60Z", "22:59:60Z"), ("duration", "P1Y2M3DT4H5M6S", "P1Y2D"),
            ("email", "a.b@example.com", "a..b@example.com"),
            ("hostname", "xn--ihqwcrb4cv8a8dqg056pqjye.example", "-bad.example"), ("idn-hostname", "例え.jp", "ー・.l·"),
            ("ipv4", "192.168.0.1", "192.168.00.1"), ("ipv6", "2001:db8::1", "2001::db8::1"),
            ("uri", "https://a@b.test:8080/c?d#e", "//b.test/c"), ("uri-reference", "../c?d", "a b"),
            ("iri", "http://ƒøø.ßår/?∂éœ=πîx", "http://a b"),
            ("uuid", "2EB8AA08-AA98-11EA-B4AA-73B441D16380", "2eb8aa08aa9811eab4aa73b441d16380"),
            ("uri-template", "http://a/{id:3}{?x*,y}", "http://a/{id"), ("json-pointer", "/a~1b/0", "a~2"),
            ("relative-json-pointer", "1/a", "01/a"), ("regex", "^(a|b)\\k<c>(?<c>d)$", "^(a"),
        ])
    func formats(name: String, valid: String, invalid: String) throws {
        let schema = #"{"format": "\#(name)"}"#
        func quoted(_ text: String) throws -> String { String(decoding: try JSONEncoder().encode(text), as: UTF8.self) }
        #expect(try violations(schema, try quoted(valid), formats: .assertion) == [])
        #expect(try violations(schema, try quoted(invalid), formats: .assertion) == [" #/format"])
        #expect(try violations(schema, try quoted(invalid)) == [])
        #expect(try violations(schema, "12", formats: .assertion) == [])
    }

    @Test("an unknown format doesn't reject any value")
    func unknownFormat() throws {
        #expect(try violations(#"{"format": "colour"}"#, #""x""#, formats: .assertion) == [])
    }

    @Test("problems are described in words")
    func words() throws {
        let schema = try JSONSchema(Data(#"{"$id": "https://a.test/s", "items": {"maximum": 2.50}}"#.utf8))
        do {
            try schema.validate(Data("[7]".utf8))
            Issue.record("7 is accepted")
        } catch {
            #expect(
                error.description
                    == "JSON validation failed: /0: expected a number of at most 2.5, found another number (byte 1), "
                    + "by https://a.test/s#/items/maximum (1 problem)")
        }
    }

    @Test("invalid JSON and repeated keys are problems without a location in the schema")
    func syntax() throws {
        #expect(try violations("true", "[1,]") == ["/1 -"])
        #expect(try violations("{}", "") == [" -"])
        #expect(
            try violations(#"{"properties": {"a": {"type": "null"}}}"#, #"{"a": null, "\u0061": 1}"#) == [
                "/a -", "/a #/properties/a/type",
            ])
        #expect(try violations("{}", #"{"x": 1, "x": 1}"#) == ["/x -"])
    }
}
