import Foundation
import Testing

@testable import ErrandJSONDecoding

@Suite("Types that are read without their init(from:)")
struct DirectTypeTests {
    private struct User: Decodable, Equatable { let firstName: String }

    private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        var decoder = FastJSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(text.utf8))
    }

    @Test("dictionaries keep their keys even with a key strategy")
    func keptKeys() throws {
        #expect(
            try read([String: User].self, #"{"a_b":{"first_name":"Ada"}}"#) == ["a_b": User(firstName: "Ada")])
        #expect(try read([String: [String: Int]].self, #"{"a_b":{"c_d":1}}"#) == ["a_b": ["c_d": 1]])
        #expect(try read([User].self, #"[{"first_name":"Ada"}]"#) == [User(firstName: "Ada")])
        #expect(try read(User.self, #"{"first_name":"Ada"}"#) == User(firstName: "Ada"))
        #expect(try read([Int: String].self, #"{"1":"a"}"#) == [1: "a"])
        #expect(try read(Int?.self, "null") == nil)
    }

    @Test("scalars, and arrays and dictionaries of any values are read directly, other types are not")
    func types() {
        func isDirect(_ type: any Decodable.Type) -> Bool { type is any DirectlyDecodable.Type }
        #expect(isDirect(Int.self) && isDirect(UInt128.self) && isDirect(Decimal.self) && isDirect(URL.self))
        #expect(isDirect([String: Role].self))
        #expect(isDirect([[Int]].self))
        #expect(!isDirect(Role.self))
        #expect(!isDirect(Int?.self) && !isDirect([Int: String].self) && !isDirect(Set<Int>.self))
    }

    @Test("an array with invalid elements throws the error of the first")
    func elements() throws {
        #expect(try read([Int].self, "[1,2.0,3e1]") == [1, 2, 30])
        #expect(try read([[Double]].self, "[[1,2.5],[],[-0.5e1]]") == [[1, 2.5], [], [-5]])
        let error = #expect(throws: DecodingError.self) { try read([[Int]].self, "[[1],[2,true,null]]") }
        guard case .typeMismatch(_, let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.intValue) == [1, 1])
    }

    @Test("the first of equal keys counts, in any order in which a type requests them")
    func equalKeys() throws {
        struct Triple: Decodable, Equatable { let ab, cd, ef: Int }
        let permutations = [
            #"{"ab":1,"cd":2,"ef":3}"#, #"{"ef":3,"cd":2,"ab":1}"#, #"{"cd":2,"ab":1,"ef":3}"#,
            #"{"ab":1,"ab":9,"cd":2,"cd":8,"ef":3,"ef":7}"#, #"{"ab":1,"ef":3,"ab":9,"cd":2,"ef":7,"cd":8}"#,
            #"{"xy":0,"ab":1,"xy":0,"cd":2,"ab":9,"ef":3}"#,
        ]
        for text in permutations {
            #expect(try FastJSONDecoder().decode(Triple.self, from: Data(text.utf8)) == Triple(ab: 1, cd: 2, ef: 3))
        }
        struct Again: Decodable {
            let values: [Int]
            private enum Key: CodingKey { case ab, cd }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                values = try [Key.ab, .cd, .ab, .cd, .ab].map { try container.decode(Int.self, forKey: $0) }
            }
        }
        let again = try FastJSONDecoder().decode(Again.self, from: Data(#"{"ab":1,"ab":2,"cd":3,"cd":4}"#.utf8))
        #expect(again.values == [1, 3, 1, 3, 1])
    }
}
