import ErrandJSONValidation
import Foundation
import Testing

@Suite("Alternatives and recursion", .endsInTime, .leakChecked)
struct AlternativesTests {
    @Test("kinds are distinguished by their first byte")
    func kinds() {
        let shape = JSONShape.either(.integer, .string, .array(of: .boolean))
        #expect(shape.accepts("1") && shape.accepts(#""x""#) && shape.accepts("[true]"))
        #expect(
            shape.complaints("null") == ["document: expected an array, a string or an integer, found null (byte 0)"])
        #expect(shape.complaints("[1]") == ["/0: expected a boolean, found a number (byte 1)"])
        #expect(shape.complaints("1.5") == ["document: expected an integer, found a number with a fraction (byte 0)"])
    }

    @Test("objects are distinguished by their contents, and the closest shape explains the problem")
    func objects() {
        let shape = JSONShape.either(
            ["kind": .enumeration("circle"), "radius": .number],
            ["kind": .enumeration("rectangle"), "width": .number, "height": .number])
        #expect(shape.accepts(#"{"kind":"circle","radius":1}"#))
        #expect(shape.accepts(#"{"width":1,"height":2,"kind":"rectangle"}"#))
        #expect(
            shape.complaints(#"{"radius":"x","kind":"circle"}"#) == [
                "/radius: expected a number, found a string (byte 10)"
            ])
        #expect(shape.complaints(#"{"kind":"rectangle","width":1}"#) == ["/height: missing, expected a number"])
        #expect(shape.complaints(#"[]"#) == ["document: expected an object, found an array (byte 0)"])
        #expect(shape.complaints(#"{"kind":"circle","radius":1,"radius":2}"#) == ["/radius: duplicate key (byte 28)"])
        #expect(
            shape.complaints(#"{"kind":"circle","radius":1"#) == [
                "document: not JSON: expected a comma or the end of the object, found the end of the text (byte 27)"
            ])
        #expect(shape.complaints(#"{"kind":"circle","radius":01}"#).first?.hasPrefix("/radius: not JSON") == true)
    }

    @Test("if a scalar doesn't fit any of several rules, the message names all rules")
    func scalars() {
        let shape = JSONShape.either(
            .integer(in: 0...9), .integer(in: 90...99), .string(length: 2...2), .enumeration("any"))
        #expect(shape.accepts("5") && shape.accepts("95") && shape.accepts(#""ab""#) && shape.accepts(#""any""#))
        #expect(
            shape.complaints("50") == [
                "document: expected an integer in 0...9 or an integer in 90...99, found a number that doesn't fit (byte 0)"
            ])
        #expect(
            shape.complaints(#""abcd""#) == [
                #"document: expected a string of 2 characters or "any", found a string that doesn't fit (byte 0)"#
            ])
        #expect(shape.complaints("{}") == ["document: expected a string or an integer, found an object (byte 0)"])
    }

    @Test("a general alternative makes a narrower alternative of the same kind unnecessary")
    func subsumption() {
        #expect(JSONShape.either(.integer(in: 0...9), .number).accepts("77.5"))
        #expect(JSONShape.either(["a": .integer], .object).accepts("{}"))
        #expect(JSONShape.nullable(.any).accepts("null"))
        #expect(JSONShape.either(.any, .custom("never") { _ in false }).accepts("[1]"))
    }

    @Test("custom checks count as alternatives too")
    func checks() {
        let odd = JSONShape.custom("an odd number", of: .integer) { $0.integer?.isMultiple(of: 2) == false }
        let ten = JSONShape.custom("ten", of: .integer) { $0.integer == 10 }
        let shape = JSONShape.either(odd, ten)
        #expect(shape.accepts("3") && shape.accepts("10"))
        #expect(
            shape.complaints("4") == [
                "document: expected an odd number or ten, found a number that doesn't fit (byte 0)"
            ]
        )
        let objects = JSONShape.either(
            .custom("a big one", of: ["a": .integer]) { $0.data.count > 20 }, ["a": .integer, "b": .integer])
        #expect(objects.accepts(#"{"a":1,"b":2}"#) && objects.accepts(#"{"a":1,"text":"aaaaaaaaaa"}"#))
        #expect(objects.problems(#"{"a":1}"#).count == 1)
    }

    @Test("an either without shapes matches no value")
    func nothing() {
        #expect(JSONShape.either([]).complaints("1") == ["document: expected nothing, found a number (byte 0)"])
        #expect(!JSONShape.enumeration([]).accepts("null"))
    }

    @Test("a tree is a recursive shape")
    func tree() {
        let shape = JSONShape.recursive { tree in ["name": .string, "children": .array(of: tree)] }
        #expect(shape.accepts(#"{"name":"a","children":[{"name":"b","children":[]},{"name":"c","children":[]}]}"#))
        #expect(
            shape.complaints(#"{"name":"a","children":[{"name":"b","children":[{"name":7}]}]}"#)
                == [
                    "/children/0/children/0/name: expected a string, found a number (byte 56)",
                    "/children/0/children/0/children: missing, expected an array",
                ])
    }

    @Test("shapes can contain each other")
    func mutualRecursion() {
        let folder = JSONShape.recursive { folder in
            let link = JSONShape.recursive { link in ["to": .either(folder, link, .null)] }
            return ["files": .array(of: .string), "links": .array(of: link)]
        }
        #expect(folder.accepts(#"{"files":["a"],"links":[{"to":{"files":[],"links":[]}},{"to":{"to":null}}]}"#))
        #expect(!folder.accepts(#"{"files":["a"],"links":[{"to":{"files":[1],"links":[]}}]}"#))
    }

    @Test("recursion without reading characters ends, and doesn't add matches")
    func emptyRecursion() {
        #expect(!JSONShape.recursive { $0 }.accepts("1"))
        #expect(JSONShape.recursive { .either($0, .string) }.accepts(#""x""#))
        #expect(!JSONShape.recursive { .nullable(.either($0, .string)) }.accepts("1"))
        var escaped = JSONShape.any
        _ = JSONShape.recursive { shape in
            escaped = shape
            return .string
        }
        #expect(!escaped.accepts(#""x""#))
    }

    /// Each level has two alternatives that differ only after their contents. Trying them one after the other would
    /// take exponential time in the depth.
    @Test("nested alternatives are matched in one pass, at any depth", arguments: [true, false])
    func nestedAlternatives(fits: Bool) {
        let shape = JSONShape.recursive { next in
            .either(["next": next, "kind": .enumeration("a")], ["next": next, "kind": .enumeration("b")], .integer)
        }
        let depth = 200
        var text = fits ? "7" : "true"
        for level in 0..<depth { text = "{\"next\":\(text),\"kind\":\"\(level % 2 == 0 ? "a" : "b")\"}" }
        let problems = shape.problems(text)
        #expect(problems.isEmpty == fits)
        #expect(fits || problems.count == 1)
    }

    @Test("after a failure deep within alternatives, the rest isn't read again for each alternative")
    func rereading() {
        let shape = JSONShape.recursive { next in .either(["n": next, "a": .any], ["n": next, "b": .any], .integer) }
        var text = "true"
        let load = "[\(Array(repeating: "1", count: 20_000).joined(separator: ","))]"
        for _ in 0..<300 { text = "{\"n\":\(text),\"a\":1}" }
        text = "{\"n\":\(text),\"b\":\(load)}"
        let problems = shape.problems(text)
        #expect(problems.count == 1)
    }

    @Test("repeated keys within alternatives are reported once, with their position")
    func duplicates() {
        let shape = JSONShape.array(of: .either(["a": ["x": .any]], ["b": .any]))
        #expect(
            shape.complaints(#"[{"a":{"x":1}},{"a":{"x":[{"k":1,"k":2}]}}]"#) == [
                "/1/a/x/0/k: duplicate key (byte 33)"
            ])
        #expect(shape.problems(#"[{"a":{"x":1,"x":2},"c":{"d":1,"d":1}}]"#).map(\.pointer) == ["/0/a/x", "/0/c/d"])
        var limits = JSONLimits()
        limits.maximumProblems = 1
        do { try shape.validate(Data(#"[{"b":{"d":1,"d":1,"d":1}}]"#.utf8), limits: limits) } catch {
            #expect(error.count == 2 && error.problems.count == 1)
        }
    }
}
