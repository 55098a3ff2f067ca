import ErrandJSONSchema
import ErrandJSONValidation
import Foundation
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Keywords that other validators got wrong", .endsInTime, .leakChecked)
struct KeywordLessonsTests {
    private func fits(_ schema: String, _ text: String, _ dialect: JSONSchemaDialect = .draft2020_12) throws -> Bool {
        try violations(schema, text, dialect: dialect).isEmpty
    }

    @Test(
        "a dollar sign matches only the end of the string, not of a line",
        arguments: [
            ("^[a-z]+$", "badstring", true), ("^[a-z]+$", "badstring\\n", false),
            ("^[a-z]+$", "badstring\\n\\n", false),
            ("^[a-z]{1,10}$", "abc\\n", false), ("^[a-z]{1,10}$", "\\nabc", false),
            ("^[a-z]{1,10}$", "\\nabc\\n", false),
            ("^abc$", "x\\nabc\\ny", false), ("^[$]$", "$", true), ("a$", "a\\r", false), ("a$", "a\\u2028", false),
            ("^a.c$", "a\\nc", false), ("^\\\\S(|(.|\\\\n)*\\\\S)\\\\Z", "x", false),
        ])
    func ends(pattern: String, text: String, expected: Bool) throws {
        // ECMA-262 with the flag u has no \Z.
        if pattern.hasSuffix("Z") {
            #expect(throws: JSONSchemaError.self) { try fits("{\"pattern\":\"\(pattern)\"}", "\"\(text)\"") }
            return
        }
        #expect(try fits("{\"pattern\":\"\(pattern)\"}", "\"\(text)\"") == expected)
        #expect(try fits("{\"patternProperties\":{\"\(pattern)\":false}}", "{\"\(text)\":1}") == !expected)
        #expect(try fits("{\"propertyNames\":{\"pattern\":\"\(pattern)\"}}", "{\"\(text)\":1}") == expected)
    }

