import ErrandJSONValidation
import Foundation
import Testing

@Suite("Shapes of examples", .leakChecked)
struct ExampleTests {
    private func shape(_ text: String) throws -> JSONShape { try JSONShape(example: Data(text.utf8)) }

    @Test("an example fits its own shape", arguments: 0..<2_000)
    func itself(seed: Int) throws {
        var json = RandomJSON(seed: seed)
        let text = Data(json.text())
        let shape: JSONShape
        do { shape = try JSONShape(example: text) } catch {
            // Random keys sometimes repeat.
            #expect(error.problems.allSatisfy { $0.kind == .duplicateKey })
            return
        }
        try shape.validate(text)
    }

    @Test("all keys of an object are required, other keys may be there")
    func objects() throws {
        let shape = try shape(#"{"id":1,"name":"Ada","tags":["a"],"score":0.5,"on":true}"#)
        #expect(shape.accepts(#"{"id":7,"name":"","tags":[],"score":1,"on":false,"more":null}"#))
        #expect(
            shape.complaints(#"{"id":1.5,"name":null,"tags":[1],"score":"x","on":0}"#) == [
                "/id: expected an integer, found a number with a fraction (byte 6)",
                "/name: expected a string, found null (byte 17)",
                "/tags/0: expected a string, found a number (byte 30)",
                "/score: expected a number, found a string (byte 41)",
                "/on: expected a boolean, found a number (byte 50)",
            ])
        #expect(shape.problems("{}").map(\.pointer) == ["/id", "/name", "/tags", "/score", "/on"])
    }

    @Test("elements are merged: optional keys, nullable values, numbers, alternatives")
    func elements() throws {
        let shape = try shape(#"[{"a":1,"b":null},{"a":2.5,"b":"x","c":[]},{"a":1,"b":null,"c":[true]}]"#)
        #expect(shape.accepts(#"[{"a":1,"b":"y"},{"a":0.1,"b":null,"c":[false]}]"#))
        #expect(shape.problems(#"[{"a":1}]"#).map(\.pointer) == ["/0/b"])
        #expect(shape.problems(#"[{"a":1,"b":2,"c":null}]"#).map(\.pointer) == ["/0/b", "/0/c"])
        #expect(shape.problems(#"[{"a":1,"b":"x","c":["x"]}]"#).map(\.pointer) == ["/0/c/0"])
        let mixed = try self.shape(#"[1,"x",{"a":1},[2]]"#)
        #expect(mixed.accepts(#"[{"a":2},"y",[3],4]"#))
        #expect(!mixed.accepts("[true]") && !mixed.accepts("[[true]]"))
    }

    @Test("a value that an example doesn't show can be anything")
    func unknown() throws {
        #expect(try shape("[]").accepts(#"[1,"x",null]"#))
        #expect(try shape(#"{"a":null}"#).accepts(#"{"a":[1]}"#))
        #expect(try !shape(#"{"a":null}"#).accepts("{}"))
        #expect(try shape("{}").accepts(#"{"a":1}"#))
        #expect(try shape("7").accepts("8"))
        #expect(try shape("\u{FEFF}[7]").accepts("[8]"))
    }

    @Test("an example must be JSON", arguments: ["", "[1", #"{"a":1,"a":2}"#, "[1,]"])
    func broken(text: String) { #expect(throws: JSONValidationError.self) { try shape(text) } }

    @Test("an example can be deeply nested")
    func deep() throws {
        let text = String(repeating: "[{\"a\":", count: 250) + "1" + String(repeating: "}]", count: 250)
        #expect(try shape(text).accepts(text))
        #expect(throws: JSONValidationError.self) { try shape(String(repeating: "[", count: 100_000)) }
    }
}
