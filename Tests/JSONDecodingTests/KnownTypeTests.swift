import Foundation
import Testing

@testable import ErrandJSONDecoding

@Suite("Types that are read without their init(from:)")
struct KnownTypeTests {
    private static let signed = KnownType.Table(KnownType.types, descriptors: [1, 2])

    private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        var (options, text) = (FastJSONDecoder(), text)
        options.keyDecodingStrategy = .convertFromSnakeCase
        return try text.withUTF8 { bytes in
            let document = JSONDocument()
            try document.read(bytes, options: options)
            return try ValueFrame(document).value(type, as: Self.signed[type])
        }
    }

    @Test("dictionaries keep their keys where descriptors are signed")
    func signedDescriptors() throws {
        struct User: Decodable, Equatable { let firstName: String }
        #expect(Self.signed[Int.self] == .int)
        #expect(Self.signed[[String: User].self] == .composite)
        #expect(
            try read([String: User].self, #"{"a_b":{"first_name":"Ada"}}"#) == ["a_b": User(firstName: "Ada")])
        #expect(try read([User].self, #"[{"first_name":"Ada"}]"#) == [User(firstName: "Ada")])
        #expect(try read(User.self, #"{"first_name":"Ada"}"#) == User(firstName: "Ada"))
        #expect(try read([Int: String].self, #"{"1":"a"}"#) == [1: "a"])
        #expect(try read(Int?.self, "null") == nil)
    }

    @Test("only arrays and dictionaries are composite where descriptors are equal")
    func plainDescriptors() {
        #expect(KnownType(of: [String: Role].self) == .composite)
        #expect(KnownType(of: [[Int]].self) == .composite)
        #expect(KnownType(of: Role.self) == .other)
    }
}
