import Errand
import ErrandJSONSchema
import ErrandJSONValidation
import Foundation
import Testing

@Suite("JSON Schema: references and dialects", .endsInTime, .leakChecked)
struct SchemaReferenceTests {
    private func schema(_ text: String, at pointer: String = "", uri: String = "", _ others: [String: String] = [:])
        throws
        -> JSONSchema
    {
        try JSONSchema(Data(text.utf8), at: pointer, uri: uri, resolver: { uri in others[uri].map { Data($0.utf8) } })
    }

    private func fits(_ schema: JSONSchema, _ text: String) -> Bool {
        do { try schema.validate(Data(text.utf8)) } catch { return false }
        return true
    }

    private func fault(_ text: String, _ others: [String: String] = [:]) -> JSONSchemaError? {
        do { _ = try schema(text, others) } catch { return error as? JSONSchemaError }
        return nil
    }

    @Test("pointers, anchors, identifiers and other documents are resolved")
    func references() throws {
        let tree = try schema(
            """
            {"$id": "https://a.test/tree", "type": "object", "properties": {"value": {"$ref": "#/$defs/a~1b%25"},
              "left": {"$ref": "#"}, "next": {"$ref": "tree"}, "named": {"$ref": "#here"}, "other": {"$ref": "lib.json#/$defs/n"},
              "inner": {"$ref": "inner.json"}},
             "$defs": {"a/b%": {"type": "integer"}, "x": {"$anchor": "here", "type": "boolean"},
              "y": {"$id": "inner.json", "$ref": "#/$defs/z", "$defs": {"z": {"const": 3}}}}}
            """, ["https://a.test/lib.json": ##"{"$defs": {"n": {"$ref": "#/$defs/m"}, "m": {"type": "null"}}}"##])
        #expect(
            fits(tree, #"{"value": 1, "left": {"next": {"value": 2}}, "named": true, "other": null, "inner": 3}"#))
        for wrong in [
            #"{"value": "x"}"#, #"{"left": {"next": {"value": ""}}}"#, #"{"named": 1}"#, #"{"other": 1}"#,
            #"{"inner": 4}"#,
        ] { #expect(!fits(tree, wrong), "\(wrong)") }
    }

    @Test("a schema in an OpenAPI document can refer to other schemas in it")
    func openAPI() throws {
        let document = """
            {"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "components": {"schemas": {
              "Order": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"},
                "customer": {"$ref": "#/components/schemas/Customer"}}, "example": {"id": 1}},
              "Customer": {"type": "object", "properties": {"name": {"type": "string"}}, "xml": {"name": "customer"}}}}}
            """
        let order = try schema(document, at: "/components/schemas/Order")
        #expect(fits(order, #"{"id": 1, "customer": {"name": "Ada"}}"#))
        #expect(!fits(order, #"{"id": 1, "customer": {"name": 7}}"#))
        #expect(throws: JSONSchemaError.self) { _ = try schema(document, at: "/components/schemas/Nothing") }
    }

    @Test("a dynamic reference resolves to the outermost anchor of its name")
    func dynamic() throws {
        let list = """
            {"$id": "https://a.test/strings", "$ref": "list", "$defs": {
              "strings": {"$dynamicAnchor": "item", "type": "string"},
              "list": {"$id": "list", "type": "array", "items": {"$dynamicRef": "#item"},
                "$defs": {"default": {"$dynamicAnchor": "item"}}}}}
            """
        let strings = try schema(list)
        #expect(fits(strings, #"["a"]"#) && !fits(strings, "[1]"))
        let strict = """
            {"$id": "https://a.test/strict", "$dynamicAnchor": "node", "$ref": "tree", "unevaluatedProperties": false,
             "$defs": {"tree": {"$id": "tree", "$dynamicAnchor": "node", "properties": {"data": true,
               "children": {"items": {"$dynamicRef": "#node"}}}}}}
            """
        let tree = try schema(strict)
        #expect(fits(tree, #"{"children": [{"data": 1}]}"#))
        #expect(!fits(tree, #"{"children": [{"daat": 1}]}"#))
    }

    @Test("the metaschemas are built in, and validate schemas")
    func metaschemas() throws {
        for uri in [
            "https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
            "http://json-schema.org/draft-07/schema#",
        ] {
            let meta = try schema(#"{"$ref": "\#(uri)"}"#)
            #expect(fits(meta, #"{"type": "object", "properties": {"a": {"minLength": 2.0}}}"#))
            for wrong in [
                #"{"type": "objet"}"#, #"{"properties": {"a": {"minLength": -1}}}"#, #"{"not": {"allOf": []}}"#, "[]",
            ] {
                #expect(!fits(meta, wrong), "\(uri) \(wrong)")
            }
        }
    }

    @Test("drafts 7 and 2019-09 are selected by $schema, or by an option for a schema without it")
    func drafts() throws {
        let items = #"{"items": [{"type": "string"}], "additionalItems": false}"#
        let seven = #"{"$schema": "http://json-schema.org/draft-07/schema#", \#(items.dropFirst())"#
        for text in [#"["a"]"#, "[1]", #"["a", 1]"#] {
            #expect(try violations(seven, text).isEmpty == (text == #"["a"]"#))
            #expect(try violations(items, text, dialect: .draft2019_09).isEmpty == (text == #"["a"]"#))
        }
        #expect(throws: JSONSchemaError.self) { _ = try schema(items) }
        // In draft 7, siblings of $ref are ignored.
        let sibling =
            ##"{"definitions": {"a": {"type": "integer"}}, "properties": {"x": {"$ref": "#/definitions/a", "minimum": 5}}}"##
        #expect(try violations(sibling, #"{"x": 1}"#, dialect: .draft7) == [])
        #expect(try violations(sibling, #"{"x": 1}"#, dialect: .draft2020_12) == ["/x #/properties/x/minimum"])
        let recursive = """
            {"$schema": "https://json-schema.org/draft/2019-09/schema", "$id": "https://a.test/o", "$recursiveAnchor": true,
             "$ref": "i", "required": ["x"], "$defs": {"i": {"$id": "i", "$recursiveAnchor": true,
               "properties": {"c": {"$recursiveRef": "#"}}}}}
            """
        #expect(try violations(recursive, #"{"x": 1, "c": {"x": 2}}"#) == [])
        #expect(try violations(recursive, #"{"x": 1, "c": {}}"#) == ["/c/x https://a.test/o#/required"])
    }

    @Test("your own metaschema can select vocabularies")
    func vocabularies() throws {
        let meta = """
            {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://a.test/meta", "$vocabulary": {
              "https://json-schema.org/draft/2020-12/vocab/core": true, "https://json-schema.org/draft/2020-12/vocab/applicator": true,
              "https://json-schema.org/draft/2020-12/vocab/format-assertion": true, "https://a.test/vocab": false}}
            """
        let text = #"{"$schema": "https://a.test/meta", "properties": {"a": {"minimum": 5, "format": "ipv4"}}}"#
        let made = try schema(text, ["https://a.test/meta": meta])
        #expect(fits(made, #"{"a": 1}"#) && !fits(made, #"{"a": "1.2.3"}"#))
        let strict = meta.replacingOccurrences(
            of: #""https://a.test/vocab": false"#, with: #""https://a.test/vocab": true"#)
        #expect(fault(text, ["https://a.test/meta": strict])?.code == .unknownDialect)
        #expect(fault(text)?.code == .unknownDialect)
    }

    @Test(
        "an invalid schema is refused with the position",
        arguments: [
            ("{", "notJSON", ""), (#"{"a": 1, "a": 2}"#, "notJSON", "/a"), ("[]", "invalidKeyword", ""),
            ("12", "invalidKeyword", ""),
            (#"{"type": "text"}"#, "invalidKeyword", "/type"), (#"{"type": ["null", 3]}"#, "invalidKeyword", "/type/1"),
            (#"{"properties": []}"#, "invalidKeyword", "/properties"),
            (#"{"properties": {"a/b": 3}}"#, "invalidKeyword", "/properties/a~1b"),
            (#"{"allOf": []}"#, "invalidKeyword", "/allOf"), (#"{"items": [{}]}"#, "invalidKeyword", "/items"),
            (#"{"$defs": {"unused": {"minLength": -1}}}"#, "invalidKeyword", "/$defs/unused/minLength"),
            (#"{"minLength": 1.5}"#, "invalidKeyword", "/minLength"),
            (#"{"multipleOf": 0}"#, "invalidKeyword", "/multipleOf"),
            (#"{"required": ["a", 1]}"#, "invalidKeyword", "/required/1"),
            (#"{"uniqueItems": "yes"}"#, "invalidKeyword", "/uniqueItems"),
            (#"{"enum": 3}"#, "invalidKeyword", "/enum"), (#"{"$id": "a#b"}"#, "invalidKeyword", "/$id"),
            (#"{"$anchor": "a b"}"#, "invalidKeyword", "/$anchor"), (#"{"format": 3}"#, "invalidKeyword", "/format"),
            (#"{"pattern": "(a"}"#, "invalidPattern", "/pattern"),
            (#"{"patternProperties": {"[": {}}}"#, "invalidPattern", "/patternProperties/["),
            (##"{"$ref": "#/$defs/a"}"##, "unresolvedReference", "/$ref"),
            (##"{"$ref": "#a"}"##, "unresolvedReference", "/$ref"),
            (##"{"$ref": "https://a.test/none"}"##, "unresolvedReference", "/$ref"),
            (##"{"$ref": "#/type", "type": "null"}"##, "unresolvedReference", "/$ref"),
            (##"{"$schema": "https://a.test/none"}"##, "unknownDialect", "/$schema"),
            (##"{"$ref": "#"}"##, "endlessRecursion", ""),
            (
                ##"{"anyOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}}"##,
                "endlessRecursion", "/$defs/a"
            ),
        ])
    func refused(text: String, code: String, pointer: String) throws {
        let error = try #require(fault(text), "\(text) is accepted")
        #expect("\(error.code)" == code && error.pointer == pointer, "\(error)")
        #expect(error.errorCode > 0 && error.localizedDescription == FailureSentence.failed.text())
    }

    @Test("the resolver's error is in the error")
    func resolver() throws {
        struct Offline: Error {}
        let text = Data(#"{"properties": {"a": {"$ref": "https://b.test/x"}}}"#.utf8)
        do {
            _ = try JSONSchema(text, resolver: { _ in throw Offline() })
            Issue.record("the schema is accepted")
        } catch {
            #expect(error.code == .unresolvedReference && error.pointer == "/properties/a/$ref")
            #expect(error.reason.contains("Offline") && error.reason.contains("https://b.test/x"))
        }
    }

    @Test("a schema file's URL is the base of its references")
    func file() throws {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "errand-schema-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a.json")
        try Data(#"{"$ref": "b.json"}"#.utf8).write(to: file)
        try Data(#"{"type": "null"}"#.utf8).write(to: folder.appending(path: "b.json"))
        let schema = try JSONSchema(
            contentsOf: file, resolver: { uri in URL(string: uri).flatMap { try? Data(contentsOf: $0) } })
        #expect(fits(schema, "null") && !fits(schema, "1"))
        #expect(throws: JSONSchemaError.self) { _ = try JSONSchema(contentsOf: folder.appending(path: "none.json")) }
    }
}
