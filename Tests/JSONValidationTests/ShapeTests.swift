import ErrandJSONValidation
import Foundation
import Testing

@Suite("Shapes", .leakChecked)
struct ShapeTests {
    @Test("the error in the guide's example has the position of the value and the expected type")
    func example() throws {
        let shape: JSONShape = .array(of: [
            "id": .integer, "name": .string(nonEmpty: true), "email": .optional(.string), "tags": .array(of: .string),
        ])
        let right = #"{"id":1,"name":"Ada","tags":["a"]}"#
        var users = Array(repeating: right, count: 8)
        #expect(shape.accepts("[\(users.joined(separator: ","))]"))
        users[3] = #"{"id":4,"name":5,"tags":[]}"#
        users[7] = #"{"id":8,"name":"Eve"}"#
        let text = "[\(users.joined(separator: ","))]"
        let byte = try #require(text.range(of: ":5,")).lowerBound.utf16Offset(in: text) + 1
        #expect(throws: JSONValidationError.self) { try shape.validate(Data(text.utf8)) }
        do { try shape.validate(Data(text.utf8)) } catch {
            #expect(error.count == 2)
            #expect(
                error.description
                    == "JSON validation failed: /3/name: expected a string, found a number (byte \(byte)); /7/tags: missing, expected an array (2 problems)"
            )
        }
    }

    @Test("every key is required unless it's optional, other keys are allowed, and containers are checked completely")
    func objects() {
        let shape: JSONShape = ["a": .integer, "b": ["c": .string], "d": .optional(.boolean)]
        #expect(shape.accepts(#"{"a":1,"b":{"c":"x"},"d":true,"e":[null]}"#))
        #expect(shape.accepts(#"{"b":{"c":"x","more":1},"a":1}"#))
        #expect(
            shape.complaints(#"{"b":{}}"#) == ["/b/c: missing, expected a string", "/a: missing, expected an integer"])
        #expect(shape.complaints(#"{"a":1,"b":[]}"#) == ["/b: expected an object, found an array (byte 11)"])
        #expect(shape.complaints("7") == ["document: expected an object, found a number (byte 0)"])
    }

    @Test("null is accepted only where it is allowed, in objects as in arrays")
    func nulls() {
        #expect(!(["a": .string] as JSONShape).accepts(#"{"a":null}"#))
        #expect(!(["a": .object] as JSONShape).accepts(#"{"a":null}"#))
        #expect(!JSONShape.array(of: .string).accepts("[null]"))
        #expect((["a": .nullable(.string)] as JSONShape).accepts(#"{"a":null}"#))
        #expect(!(["a": .nullable(.string)] as JSONShape).accepts("{}"))
        #expect((["a": .optional(.string)] as JSONShape).accepts(#"{"a":null}"#))
        #expect((["a": .optional(.string)] as JSONShape).accepts("{}"))
        #expect((["a": .optional(.string, allowsNull: false)] as JSONShape).accepts("{}"))
        #expect(!(["a": .optional(.string, allowsNull: false)] as JSONShape).accepts(#"{"a":null}"#))
        #expect(JSONShape.array(of: .nullable(.string)).accepts(#"[null,"x"]"#))
        #expect(JSONShape.array(of: .optional(.string)).accepts(#"[null,"x"]"#))
        #expect(JSONShape.null.accepts("null"))
        #expect(JSONShape.any.accepts("null"))
    }

    @Test("every element of an array is checked, and an empty array literal accepts any")
    func arrays() {
        let numbers: JSONShape = [.number]
        #expect(numbers.accepts("[1,2.5,-3e2]"))
        #expect(numbers.accepts("[]"))
        #expect(numbers.complaints(#"["1",2,"3"]"#).count == 2)
        #expect(([] as JSONShape).accepts(#"[1,"x",null,{}]"#))
        #expect(([.string, .integer] as JSONShape).accepts(#"[1,"x"]"#))
        #expect(!([.string, .integer] as JSONShape).accepts("[true]"))
    }

    @Test("the literals object and array accept any content")
    func anyContents() {
        #expect(JSONShape.object.accepts(#"{"a":[1,null,{}]}"#))
        #expect(JSONShape.object.accepts("{}"))
        #expect(!JSONShape.object.accepts("[]"))
        #expect(JSONShape.array.accepts(#"[1,"x",null,{"a":[]}]"#))
        #expect(!JSONShape.array.accepts("{}"))
    }

    @Test("a boolean isn't a number, and a number isn't a boolean")
    func booleans() {
        #expect(JSONShape.boolean.accepts("true") && JSONShape.boolean.accepts("false"))
        #expect(!JSONShape.boolean.accepts("1"))
        #expect(!JSONShape.number.accepts("true"))
        #expect(!JSONShape.integer.accepts("false"))
        #expect(!JSONShape.boolean.accepts(#""true""#))
    }

    @Test(
        "numbers and integers are accepted in any notation",
        arguments: [
            ("1", true), ("-0", true), ("1.0", true), ("10e-1", true), ("1.5", false), ("15e-1", false), ("1e30", true),
            ("123456789012345678901234567890", true), ("0.0", true), ("0e-5", true), ("1.20", false), ("12.0e1", true),
        ])
    func integers(text: String, isInteger: Bool) {
        #expect(JSONShape.number.accepts(text))
        #expect(JSONShape.integer.accepts(text) == isInteger)
    }

    @Test(
        "integers have ranges",
        arguments: [
            ("0", true), ("150", true), ("151", false), ("-1", false), ("1.5e2", true), ("1.0", true), ("0.5", false),
            ("99999999999999999999", false), ("1e400", false), ("0e400", true), ("-9223372036854775809", false),
        ])
    func integerRanges(text: String, fits: Bool) {
        #expect(JSONShape.integer(in: 0...150).accepts(text) == fits)
    }

    @Test("every kind of range")
    func ranges() {
        #expect(JSONShape.integer(in: Int.min...).accepts("-9223372036854775808"))
        #expect(JSONShape.integer(in: ...Int.max).accepts("9223372036854775807"))
        #expect(!JSONShape.integer(in: ...Int.max).accepts("9223372036854775808"))
        #expect(JSONShape.integer(in: ..<3).accepts("2") && !JSONShape.integer(in: ..<3).accepts("3"))
        #expect(JSONShape.number(in: 0..<1).accepts("0.999999") && !JSONShape.number(in: 0..<1).accepts("1.0"))
        #expect(JSONShape.number(in: 0...1).accepts("1e0") && !JSONShape.number(in: 0...1).accepts("-1e-300"))
        #expect(JSONShape.number(in: 0.1...).accepts("0.1") && !JSONShape.number(in: ...1e300).accepts("1e301"))
        #expect(JSONShape.number(in: 0...).accepts("1\(String(repeating: "0", count: 2_000))"))
        #expect(!JSONShape.number(in: ...1).accepts("1\(String(repeating: "0", count: 2_000))"))
        #expect(JSONShape.number(in: 3...4).accepts("3.\(String(repeating: "14", count: 2_000))"))
        #expect(
            JSONShape.number(in: 0...1).complaints("7")
                == ["document: expected a number in 0.0...1.0, found a number outside that range (byte 0)"])
    }

    @Test("doubles are read as the standard library reads them", arguments: 0..<2_000)
    func doubles(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let mantissa = (0..<1 + random.below(25)).map { _ in "\(random.below(10))" }.joined()
        let text = "\(1 + random.below(9))\(random.chance(2) ? "." : "")\(mantissa)e\(random.below(60) - 30)"
        let value = try #require(Double(text))
        #expect(JSONShape.number(in: value...value).accepts(text))
        #expect(!JSONShape.number(in: value.nextUp...).accepts(text))
        #expect(!JSONShape.number(in: ...value.nextDown).accepts(text))
    }

    @Test("lengths are counted in Unicode scalars, with escapes resolved")
    func lengths() {
        let shape = JSONShape.string(length: 1...3)
        #expect(shape.accepts(#""東京都""#) && shape.accepts(#""\u6771\ud83d\ude00x""#) && shape.accepts(#""😀\n""#))
        #expect(
            shape.complaints(#""""#) == [
                "document: expected a string of 1 to 3 characters, found an empty string (byte 0)"
            ])
        #expect(shape.complaints(#""abcd""#) == ["document: expected a string of 1 to 3 characters, found 4 (byte 0)"])
        #expect(!JSONShape.string(nonEmpty: true).accepts(#""""#) && JSONShape.string(nonEmpty: false).accepts(#""""#))
    }

    @Test("patterns match the whole string, with escapes resolved")
    func patterns() throws {
        let literal = JSONShape.string(matching: /[a-z]+-(\d+)/)
        let source = try JSONShape.string(pattern: "[a-z]+-[0-9]+")
        for shape in [literal, source] {
            #expect(shape.accepts(#""abc-12""#) && shape.accepts(#""\u0061-1""#))
            #expect(!shape.accepts(#"" abc-12""#) && !shape.accepts(#""abc-12 ""#) && !shape.accepts("7"))
        }
        #expect(
            source.complaints(#""x""#) == [
                "document: expected a string that matches [a-z]+-[0-9]+, found a string that does not (byte 0)"
            ])
        #expect(throws: JSONShapeError.self) { try JSONShape.string(pattern: "(") }
        var limits = JSONLimits()
        limits.maximumPatternBytes = 5
        #expect(literal.problems(#""abc-12""#, limits: limits).count == 1)
    }

    @Test("enumerations compare strings by characters and numbers by value")
    func enumerations() {
        let shape = JSONShape.enumeration("draft", "s\"t", 3, 0.5, nil, true)
        for text in [#""draft""#, #""dr\u0061ft""#, #""s\"t""#, "3", "3.0", "30e-1", "0.5", "5e-1", "null", "true"] {
            #expect(shape.accepts(text), "\(text)")
        }
        for text in [#""Draft""#, #""""#, "4", "0.25", "false", "[]"] { #expect(!shape.accepts(text), "\(text)") }
        #expect(
            JSONShape.enumeration("a", "b").complaints(#""c""#)
                == [#"document: expected "a" or "b", found another string (byte 0)"#])
        let many = JSONShape.enumeration((0..<500).map { .string("value \($0)") })
        #expect(many.accepts(#""value 499""#) && !many.accepts(#""value 500""#))
    }

    @Test("a shape can limit the number of elements and keys")
    func counts() {
        let array = JSONShape.array(of: .integer, count: 1...2)
        #expect(array.accepts("[1]") && array.accepts("[1,2]"))
        #expect(array.complaints("[]") == ["document: expected an array of 1 to 2 elements, found 0 (byte 0)"])
        #expect(array.complaints("[1,2,3]") == ["document: expected an array of 1 to 2 elements, found 3 (byte 0)"])
        let map = JSONShape.map(of: .integer, count: ..<2)
        #expect(map.accepts("{}") && map.accepts(#"{"a":1}"#))
        #expect(
            map.complaints(#"{"a":1,"b":2}"#) == ["document: expected an object of at most 1 key, found 2 (byte 0)"])
        #expect(
            JSONShape.map(of: .integer).complaints(#"{"a":1,"b":"x"}"#) == [
                "/b: expected an integer, found a string (byte 11)"
            ])
    }

    @Test("a closed object rejects other keys")
    func closed() {
        let shape = JSONShape.object(["id": .integer, "name": .optional(.string)], closed: true)
        #expect(shape.accepts(#"{"id":1}"#) && shape.accepts(#"{"name":"x","id":1}"#))
        #expect(shape.complaints(#"{"id":1,"x":2}"#) == ["/x: unexpected key (byte 8)"])
        #expect(!JSONShape.object([:], closed: true).accepts(#"{"a":1}"#))
        #expect(JSONShape.object([:], closed: true).accepts("{}"))
    }

    @Test("if a key has two shapes, the last shape applies")
    func repeatedKeys() {
        #expect((["a": .string, "a": .integer] as JSONShape).accepts(#"{"a":1}"#))
    }

    @Test("objects can have more keys than a machine word has bits", arguments: [64, 65, 200])
    func wideObjects(count: Int) {
        let keys = (0..<count).map { "key\($0)" }
        let shape = JSONShape.object(
            members: keys.map { ($0, $0 == "key7" ? .optional(.integer) : .integer) }, closed: true)
        func text(_ keys: [String]) -> String { "{\(keys.map { "\"\($0)\":1" }.joined(separator: ","))}" }
        #expect(shape.accepts(text(keys)))
        #expect(shape.accepts(text(keys.reversed())))
        #expect(shape.accepts(text(keys.filter { $0 != "key7" })))
        #expect(
            shape.complaints(text(keys.filter { $0 != "key3" && $0 != "key63" })) == [
                "/key3: missing, expected an integer", "/key63: missing, expected an integer",
            ])
        #expect(shape.problems(text(keys + ["key9", "other"])).map(\.kind) == [.duplicateKey, .unexpectedKey])
    }

    @Test("a custom check receives only values that fit")
    func customChecks() {
        struct Person: Decodable { let name: String }
        let even = JSONShape.custom("an even number", of: .integer) { $0.integer?.isMultiple(of: 2) == true }
        #expect(even.accepts("4") && even.accepts("4.0"))
        #expect(
            even.complaints("3") == ["document: expected an even number, found a number that fails the check (byte 0)"])
        #expect(even.complaints(#""x""#) == ["document: expected an integer, found a string (byte 0)"])
        let person = JSONShape.custom("a person called Ada", of: ["name": .string]) {
            try $0.decode(Person.self).name == "Ada"
        }
        #expect(person.accepts(#" {"name" : "\u0041da"} "#))
        #expect(person.complaints(#"[]"#) == ["document: expected an object, found an array (byte 0)"])
        #expect(
            JSONShape.array(of: person).complaints(#"[{"name":"Bob"}]"#) == [
                "/0: expected a person called Ada, found an object that fails the check (byte 1)"
            ])
        #expect(person.complaints(#"{"name":1}"#) == ["/name: expected a string, found a number (byte 8)"])
        let sorted = JSONShape.custom("a sorted array", of: .array(of: .integer)) {
            let values = try $0.decode([Int].self)
            return values == values.sorted()
        }
        #expect(
            sorted.accepts("[1,2]") && !sorted.accepts("[2,1]") && sorted.problems(#"["x"]"#).map(\.kind) == [.type])
        #expect(JSONShape.custom("never") { _ in throw CancellationError() }.problems("null").count == 1)
    }

    @Test("a fragment is validated")
    func fragments() {
        func check(_ text: String, _ passes: @escaping @Sendable (JSONFragment) -> Bool) {
            #expect(JSONShape.custom("it", passes).accepts(text), "\(text)")
        }
        check("-7.50e1") {
            $0.integer == -75 && $0.double == -75 && $0.string == nil && $0.boolean == nil && !$0.isNull
        }
        check("1.5") { $0.integer == nil && $0.double == 1.5 }
        check("true") { $0.boolean == true && $0.integer == nil }
        check("false") { $0.boolean == false }
        check("null") { $0.isNull && $0.boolean == nil }
        check(#""\ud83d\ude00\t\u00e9\/""#) { $0.string == "😀\té/" && $0.double == nil }
        check(" [1, 2] ") { $0.data == Data("[1, 2]".utf8) && $0.string == nil }
    }
}
