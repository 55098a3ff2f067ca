import ErrandJSONSchema
import ErrandJSONValidation
import Foundation
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Schemas that other validators got wrong", .endsInTime, .leakChecked)
struct SchemaLessonsTests {
    private func quoted(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }

    private func fault(_ text: String) -> JSONSchemaError? {
        do throws(JSONSchemaError) {
            _ = try JSONSchema(Data(text.utf8))
            return nil
        } catch { return error }
    }

    // MARK: Numbers and equality

    @Test(
        "multipleOf is exact for decimal fractions and for integers of any size",
        arguments: [
            ("0.01", "300.51", true), ("0.01", "300.52", true), ("0.01", "4.02", true), ("0.01", "1.11", true),
            ("0.01", "10.17", true), ("0.001", "0.95", true), ("0.001", "5.1", true), ("0.1", "92.6", true),
            ("0.0001", "360.57", true), ("0.0001", "74.77", true), ("0.01", "1.111", false), ("0.5", "1e308", true),
            ("2.5", "10.0", true), ("11.0", "9007199254740995", true), ("11.0", "9007199254740996", false),
            ("0.5", "1" + String(repeating: "0", count: 400), true), ("0.01", "0.07", true),
            ("1e-8", "12391239123", true),
            ("0.1", "0.30000000000000004", false),
        ])
    func multiples(divisor: String, number: String, fits: Bool) throws {
        #expect(try violations(#"{"type": "number", "multipleOf": \#(divisor)}"#, number).isEmpty == fits)
    }

    @Test(
        "a Boolean never equals a number, inside arrays and objects as well, and 0 equals -0.0",
        arguments: [
            ("[[false], [0]]", true), ("[[0], [0.0]]", false), ("[true, 1]", true),
            ("[{\"a\": true}, {\"a\": 1}]", true),
            ("[0, -0.0]", false), ("[1, 1.0, 2]", false), ("[[[false]], [[0]]]", true), ("[\"1\", 1]", true),
            ("[{\"a\": 1, \"b\": 2}, {\"b\": 2, \"a\": 1.0}]", false), ("[null, 0, false, \"\", [], {}]", true),
        ])
    func unique(text: String, isUnique: Bool) throws {
        // Other validators compare short and long arrays by different means.
        let more = (0..<40).map { "\"item \($0)\"" }.joined(separator: ", ")
        for text in [text, "[\(more), \(text.dropFirst().dropLast())]"] {
            #expect(try violations(#"{"uniqueItems": true}"#, text).isEmpty == isUnique, "\(text)")
            #expect(try violations(#"{"uniqueItems": false}"#, text) == [])
        }
    }

    @Test("const and enum distinguish false from 0 and true from 1, at any depth")
    func constants() throws {
        for (constant, text, fits) in [
            ("false", "0", false), ("0", "false", false), ("true", "1", false), ("1", "true", false),
            ("[false]", "[0]", false),
            ("{\"a\": [1]}", "{\"a\": [true]}", false), ("1", "1.0", true), ("0", "-0.0", true), ("[1]", "[1e0]", true),
            ("null", "0", false), ("\"\"", "null", false),
        ] {
            #expect(try violations("{\"const\": \(constant)}", text).isEmpty == fits, "\(constant) \(text)")
            #expect(try violations("{\"enum\": [\(constant), \"x\"]}", text).isEmpty == fits, "\(constant) \(text)")
        }
        // An enumeration may have elements that differ only in their type, and even equal ones.
        for schema in [#"{"enum": [[false], [0.0]]}"#, #"{"enum": [1, 1.0]}"#, #"{"enum": []}"#] {
            #expect(fault(schema) == nil, "\(schema)")
        }
    }

