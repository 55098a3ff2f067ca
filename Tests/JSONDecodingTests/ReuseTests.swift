import ErrandJSONDecoding
import Foundation
import Testing

/// The decoder reuses decoders, containers and memory from one value to the next, unless a type keeps them.
@Suite("Parts that the fast decoder reuses", .endsInTime, .leakChecked)
struct ReuseTests {
    private enum OtherKey: String, CodingKey { case id, inner }
    private struct Identified: Decodable { let id: Int }

    /// Keeps its decoder, or one of three kinds of container.
    private final class Keeper: Decodable {
        let inner: Keeper?
        private let id: () throws -> Int
        private let path: () -> [any CodingKey]

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: AnyKey.self)
            inner = try container.decodeIfPresent(Keeper.self, forKey: AnyKey(stringValue: "inner"))
            switch try container.decode(Int.self, forKey: AnyKey(stringValue: "id")) % 5 {
            case 0:
                id = { try container.decode(Int.self, forKey: AnyKey(stringValue: "id")) }
                path = { container.codingPath }
            case 1:
                let other = try decoder.container(keyedBy: OtherKey.self)
                id = { try other.decode(Int.self, forKey: .id) }
                path = { other.codingPath }
            case 2:
                let value = try decoder.singleValueContainer()
                id = { try value.decode(Identified.self).id }
                path = { value.codingPath }
            case 3:
                id = { try decoder.container(keyedBy: OtherKey.self).decode(Int.self, forKey: .id) }
                path = { decoder.codingPath }
            default:
                let number = try container.decode(Int.self, forKey: AnyKey(stringValue: "id"))
                id = { number }
                path = { [] }
                return
            }
        }

        func check(_ expected: Int, at expectedPath: String) throws {
            #expect(try id() == expected)
            if expected % 5 != 4 { #expect(path().map(\.stringValue).joined(separator: "/") == expectedPath) }
            try inner?.check(expected + 1, at: expectedPath.isEmpty ? "inner" : expectedPath + "/inner")
        }
    }

    private static func text(_ id: Int) -> String {
        "{\"id\":\(id),\"inner\":{\"id\":\(id + 1),\"inner\":{\"inner\":null,\"id\":\(id + 2)}}}"
    }

    @Test("a decoder that a type stored keeps its value and path, whatever is decoded afterwards")
    func kept() throws {
        let decoder = FastJSONDecoder()
        let text = "[\((0..<40).map(Self.text).joined(separator: ","))]"
        let keepers = try decoder.decode([Keeper].self, from: Data(text.utf8))
        let single = try (0..<10).map { try decoder.decode(Keeper.self, from: Data(Self.text($0).utf8)) }
        _ = try decoder.decode([Keeper].self, from: Data("[\(Self.text(7))]".utf8))
        #expect(throws: DecodingError.self) { try decoder.decode([Keeper].self, from: Data("[{\"id\":".utf8)) }
        for round in 0..<2 {
            for (index, keeper) in keepers.enumerated() where round == 0 || index % 3 == 0 {
                try keeper.check(index, at: "Index \(index)")
            }
            for (id, keeper) in single.enumerated() { try keeper.check(id, at: "") }
        }
    }

    @Test("one decoder can be used by many tasks, types and settings, in sequence and concurrently")
    func shared() async throws {
        struct User: Decodable, Equatable {
            let id: Int
            let userName: String?
        }
        var copy = FastJSONDecoder()
        let decoder = copy
        copy.keyDecodingStrategy = .convertFromSnakeCase
        let converting = copy
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for id in task * 100..<task * 100 + 100 {
                        let data = Data("{\"id\":\(id),\"user_name\":\"Ada \(id)\"}".utf8)
                        #expect(try converting.decode(User.self, from: data) == User(id: id, userName: "Ada \(id)"))
                        #expect(try decoder.decode(User.self, from: data) == User(id: id, userName: nil))
                        #expect(throws: DecodingError.self) { try decoder.decode([Int].self, from: data) }
                        let list = "[\(String(repeating: "\(id),", count: id))\(id)]"
                        #expect(try decoder.decode([Int].self, from: Data(list.utf8)).count == id + 1)
                        try decoder.decode(Keeper.self, from: Data(Self.text(id).utf8)).check(id, at: "")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("a type can decode nested data with the decoder that is decoding it")
    func nested() throws {
        struct Nested: Decodable {
            static let decoder = FastJSONDecoder()
            let values: [Identified]
            init(from decoder: any Decoder) throws {
                let text = try decoder.singleValueContainer().decode(String.self)
                values = try Self.decoder.decode([Identified].self, from: Data(text.utf8))
            }
        }
        let text = #"["[{\"id\":1},{\"id\":2}]","[]","[{\"id\":3}]"]"#
        let nested = try Nested.decoder.decode([Nested].self, from: Data(text.utf8))
        #expect(nested.map { $0.values.map(\.id) } == [[1, 2], [], [3]])
    }

    @Test("decoded values aren't kept")
    func released() throws {
        final class Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        final class Value: Decodable {
            init(from decoder: any Decoder) throws {}
        }
        struct Holder: Decodable {
            nonisolated(unsafe) static weak var lastKey: Key?
            let value: Value
            init(from decoder: any Decoder) throws {
                let key = Key(stringValue: "value")
                Self.lastKey = key
                value = try decoder.container(keyedBy: Key.self).decode(Value.self, forKey: key)
            }
        }
        let decoder = FastJSONDecoder()
        for _ in 0..<3 {
            weak var value: Value?
            do {
                let holders = try decoder.decode([Holder].self, from: Data("[{\"value\":{}},{\"value\":{}}]".utf8))
                value = holders.last?.value
                withExtendedLifetime(holders) { #expect(value != nil) }
            }
            #expect(value == nil)
            #expect(Holder.lastKey == nil)
        }
    }
}
