import ErrandJSONSchema
import ErrandJSONValidation
import Foundation
import Testing

@Suite("JSON Schema: annotations", .endsInTime, .leakChecked)
struct SchemaAnnotationTests {
    private func annotations(_ schema: String, _ text: String) throws -> [String] {
        try JSONSchema(Data(schema.utf8)).annotations(of: Data(text.utf8)).map(\.description)
    }

    @Test("values have their metadata, formats, content keywords and unknown keywords as annotations")
    func values() throws {
        let schema = """
            {"title": "A file", "properties": {"data": {"contentEncoding": "base64", "contentMediaType": "image/png"},
              "old": {"deprecated": true, "x-unit": "mm"}, "mail": {"format": "email"}},
             "additionalProperties": {"$ref": "#/$defs/other"}, "$defs": {"other": {"description": "Other"}}}
            """
        #expect(
            try annotations(schema, #"{"old": 3, "data": "AA==", "more": 1}"#) == [
                "document: title \"A file\", by #/title", "/old: deprecated true, by #/properties/old/deprecated",
                "/old: x-unit \"mm\", by #/properties/old/x-unit",
                "/data: contentEncoding \"base64\", by #/properties/data/contentEncoding",
                "/data: contentMediaType \"image/png\", by #/properties/data/contentMediaType",
                "/more: description \"Other\", by #/$defs/other/description",
            ])
        #expect(
            try annotations(schema, #"{"data": 7, "mail": "x"}"#).last
                == "/mail: format \"email\", by #/properties/mail/format")
    }

    @Test("the content of strings is annotated and not checked, in every draft")
    func contents() throws {
        for draft in ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"] {
            let schema = """
                {"$schema": "\(draft)", "contentEncoding": "base64", "contentMediaType": "application/json",
                 "contentSchema": {"type": "object"}}
                """
            // "e30=" is {}, "!" isn't Base64, and "eDp5" isn't JSON.
            for text in [#""e30=""#, #""!""#, #""eDp5""#, #""{:}""#, "100"] {
                for formats in [JSONSchemaFormats.annotation, .assertion] {
                    try JSONSchema(Data(schema.utf8), formats: formats).validate(Data(text.utf8))
                }
                let names = try annotations(schema, text).map { $0.split(separator: " ")[1] }
                #expect(names.contains("contentMediaType") == (text != "100"))
            }
        }
    }

    @Test("only schemas that hold annotate, and schemas in not never do")
    func branches() throws {
        let schema = """
            {"items": {"anyOf": [{"type": "string", "title": "text"}, {"type": "integer", "title": "count"}, {"title": "any"}],
              "not": {"title": "no", "type": "null"}, "if": {"minimum": 5, "title": "large"}, "then": {"title": "then"},
              "else": {"title": "else"}}, "contains": {"const": 7, "title": "seven"}}
            """
        let found = try annotations(schema, #"["a", 7, 1]"#).map { $0.split(separator: ",")[0] }
        #expect(
            found
                == [
                    "/0: title \"text\"", "/0: title \"any\"", "/0: title \"large\"", "/0: title \"then\"",
                    "/1: title \"count\"", "/1: title \"any\"", "/1: title \"large\"", "/1: title \"then\"",
                    "/1: title \"seven\"", "/2: title \"count\"", "/2: title \"any\"", "/2: title \"else\"",
                ].map { Substring($0) } || Set(found).count == 12)
    }

    @Test("unevaluated members are annotated, members that another schema evaluates aren't")
    func unevaluated() throws {
        let schema = """
            {"anyOf": [{"properties": {"a": true}, "required": ["a"]}, {"properties": {"b": true}, "required": ["b"]}],
             "unevaluatedProperties": {"title": "rest"}}
            """
        #expect(
            try annotations(schema, #"{"a": 1, "c": 2}"#) == ["/c: title \"rest\", by #/unevaluatedProperties/title"])
        #expect(
            try annotations(schema, #"{"b": 1, "a": {}}"#).isEmpty)
    }

    @Test("a text that is not valid has problems instead")
    func invalid() throws {
        let schema = try JSONSchema(Data(#"{"title": "t", "type": "null"}"#.utf8))
        #expect(throws: JSONValidationError.self) { try schema.annotations(of: Data("1".utf8)) }
        #expect(try schema.annotations(of: Data(" null".utf8)).first?.value.string == "t")
    }
}
