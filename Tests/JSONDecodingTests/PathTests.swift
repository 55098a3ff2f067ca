import ErrandJSONDecoding
import Foundation
import Testing

@Suite("Coding paths, compared with JSONDecoder's", .endsInTime, .leakChecked)
struct PathTests {
    private struct Item: Decodable { let id: Int }

    @Test(
        "an integer dictionary key is an integer in the path, unless a strategy converts keys",
        arguments: ["7", "07", "+7", "-3", "0", "1.0", "a", "", " 7", "٣", "99999999999999999999"])
    func numericKeys(key: String) {
        var pair = Pair()
        func check(at location: SourceLocation = #_sourceLocation) {
            pair.agree([String: Item].self, "{\"\(key)\":{\"id\":\"x\"}}", at: location)
            pair.agree([String: Int].self, "{\"\(key)\":\"x\"}", at: location)
            pair.agree([String: [Int]].self, "{\"\(key)\":[true]}", at: location)
            pair.agree([String: [String: Bool]].self, "{\"\(key)\":{\"\(key)\":1}}", at: location)
            pair.agree([String: Date].self, "{\"\(key)\":true}", at: location)
            pair.agree([String: URL].self, "{\"\(key)\":true}", at: location)
            pair.agree([[String: Item?]].self, "[{\"\(key)\":{\"id\":null}}]", at: location)
            pair.agree([Int: Int].self, "{\"\(key)\":\"x\"}", at: location)
        }
        check()
        pair.keys(.convertFromSnakeCase)
        check()
        pair.keys(.custom { AnyKey(stringValue: $0.map { "\($0.intValue ?? -1)" }.joined() + "id") })
        check()
    }

    private enum Key: String, CodingKey { case day, days, child, inner }

    /// Keeps its containers and decodes dates from them later.
    private final class Keeper: Decodable, @unchecked Sendable {
        private let own: KeyedDecodingContainer<Key>
        private let inner: KeyedDecodingContainer<Key>
        private let other: any Decoder

        init(from decoder: any Decoder) throws {
            own = try decoder.container(keyedBy: Key.self)
            inner = try own.nestedContainer(keyedBy: Key.self, forKey: .inner)
            other = try own.superDecoder(forKey: .inner)
        }

        func outcomes() -> [Outcome] {
            [
                Outcome { try own.decode(Date.self, forKey: .day) },
                Outcome { try own.decode([Date].self, forKey: .days) },
                Outcome { try inner.decode(Date.self, forKey: .day) },
                Outcome { try other.container(keyedBy: Key.self).decode(Date.self, forKey: .day) },
                Outcome { try own.decode(Int.self, forKey: .day) },
            ]
        }
    }

    private struct Parent: Decodable {
        let keeper: Keeper
        let outcomes: [Outcome]

        init(from decoder: any Decoder) throws {
            keeper = try decoder.container(keyedBy: Key.self).decode(Keeper.self, forKey: .child)
            outcomes = keeper.outcomes()
        }
    }

    @Test(
        "a wrong date in a stored container has JSONDecoder's path, during and after decoding its parent"
    )
    func keptDates() throws {
        var pair = Pair()
        pair.date(.iso8601)
        let parent = #"{"child":{"day":"x","days":["2024-01-01T00:00:00Z","y"],"inner":{"day":"z"}}}"#
        let (alone, list, members) = (Data(parent.utf8), Data("[\(parent)]".utf8), Data("{\"7\":[\(parent)]}".utf8))
        func check(_ fast: Parent?, _ slow: Parent?) {
            #expect(fast != nil && fast?.outcomes == slow?.outcomes)
            #expect(fast?.keeper.outcomes() == slow?.keeper.outcomes())
        }
        check(try pair.fast.decode(Parent.self, from: alone), try pair.slow.decode(Parent.self, from: alone))
        check(
            try pair.fast.decode([Parent].self, from: list).first, try pair.slow.decode([Parent].self, from: list).first
        )
        check(
            try pair.fast.decode([String: [Parent]].self, from: members)["7"]?.first,
            try pair.slow.decode([String: [Parent]].self, from: members)["7"]?.first)
    }
}