    @Test("keywords for arrays don't apply to objects, and keywords for objects don't apply to arrays")
    func otherKinds() throws {
        let schema = """
            {"uniqueItems": true, "items": false, "prefixItems": [false], "contains": false, "minItems": 5, "unevaluatedItems": false}
            """
        for text in ["{}", #"{"a": 1}"#, "7", #""text""#, "null"] { #expect(try violations(schema, text) == []) }
        let object = """
            {"required": ["a"], "properties": {"a": false}, "minProperties": 3, "propertyNames": false,
             "additionalProperties": false, "dependentRequired": {"a": ["b"]}, "unevaluatedProperties": false}
            """
        for text in ["[]", "[1]", "7", #""text""#, "null"] { #expect(try violations(object, text) == []) }
    }

    // MARK: Keys

    @Test(
        "keys that are members of objects elsewhere are keys like any other",
        arguments: [
            "toString", "constructor", "__proto__", "hasOwnProperty", "valueOf", "length", "prototype", "then", "$ref",
            "",
        ])
    func keys(name: String) throws {
        let key = try quoted(name)
        #expect(try violations("{\"required\": [\(key)]}", "{}") == ["/\(name) #/required"])
        #expect(try violations("{\"required\": [\(key)]}", "{\(key): 1}") == [])
        let typed =
            "{\"properties\": {\(key): {\"type\": \"object\", \"required\": [\"version\"]}}, \"additionalProperties\": false}"
        #expect(try violations(typed, "{}") == [])
        #expect(try violations(typed, "{\(key): {\"version\": 1}}") == [])
        #expect(try violations(typed, "{\(key): 1}").count == 1)
        #expect(try violations(typed, "{\"other\": 1}") == ["/other #/additionalProperties"])
        #expect(try violations("{\"dependentRequired\": {\(key): [\"b\"]}}", "{}") == [])
        #expect(try violations("{\"dependentRequired\": {\(key): [\"b\"]}}", "{\(key): 1}").count == 1)
        #expect(try violations("{\"$defs\": {\(key): {\"type\": \"null\"}}}", "{}") == [])
    }

    @Test("a problem's pointer escapes only slashes and tildes of a key")
    func pointers() throws {
        let schema = #"{"additionalProperties": {"items": {"additionalProperties": {"type": "null"}}}}"#
        let found = try violations(schema, #"{"a/b~c.d e'f\"": [{}, {"": 1}]}"#)
        #expect(found.map { $0.replacing(#/ #[^ ]*$/#, with: "") } == [#"/a~1b~0c.d e'f"/1/"#], "\(found)")
    }

    // MARK: unevaluatedProperties

    @Test("a key that another keyword rejects, or that is missing, doesn't make another key unevaluated")
    func oneFault() throws {
        let keys = """
            {"type": "object", "required": ["key1"], "properties": {"key1": {"type": "string"}, "key2": {"type": "string"},
             "key3": {"type": "string"}}, "unevaluatedProperties": false}
            """
        #expect(
            try violations(keys, #"{"key2": "a", "key3": "b", "key4": "c"}"#) == [
                "/key4 #/unevaluatedProperties", "/key1 #/required",
            ])
        let server = """
            {"$defs": {"server": {"type": "object", "properties": {"host": {"type": "string"}, "port": {"type": "integer"}}}},
             "type": "object", "properties": {"server": {"$ref": "#/$defs/server", "unevaluatedProperties": false}},
             "unevaluatedProperties": false}
            """
        let found = try violations(server, #"{"server": {"host": "test", "port": "80", "bar": "x"}, "foo": "y"}"#)
        #expect(Set(found.map { $0.prefix { $0 != " " } }) == ["/server/port", "/server/bar", "/foo"], "\(found)")
        let nested =
            #"{"properties": {"foo": {"type": "object", "required": ["bar"]}}, "unevaluatedProperties": false}"#
        #expect(try violations(nested, #"{"foo": {}}"#) == ["/foo/bar #/properties/foo/required"])
    }

    @Test("every unevaluated key is reported, not only the first")
    func allKeys() throws {
        let schema = #"{"properties": {"a": {"type": "string"}}, "unevaluatedProperties": false}"#
        #expect(
            try violations(schema, #"{"a": "a", "b": "b", "c": "c"}"#) == [
                "/b #/unevaluatedProperties", "/c #/unevaluatedProperties",
            ])
        #expect(
            try violations(#"{"unevaluatedProperties": {"const": 12}}"#, #"{"type": 37}"#) == [
                "/type #/unevaluatedProperties/const"
            ])
    }

    @Test(
        "keys of a referenced document count as evaluated, through two levels of allOf and an anchor, even in 2019-09")
    func referenced() throws {
        let others = [
            "https://a.test/primary.json": """
            {"$schema": "https://json-schema.org/draft/2019-09/schema", "$id": "https://a.test/primary.json",
             "$defs": {"P": {"$anchor": "P", "allOf": [{"$ref": "device.json#D"}],
              "properties": {"isPrimary": {"const": true}}, "required": ["isPrimary"]}}}
            """,
            "https://a.test/device.json": """
            {"$schema": "https://json-schema.org/draft/2019-09/schema", "$id": "https://a.test/device.json",
             "$defs": {"D": {"$anchor": "D", "properties": {"roleName": {"type": "string"}}}}}
            """,
        ]
        let text = """
            {"$schema": "https://json-schema.org/draft/2019-09/schema", "$id": "https://a.test/phone.json", "type": "object",
             "allOf": [{"$ref": "primary.json#P"}], "properties": {"__type": {"const": "Phone"}}, "unevaluatedProperties": false}
            """
        let schema = try JSONSchema(Data(text.utf8), resolver: { uri in others[uri].map { Data($0.utf8) } })
        try schema.validate(Data(#"{"__type": "Phone", "isPrimary": true, "roleName": "x"}"#.utf8))
        #expect(throws: JSONValidationError.self) {
            try schema.validate(Data(#"{"__type": "Phone", "isPrimary": true, "other": "x"}"#.utf8))
        }
        let surf = """
            {"$defs": {"other": {"type": "object", "properties": {"surfboard": {"type": "string"}}}},
             "allOf": [{"$ref": "#/$defs/other"}, {"properties": {"wheels": {}, "headlights": {}}},
              {"properties": {"pontoons": {}}}, {"properties": {"wings": {}}}], "unevaluatedProperties": false}
            """
        #expect(try violations(surf, #"{"pontoons": {}, "wheels": {}, "surfboard": "2"}"#) == [])
        #expect(try violations(surf, #"{"pontoons": {}, "sails": {}}"#) == ["/sails #/unevaluatedProperties"])
    }

    @Test(
        "a subschema with an identifier resolves its references from there, also if evaluated keys are collected")
    func nestedIdentifier() throws {
        let schema = """
            {"$id": "https://a.test/root/", "allOf": [{"$id": "sub/", "$ref": "item"}], "unevaluatedProperties": false,
             "$defs": {"wrong": {"$id": "item", "properties": {"b": true}},
              "right": {"$id": "sub/item", "properties": {"a": {"type": "integer"}}}}}
            """
        #expect(try violations(schema, #"{"a": 1}"#) == [])
        #expect(try violations(schema, #"{"b": 1}"#).count == 1 && violations(schema, #"{"a": "x"}"#).isEmpty == false)
    }

    @Test("a dynamic anchor next to unevaluatedProperties works, and two dynamic anchors with one name are an error")
    func dynamicAnchors() throws {
        let tree = """
            {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://a.test/tree",
             "$dynamicAnchor": "member", "unevaluatedProperties": false}
            """
        #expect(try violations(tree, "{}") == [])
        #expect(try violations(tree, #"{"a": 1}"#).count == 1)
        let twice = """
            {"$id": "https://a.test/base", "$dynamicAnchor": "addons", "$defs": {"d": {"$dynamicAnchor": "addons"}}}
            """
        #expect(fault(twice) != nil)
        // A pointer isn't a name, and there is nothing at "/node".
        #expect(
            fault(
                ##"{"properties": {"nodes": {"items": {"$dynamicRef": "#/node"}}}, "$defs": {"n": {"$dynamicAnchor": "node"}}}"##
            ) != nil)
        let parameter = """
            {"type": "object", "properties": {"in": {"enum": ["query"]}, "schema": {"$dynamicRef": "#meta"}}, "required": ["in"],
             "oneOf": [{"required": ["schema"]}, {"required": ["content"]}],
             "$defs": {"schema": {"$dynamicAnchor": "meta", "type": ["object", "boolean"]}}}
            """
        #expect(try violations(parameter, #"{"in": "query", "schema": {"type": "integer"}}"#) == [])
        #expect(try violations(parameter, #"{"in": "query", "schema": 7}"#).isEmpty == false)
    }

    // MARK: References

    @Test(
        "an identifier replaces the path of the base, also if it begins with a slash, has a fragment or isn't absolute")
    func identifiers() throws {
        let absolute = """
            {"$schema": "https://json-schema.org/draft/2019-09/schema", "$id": "https://example.com/schemas/disallowed",
             "$ref": "/schemas/allowed", "$recursiveAnchor": true, "unevaluatedItems": false,
             "$defs": {"/schemas/allowed": {"$schema": "https://json-schema.org/draft/2019-09/schema",
              "$id": "/schemas/allowed", "$recursiveAnchor": true, "type": "array", "items": [{"type": "string"}, {"$ref": "#"}]}}}
            """
        #expect(try violations(absolute, #"["a", ["b"]]"#) == [])
        #expect(try violations(absolute, #"["a", ["b"], 1]"#).isEmpty == false)
        let draft7 = """
            {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "http://my.site/myschema#",
             "definitions": {"schema1": {"$id": "schema1", "type": "integer"},
              "schema2": {"type": "array", "items": {"$ref": "schema1"}}, "named": {"$id": "#foo", "type": "null"}},
             "properties": {"a": {"$ref": "#/definitions/schema2"}, "b": {"$ref": "#foo"}, "c": {"$ref": "http://my.site/schema1#"}}}
            """
        #expect(try violations(draft7, #"{"a": [1], "b": null, "c": 1}"#) == [])
        #expect(try violations(draft7, #"{"a": ["x"], "b": 1, "c": "y"}"#).count == 3)
        let relative =
            ##"{"$id": "common", "$defs": {"a": {"$id": "/myproject/enums/foo", "enum": [1]}}, "$ref": "/myproject/enums/foo"}"##
        #expect(try violations(relative, "1") == [] && violations(relative, "2").isEmpty == false)
    }

    @Test("references without an absolute base find documents by path, even through other documents")
    func paths() throws {
        let documents = [
            "/indirection": ##"{"$id": "/indirection", "$defs": {"baz": {"$ref": "/types#/foo"}}}"##,
            "/types": ##"{"$id": "/types", "foo": {"$ref": "#/bar"}, "bar": {"type": "integer"}}"##,
        ]
        let schema = try JSONSchema(
            Data(##"{"$ref": "/indirection#/$defs/baz"}"##.utf8),
            resolver: { uri in documents[uri].map { Data($0.utf8) } })
        try schema.validate(Data("7".utf8))
        #expect(throws: JSONValidationError.self) { try schema.validate(Data("\"x\"".utf8)) }
    }

    @Test("a reference to a missing target, anywhere, is an error when the schema is compiled")
    func danglingReferences() {
        for schema in [
            ##"{"properties": {"deep": {"items": {"$ref": "#/$defs/none"}}}}"##, ##"{"$ref": "#type"}"##,
            #"{"if": false, "then": {"$ref": "https://a.test/none"}}"#, ##"{"$ref": "#/properties/a/b"}"##,
            ##"{"$ref": "#/prop%"}"##,
        ] { #expect(fault(schema) != nil, "\(schema)") }
    }

    @Test("the escapes of a fragment are resolved before it is read as a pointer or a name")
    func escapedFragments() throws {
        for reference in ["#/$defs/a", "#%2F$defs%2Fa", "#/%24defs%2fa", "#%6Eamed", "#named"] {
            let schema =
                "{\"$ref\": \"\(reference)\", \"$defs\": {\"a\": {\"$anchor\": \"named\", \"type\": \"null\"}}}"
            #expect(try violations(schema, "null") == [] && violations(schema, "1").count == 1, "\(reference)")
        }
    }

    // MARK: Formats

    @Test(
        "formats are checked up to the last character, and dates against the calendar",
        arguments: [
            ("date-time", "2016-01-02", false), ("date-time", "2016-15-12T00:00:00.123Z", false),
            ("date-time", "1963-02-30T00:00:00Z", false), ("date-time", "2024-06-01T12:34:56ZAS", false),
            ("date-time", "2024-06-01T12:34:56Z", true), ("date-time", "2024-06-01T12:34:56+0530", false),
            ("date-time", "2024-06-01 12:34:56Z", false), ("date-time", "2025-11-13T00:00:00+00:00", true),
            ("time", "12:34:56+12:44AS", false), ("time", "12:34:56+12:44", true), ("time", "12:34:56", false),
            ("date", "2025-11-13T00:00:00+00:00", false), ("duration", "P1Y2D", false), ("duration", "PT1H2S", false),
            ("duration", "P1Y2M", true), ("uuid", "urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380", false),
            ("uri", "https:", true), ("uri", "urn:", true), ("email", "\"(unusual)\"@example.com", true),
            ("email", "email@[123.123.123.123]", true), ("email", "a b@example.com", false),
        ])
    func formats(name: String, value: String, fits: Bool) throws {
        let schema = #"{"format": "\#(name)"}"#
        #expect(try violations(schema, try quoted(value), formats: .assertion).isEmpty == fits, "\(name) \(value)")
    }

    // MARK: Patterns

    @Test("patterns with named groups, properties and alternatives of ECMA-262 match anywhere in a string")
    func patterns() throws {
        let pairs = #"((?<OrgOID>[^,. ]+)\s*\.\s*(?<AOID>[^,. ]+))(?:\s*,\s*)?"#
        #expect(try violations("{\"pattern\": \(quoted(pairs))}", "\"FFFF.12645,AAAA.6456\"") == [])
        #expect(try violations("{\"pattern\": \(quoted(pairs))}", "\", .\"").count == 1)
        let token = #"^(\p{L}|_)(\p{L}|\p{N}|[.\-_])*$"#
        for (text, fits) in [("Stra\u{DF}e-1", true), ("_x", true), ("1x", false), ("a b", false)] {
            #expect(try violations("{\"pattern\": \(quoted(token))}", quoted(text)).isEmpty == fits, "\(text)")
        }
        // A schema without keywords, and one with a keyword for strings that ignores a number.
        #expect(try violations("{}", "\"foo\"") == [] && violations(#"{"pattern": "^a"}"#, "12") == [])
    }

    @Test(
        "a pattern that ECMA-262 forbids with the flag u is refused with its position, not ignored",
        arguments: [
            #"^[\säÄ\w\_\'\/\-]+$"#, #"\d+:\[1-9]+|N"#, #"^(?:[\+-]?\d{4}(?!\d{2}\b))(-?)\1$"#, #"\Z"#, "[[:alpha:]]+(",
            "^(a",
        ])
    func refusedPatterns(pattern: String) throws {
        for schema in [
            "{\"pattern\": \(try quoted(pattern))}", "{\"patternProperties\": {\(try quoted(pattern)): true}}",
        ] {
            let error = fault(schema)
            #expect(error != nil && error?.description.isEmpty == false, "\(schema)")
        }
    }

    @Test("a schema that its metaschema wouldn't accept is refused: a number for enum, a text for required")
    func malformedSchemas() {
        for schema in [
            #"{"enum": 4}"#, #"{"required": "a"}"#, #"{"type": "float"}"#, #"{"minLength": -1}"#, #"{"multipleOf": 0}"#,
            #"{"properties": []}"#, #"{"items": 7}"#, #"{"pattern": 1}"#, #"{"allOf": []}"#, #"{"uniqueItems": 1}"#,
            "[]", "7",
            #"{"$defs": {"a": {"type": 1}}}"#, "",
        ] { #expect(fault(schema) != nil, "\(schema)") }
    }

    @Test(
        "a leap second is the last one of a day in UTC, an offset is less than a day, and a duration has whole units",
        arguments: [
            ("date-time", "1990-12-31T23:59:60Z", true), ("date-time", "2016-12-31T23:59:60Z", true),
            ("date-time", "1990-12-31T15:59:60-08:00", true), ("date-time", "1998-12-31T23:59:60+01:00", false),
            ("date-time", "1998-12-31T23:58:60Z", false), ("time", "23:59:60Z", true), ("time", "22:59:60Z", false),
            ("time", "23:59:61Z", false), ("date-time", "2020-01-01T00:00:00+23:59", true),
            ("date-time", "2020-01-01T00:00:00-00:00", true), ("date-time", "2020-01-01T00:00:00+24:00", false),
            ("date-time", "2020-01-01T00:00:00Z+00:00", false), ("date-time", "2020-01-01T00:00:00+00:60", false),
            ("duration", "PT0.5S", false), ("duration", "-P1D", false), ("duration", "P1W2D", false),
            ("duration", "P2W", true), ("duration", "PT1H", true), ("duration", "P1DT", false),
            ("duration", "P", false),
            ("uri", "foo:", true), ("uri", "http:", true), ("uri", "urn:a:b?", true), ("uri", "foo", false),
        ])
    func timesAndPaths(format: String, text: String, fits: Bool) throws {
        let schema = try JSONSchema(Data("{\"format\":\"\(format)\"}".utf8), formats: .assertion)
        let value = try JSONEncoder().encode([text]).dropFirst().dropLast()
        let isFitting = (try? schema.validate(Data(value))) != nil
        #expect(isFitting == fits, "\(text)")
    }
}
