import ErrandJSONSchema
import ErrandJSONValidation
import Foundation
import Testing

/// Schemas and values that other validators got wrong. Tests/Lessons.md has the reports.
@Suite("Schemas and values that other validators got wrong", .endsInTime, .leakChecked)
struct SchemaReportTests {
    private func fits(_ schema: String, _ text: String, resolver: [String: String] = [:]) throws -> Bool {
        let schema = try JSONSchema(
            Data(schema.utf8), formats: .assertion, resolver: { uri in resolver[uri].map { Data($0.utf8) } })
        do { try schema.validate(Data(text.utf8)) } catch {
            #expect(error.verdict == .doesNotFit)
            return false
        }
        return true
    }

    @Test("a recursive branch applies to each level, also if the same schema is in use for the level above")
    func recursion() throws {
        for (keywords, reference) in [
            (
                #""$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true"#,
                ##""$recursiveRef":"#""##
            ),
            (
                #""$schema":"https://json-schema.org/draft/2020-12/schema","$dynamicAnchor":"n""#,
                ##""$dynamicRef":"#n""##
            ),
            (#""$schema":"http://json-schema.org/draft-07/schema#""#, ##""$ref":"#""##),
        ] {
            let schema = """
                {\(keywords),"$id":"https://example.com/tree","anyOf":[{"type":"integer"},
                 {"type":"object","additionalProperties":{\(reference)}},{"type":"array","items":{"anyOf":[{\(reference)}]}}]}
                """
            #expect(try fits(schema, #"{"a":{"b":{"c":1}}}"#))
            #expect(try fits(schema, #"[[[1,{"a":[2]}]]]"#))
            #expect(try !fits(schema, #"{"a":{"b":{"c":"x"}}}"#))
            #expect(try !fits(schema, #"[[[1,{"a":["2"]}]]]"#))
        }
    }

    @Test(
        "a number with more digits than a Double has is compared exactly",
        arguments: [
            (#"{"multipleOf":0.0000001}"#, "999999999.12345678", false),
            (#"{"multipleOf":1e-7}"#, "999999999.1234567", true),
            (#"{"multipleOf":1E-8}"#, "999999999.12345678", true),
            (#"{"exclusiveMaximum":1000000000000}"#, "999999999999.99999999", true),
            (#"{"maximum":9007199254740992}"#, "9007199254740993", false),
        ])
    func digits(schema: String, number: String, expected: Bool) throws {
        #expect(try fits(schema, number) == expected)
    }

    @Test(
        "a pointer to a key with slashes, braces, spaces or quotes is resolved, escaped for a URI or not",
        arguments: [
            "#/$defs/~1some~1{id}", "#/$defs/~1some~1%7Bid%7D", "#/%24defs/%7E1some%7E1%7Bid%7D",
            "#/$defs/~1a b~1HAM~0/get",
            "#/$defs/~1a%20b~1HAM~0/get", #"#/$defs/k\"l|^`"#, "#/$defs/k%22l%7C%5E%60", "#/$defs/\u{FC}",
            "#/$defs/%C3%BC",
        ])
    func pointers(reference: String) throws {
        let schema = """
            {"$ref":"\(reference)","$defs":{"/some/{id}":{"type":"null"},"/a b/HAM~":{"get":{"type":"null"}},
             "k\\"l|^`":{"type":"null"},"\u{FC}":{"type":"null"}}}
            """
        #expect(try fits(schema, "null") && !fits(schema, "1"))
    }

    @Test("in draft 7, the identifier of the document is the base of relative references and of plain names")
    func identifiers() throws {
        let schema = """
            {"$schema":"http://json-schema.org/draft-07/schema#","$id":"https://www.schemastore.org/","type":"object",
             "definitions":{"Name":{"$id":"#Thing","type":"string","minLength":2},
              "Other":{"$id":"folder/other.json","definitions":{"in":{"$ref":"inner.json"}}}},
             "properties":{"pkg":{"$ref":"package.json"},"thing":{"$ref":"#Thing"},
              "absolute":{"$ref":"https://www.schemastore.org/#Thing"},"in":{"$ref":"folder/other.json#/definitions/in"}}}
            """
        let others = [
            "https://www.schemastore.org/package.json": #"{"type":"object"}"#,
            "https://www.schemastore.org/folder/inner.json": #"{"type":"integer"}"#,
        ]
        #expect(try fits(schema, #"{"pkg":{},"thing":"ab","absolute":"cd","in":1}"#, resolver: others))
        for wrong in [#"{"pkg":123}"#, #"{"thing":"a"}"#, #"{"absolute":"a"}"#, #"{"in":"1"}"#] {
            #expect(try !fits(schema, wrong, resolver: others), "\(wrong)")
        }
    }

    @Test("equal objects aren't unique, in any order of their keys and any notation of their numbers")
    func unique() throws {
        for items in [
            #"[{"key":"a","value":"b"},{"key":"a","value":"b"}]"#, #"[{"a":1,"b":[2]},{"b":[2.0],"a":1e0}]"#,
            #"[{"a":"\u0041"},{"a":"A"}]"#,
        ] { #expect(try !fits(#"{"uniqueItems":true,"items":{"type":"object"}}"#, items)) }
        #expect(try fits(#"{"uniqueItems":true}"#, #"[{"a":1},{"a":true},{"a":"1"},{"b":1},{"a":1,"b":1}]"#))
    }

    @Test(
        "a relative pointer may move an index by zero, and a lone surrogate isn't part of an address",
        arguments: [
            ("relative-json-pointer", #""0-0""#, true), ("relative-json-pointer", #""0+0/a""#, true),
            ("relative-json-pointer", #""0-1#""#, true), ("relative-json-pointer", #""0-01""#, false),
            ("relative-json-pointer", #""0+""#, false), ("relative-json-pointer", #""0++1""#, false),
            ("idn-email", #""\ud800@example.com""#, false),
        ])
    func formats(format: String, text: String, expected: Bool) throws {
        let schema = try JSONSchema(Data("{\"format\":\"\(format)\"}".utf8), formats: .assertion)
        let isValid: Bool
        do {
            try schema.validate(Data(text.utf8))
            isValid = true
        } catch { isValid = false }
        #expect(isValid == expected)
    }
}