    @Test(
        "a length counts Unicode characters, in any form of writing",
        arguments: [
            ("\u{1F600}", 1), ("\\ud83d\\ude00", 1), ("\\n\\\"\\\\", 3), ("e\u{301}", 2), ("\\u00e9", 1),
            ("\u{1F468}\u{200D}\u{1F469}", 3), ("", 0), ("\\u0000", 1), ("\u{20BB7}\u{91CE}", 2),
        ])
    func lengths(text: String, count: Int) throws {
        #expect(try fits("{\"minLength\":\(count),\"maxLength\":\(count)}", "\"\(text)\""))
        #expect(try !fits("{\"minLength\":\(count + 1)}", "\"\(text)\""))
        if count > 0 { #expect(try !fits("{\"maxLength\":\(count - 1)}", "\"\(text)\"")) }
    }

    @Test(
        "with minContains 0, contains always holds, and maxContains still counts",
        arguments: [
            ("[\"apple\"]", true), ("[\"apple\",1]", true), ("[\"apple\",1,2]", false), ("[]", true), ("{}", true),
        ])
    func contains(text: String, expected: Bool) throws {
        let schema = #"{"contains":{"type":"number"},"minContains":0,"maxContains":1}"#
        #expect(try fits(schema, text) == expected)
        #expect(try fits(schema, text, .draft2019_09) == expected)
        #expect(try fits(#"{"contains":{"type":"number"},"minContains":0}"#, text))
        // Without contains, neither has an effect, and minContains alone isn't 0.
        #expect(try fits(#"{"minContains":2,"maxContains":0}"#, text))
        #expect(try fits(#"{"contains":{"if":false,"else":true}}"#, text) == (text != "[]"))
        // Draft 7 doesn't have minContains.
        #expect(
            try fits(#"{"contains":{"type":"number"},"minContains":0}"#, text, .draft7)
                == (text != "[\"apple\"]" && text != "[]"))
    }

    @Test("if within a property, within dependencies and next to properties decides which keys are required")
    func conditions() throws {
        let nested = """
            {"properties":{"a":{"if":{"allOf":[{"properties":{"x":{"const":"hi"}}}]},"then":{"required":["y"]}}}}
            """
        #expect(try violations(nested, #"{"a":{"x":"hi"}}"#) == ["/a/y #/properties/a/then/required"])
        #expect(try fits(nested, #"{"a":{"x":"hi","y":1}}"#) && fits(nested, #"{"a":{"x":"no"}}"#))
        // A property that is missing satisfies the condition.
        #expect(try !fits(nested, #"{"a":{}}"#))
        let dependent = """
            {"dependencies":{"m":{"required":["v"],"if":{"properties":{"v":{"const":true}}},"then":{"required":["m"]},\
            "else":{"not":{"required":["m"]}}}}}
            """
        for (text, expected) in [
            ("{\"v\":true}", true), ("{\"m\":1}", false), ("{\"m\":1,\"v\":true}", true),
            ("{\"m\":1,\"v\":false}", false),
        ] { #expect(try fits(dependent, text, .draft7) == expected, "\(text)") }
        for alone in [#"{"then":false}"#, #"{"else":false}"#, #"{"if":false}"#] { #expect(try fits(alone, "1")) }
    }

    @Test("siblings of a reference count in draft 2019-09 and later, not before")
    func siblings() throws {
        let schema = ##"{"multipleOf":3,"$ref":"#/$defs/m","$defs":{"m":{"minimum":6}}}"##
        for (text, expected) in [("6", true), ("7", false), ("3", false)] {
            #expect(try fits(schema, text) == expected)
            #expect(try fits(schema, text, .draft2019_09) == expected)
        }
        #expect(try fits(schema, "7", .draft7) && !fits(schema, "3", .draft7))
        // Draft 7 by its URI without the fragment.
        let seven = """
            {"$schema":"http://json-schema.org/draft-07/schema","definitions":{"n":{"enum":["a","b"]}},
             "properties":{"tree":{"title":"t","$ref":"#/definitions/n","minLength":3}}}
            """
        #expect(try fits(seven, #"{"tree":"b"}"#) && !fits(seven, #"{"tree":"bcd"}"#))
        let items = ##"{"properties":{"f":{"$ref":"#/$defs/r","maxItems":2}},"$defs":{"r":{"type":"array"}}}"##
        #expect(try !fits(items, #"{"f":[1,2,3]}"#, .draft2019_09) && fits(items, #"{"f":[1,2,3]}"#, .draft7))
    }

    @Test("additionalItems may hold references, and only counts next to a list of items")
    func additionalItems() throws {
        let schema = """
            {"items":[{"const":"first"}],"additionalItems":{"oneOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}]},
             "$defs":{"a":{"type":"integer"},"b":{"type":"boolean"}}}
            """
        for dialect in [JSONSchemaDialect.draft2019_09, .draft7] {
            #expect(try fits(schema, #"["first",1,true]"#, dialect) && !fits(schema, #"["first","x"]"#, dialect))
            #expect(try fits(#"{"additionalItems":false}"#, "[1]", dialect))
            #expect(try fits(#"{"items":{"type":"integer"},"additionalItems":false}"#, "[1,2]", dialect))
        }
        let unevaluated = #"{"additionalItems":{"type":"number"},"unevaluatedItems":{"type":"string"}}"#
        #expect(try !fits(unevaluated, #"["foo",1]"#, .draft2019_09) && fits(unevaluated, #"["foo"]"#, .draft2019_09))
        // A reference to a list of schemas leads to no schema.
        #expect(throws: JSONSchemaError.self) {
            try fits(
                ##"{"definitions":{"x":{"items":[true]}},"items":[true],"additionalItems":{"$ref":"#/definitions/x/items"}}"##,
                "[]", .draft7)
        }
    }

    @Test("a key is additional if no property or pattern names it, even if a value is wrong")
    func additionalKeys() throws {
        let pattern = #"{"patternProperties":{"^[a-zA-Z0-9]{1,10}$":{"type":"string"}},"additionalProperties":false}"#
        #expect(
            try violations(pattern, #"{"a":"hello","aaaaaaaaaaaaaaaaaaa":null}"#) == [
                "/aaaaaaaaaaaaaaaaaaa #/additionalProperties"
            ])
        #expect(try violations(pattern, #"{"a":1}"#).map { $0.hasSuffix("/type") } == [true])
        let evaluated = #"{"patternProperties":{"^x-":true},"unevaluatedProperties":false}"#
        #expect(try fits(evaluated, #"{"x-internal":false}"#) && !fits(evaluated, #"{"y":1}"#))
        let closed = #"{"properties":{"a":{"type":"string"}},"additionalProperties":false}"#
        #expect(try violations(closed, #"{"a":1}"#) == ["/a #/properties/a/type"])
        #expect(try violations(closed, #"{"b":1}"#) == ["/b #/additionalProperties"])
        // Keys of a subschema elsewhere are additional here.
        let inherited =
            #"{"allOf":[{"properties":{"id":{"type":"string"}},"required":["id"]}],"additionalProperties":false}"#
        #expect(try !fits(inherited, #"{"id":"test"}"#))
        #expect(try fits(inherited.replacing("additional", with: "unevaluated"), #"{"id":"test"}"#))
        let nested = """
            {"properties":{"l":{"items":{"oneOf":[{"properties":{"x":true},"additionalProperties":false},\
            {"properties":{"y":true},"additionalProperties":false}]}}}}
            """
        #expect(try fits(nested, #"{"l":[{"x":1},{"y":2}]}"#) && !fits(nested, #"{"l":[{"x":1,"y":2}]}"#))
    }

    @Test("a dynamic reference finds the outermost anchor, also in a schema without an identifier")
    func dynamicReferences() throws {
        let template = """
            {"$id":"https://example.com/page","$defs":{"i":{"$dynamicAnchor":"i","not":{}}},"type":"object",
             "required":["items"],"properties":{"items":{"type":"array","items":{"$dynamicRef":"#i"}}}}
            """
        let text = """
            {"$defs":{"i":{"$dynamicAnchor":"i","type":"string"}},"$ref":"https://example.com/page"}
            """
        let schema = try JSONSchema(
            Data(text.utf8), resolver: { $0 == "https://example.com/page" ? Data(template.utf8) : nil })
        #expect(throws: Never.self) { try schema.validate(Data(#"{"items":["hello"]}"#.utf8)) }
        #expect(throws: JSONValidationError.self) { try schema.validate(Data(#"{"items":[1]}"#.utf8)) }
        // An anchor within a schema, and not at its root.
        let nested = """
            {"$id":"https://example.com/local","$dynamicAnchor":"c","$ref":"base","required":["name"],
             "$defs":{"b":{"$id":"base","$ref":"#/$defs/c","$defs":{"c":{"$dynamicAnchor":"c","type":"object",
             "properties":{"children":{"items":{"$dynamicRef":"#c"}}}}}}}}
            """
        #expect(
            try fits(nested, #"{"name":1,"children":[{"name":2}]}"#) && !fits(nested, #"{"name":1,"children":[{}]}"#))
    }

    @Test("a failed item counts as evaluated, and prefixItems isn't a keyword before draft 2020-12")
    func items() throws {
        let schema = #"{"prefixItems":[true,false],"unevaluatedItems":{"minLength":2}}"#
        #expect(try violations(schema, #"["a","a","a"]"#) == ["/1 #/prefixItems/1", "/2 #/unevaluatedItems/minLength"])
        let prefix = #"{"prefixItems":[{"type":"string"}],"unevaluatedItems":false}"#
        #expect(try fits(prefix, #"["a"]"#) && !fits(prefix, "[1]"))
        #expect(try !fits(prefix, #"["a"]"#, .draft2019_09) && fits(#"{"prefixItems":[false]}"#, "[1]", .draft2019_09))
        let union =
            #"{"type":["object","null"],"patternProperties":{"^a":true},"properties":{"b":true},"unevaluatedProperties":false}"#
        #expect(try fits(union, #"{"a1":1,"b":2}"#) && fits(union, "null") && !fits(union, #"{"c":1}"#))
        // Letters of every script, as the flag u reads them, and an escape that it forbids.
        let letters = ##"{"pattern":"^[\\p{L}\\p{N}*-]+$"}"##
        #expect(try fits(letters, "\"Stra\u{DF}e7\"") && !fits(letters, "\"a b\""))
        #expect(throws: JSONSchemaError.self) { try fits(##"{"pattern":"^https\\:\\/\\/"}"##, "\"\"") }
    }

    @Test(
        "formats follow their RFCs",
        arguments: [
            ("uri", "http://localhost/", true), ("uri", "http://localhost:8000/", true), ("uri", "http://", true),
            ("uri", "http://2001:db8::1/", false), ("uri", "http://[2001:db8::g]/", false),
            ("uri", "http://[]/", false),
            ("uri", "http://a/?x=[1]", false), ("uri", "http://a/#[1]", false), ("uri", "http://a/[1]", false),
            ("uri", "http://[1::2::3]/", false), ("uri", "http://[1:2:3:4:5:6:7]/", false),
            ("uri", "http://[1:2:3:4:5:6:7:8:9]/", false), ("uri", "http://[12345::]/", false),
            ("uri", "http://[::256.1.1.1]/", false), ("uri", "http://[::ffff:192.0.2.1]/", true),
            ("uri", "http://[v1.x]/", true), ("uri", "http://[V1.x:y]/", true), ("uri", "http://[.x]/", false),
            ("uri", "http://[v1x]/", false), ("uri", "http://[v1.]/", false), ("uri", "http://[vg.x]/", false),
            ("uri", "http://\u{43F}.example/", false), ("uri", "http://\u{E9}.example/", false),
            ("email", "joe@[IPv6:2001:db8::1]", true), ("email", "joe@[127.0.0.1]", true),
            ("email", "joe@[IPv6:x]", false),
            ("email", "x", false), ("hostname", "a_b.example", false), ("hostname", "-a.example", false),
            ("hostname", "127.0.0.1", true), ("ipv4", "127.0.0.1", true), ("ipv6", "127.0.0.1", false),
            ("date-time", "1997-07-16T19:20:30.45+01:00", true), ("date-time", "2020-02-25T10:43:18.70076105Z", true),
            ("date-time", "1970-01-01T00:00:00.0001Z", true), ("date-time", "1982-07-07T23:12:00.0Z", true),
            ("date-time", "1985-04-12T00:59:59.999999999999999Z", true),
            ("date-time", "1985-04-12T00:59:60.000000000000001Z", false),
            ("date-time", "1982-07-07T23:12:00.Z", false), ("date-time", "1982-07-07T23:12:00,5Z", false),
            ("time", "10:43:18.70076105Z", true), ("uri", "http://a/%5B1%5D", true), ("uri", "http://a/?", true),
            ("uri", "http://json-schema.org/draft-07/schema#", true), ("uri", "a", false), ("uri-reference", "a", true),
            ("uri-reference", "\\\\\\\\this\\\\is", false), ("json-pointer", "/a~0b~1", true),
            ("json-pointer", "#/a", false),
            ("json-pointer", "/a~2", false), ("uri-template", "http://a/{b}", true), ("uri", "http://a/{b}", false),
        ])
    func formats(name: String, text: String, expected: Bool) throws {
        #expect(try violations("{\"format\":\"\(name)\"}", "\"\(text)\"", formats: .assertion).isEmpty == expected)
    }

    @Test("properties of a referenced schema count as evaluated, whichever alternative next to it matches")
    func referencedAndAlternatives() throws {
        for keyword in ["oneOf", "anyOf"] {
            let schema = """
                {"$ref":"#/$defs/parent","\(keyword)":[{"required":["a"],"properties":{"a":true}},\
                {"required":["b"],"properties":{"b":true}}],"unevaluatedProperties":false,\
                "$defs":{"parent":{"properties":{"p":true}}}}
                """
            for (text, expected) in [
                (#"{"p":1,"a":1}"#, true), (#"{"p":1,"b":1}"#, true), (#"{"b":1}"#, true),
                (#"{"p":1,"b":1,"c":1}"#, false),
            ] { #expect(try fits(schema, text) == expected, "\(keyword) \(text)") }
        }
    }

    @Test("what a condition or an alternative that fails has seen doesn't count as evaluated")
    func failedCondition() throws {
        let condition = """
            {"if":{"properties":{"value":true},"maxProperties":0},"else":{"type":"object"},"unevaluatedProperties":false}
            """
        #expect(try !fits(condition, #"{"value":1}"#) && fits(condition, "{}"))
        let holds = #"{"if":{"properties":{"value":true}},"unevaluatedProperties":false}"#
        #expect(try fits(holds, #"{"value":1}"#) && !fits(holds, #"{"value":1,"b":2}"#))
        let items = #"{"if":{"prefixItems":[true],"maxItems":0},"else":true,"unevaluatedItems":false}"#
        #expect(try !fits(items, "[1]") && fits(items, "[]"))
        let negated = #"{"not":{"not":{"properties":{"a":true}}},"unevaluatedProperties":false}"#
        #expect(try !fits(negated, #"{"a":1}"#))
    }

    @Test("digits and word characters of a pattern are ASCII, and its white space is all of Unicode's")
    func classesOfPatterns() throws {
        for (pattern, text, expected) in [
            ("^\\\\d$", "1", true), ("^\\\\d$", "\u{9E7}", false), ("^[\\\\d]$", "\u{9E7}", false),
            ("^\\\\D$", "\u{9E7}", true),
            ("^[^\\\\d]$", "\u{9E7}", true), ("^\\\\w$", "L", true), ("^\\\\w$", "\u{141}", false),
            ("^[\\\\W]$", "\u{141}", true),
            ("^\\\\s$", "\u{2000}", true), ("^[\\\\s]$", "\u{FEFF}", true), ("^\\\\S$", "\u{3000}", false),
            ("^\\\\s$", "\u{180E}", false), ("^\\\\p{Nd}$", "\u{9E7}", true), ("^\\\\p{L}$", "\u{141}", true),
        ] { #expect(try fits("{\"pattern\":\"\(pattern)\"}", "\"\(text)\"") == expected, "\(pattern) \(text)") }
    }

    @Test("a date with a time may have its letters in lower case")
    func lowercaseDates() throws {
        for (text, expected) in [
            ("2019-02-28t10:08:30.000z", true), ("2019-02-28T10:08:30z", true), ("2019-02-28t10:08:30+01:00", true),
            ("2019-02-28 10:08:30z", false), ("2019-02-29t10:08:30z", false),
        ] {
            #expect(try violations(#"{"format":"date-time"}"#, "\"\(text)\"", formats: .assertion).isEmpty == expected)
        }
    }

    @Test("an anchor is found anywhere within its resource, and not from another resource")
    func anchors() throws {
        let schema = """
            {"$id":"http://localhost:1234/root","$ref":"\u{0}","$defs":{"A":{"$id":"nested.json","$defs":{"B":{\
            "properties":{"foo":{"$anchor":"foo","type":"integer"}},"not":{"items":{"$anchor":"bar","type":"null"}}}}}}}
            """
        for (reference, text, expected) in [
            ("http://localhost:1234/nested.json#foo", "1", true), ("nested.json#foo", "\"a\"", false),
            ("/nested.json#bar", "null", true), ("nested.json#bar", "1", false),
            ("nested.json#/$defs/B/properties/foo", "1", true),
            ("nested.json#/%24defs/B/properties/foo", "\"a\"", false),
        ] {
            let whole = schema.replacing("\u{0}", with: reference)
            #expect(try fits(whole, text) == expected, "\(reference)")
        }
        #expect(throws: JSONSchemaError.self) { try fits(schema.replacing("\u{0}", with: "#foo"), "1") }
    }
}
