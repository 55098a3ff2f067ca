import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandJSONDecoding

/// Statements of the decoder's documentation that no other test covers.
@Suite("What differs from JSONDecoder", .endsInTime, .leakChecked)
struct PromiseTests {
    private func error(_ body: () throws -> Void) -> DecodingError.Context? {
        do { try body() } catch DecodingError.dataCorrupted(let context) { return context } catch {}
        return nil
    }

    @Test("any number of keys keep the order of the text", arguments: [3, 40, 300])
    func keyOrder(count: Int) throws {
        struct Keys: Decodable {
            let names: [String]
            init(from decoder: any Decoder) throws {
                names = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
            }
        }
        let names = (0..<count).map { "\(($0 &* 7919) % count)key_\($0)" }
        let text = Data("{\(names.map { "\"\($0)\":1" }.joined(separator: ","))}".utf8)
        #expect(try FastJSONDecoder().decode(Keys.self, from: text).names == names)
        var decoder = FastJSONDecoder()
        decoder.keyDecodingStrategy = .custom { AnyKey(stringValue: "\($0.last?.stringValue ?? "")!") }
        #expect(try decoder.decode(Keys.self, from: text).names == names.map { "\($0)!" })
    }

    @Test("if several members of a dictionary fail, the first in the text is the error")
    func firstFailure() throws {
        for (good, bad) in [(0, "z"), (20, "b"), (100, "a")] {
            let members = (0..<good).map { "\"k\($0)\":1" } + ["\"\(bad)\":true", "\"c\":\"x\"", "\"d\":[]"]
            let text = Data("{\(members.joined(separator: ","))}".utf8)
            let error = #expect(throws: DecodingError.self) {
                try FastJSONDecoder().decode([String: Int].self, from: text)
            }
            guard case .typeMismatch(_, let context) = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(context.codingPath.map(\.stringValue) == [bad])
        }
    }

    @Test("a text that is too long or not in its encoding throws an error with its own code")
    func codes() throws {
        // Refused because of its length, before any byte is read.
        let tooLong = #expect(throws: JSONDecodingError.self) {
            try IndexBuilder.checkLength(IndexEntry.limit + 1)
        }
        #expect(tooLong?.code == .tooLarge && tooLong?.byte == IndexEntry.limit)
        for bytes: [UInt8] in [[0xFF, 0xFE, 0x00, 0xD8], [0x00, 0x00, 0xFE, 0xFF, 0x00, 0x11, 0x00, 0x00]] {
            let context = error { _ = try FastJSONDecoder().decode(String.self, from: Data(bytes)) }
            #expect((context?.underlyingError as? JSONDecodingError)?.code == .invalidEncoding)
        }
    }

    @Test(
        "an integer with an exponent or a zero fraction is exact in the widest types, and other fractions are refused"
    )
    func wideIntegers() throws {
        let decoder = FastJSONDecoder()
        func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
            try decoder.decode(type, from: Data(text.utf8))
        }
        #expect(try decode(Int128.self, "17e37") == Int128("170000000000000000000000000000000000000") ?? 0)
        #expect(try decode(UInt128.self, "340282366920938463463374607431768211455.000") == .max)
        #expect(try decode(Int128.self, "-170141183460469231731687303715884105728") == .min)
        #expect(try decode(Int.self, "1e2") == 100 && decode(Int.self, "1.0") == 1)
        for text in ["9007199254740993.5", "1.0000000000000000001", "1e-1", "1e39"] {
            let context = error { _ = try decode(Int128.self, text) }
            #expect((context?.underlyingError as? JSONDecodingError)?.code == .numberNotRepresentable)
        }
    }

    @Test("response.json and response.decoded use the agent's decoder, unless the call names another")
    func responses() async throws {
        struct User: Decodable, Sendable { let userName: String? }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json(#"{"user_name":"Ada"}"#)))
        agent.configure {
            var decoder = FastJSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            $0.decoder = decoder
        }
        let response = try await agent.send(Call<HTTPResponse>(.get, "user")).value
        #expect(try response.decoded(as: User.self).userName == "Ada")
        #expect(try response.json(User.self).userName == "Ada")
        #expect(try response.json(User.self, decoder: JSONDecoder()).userName == nil)
    }

    @Test("response.json reads JSON if the agent's decoder reads another format")
    func otherFormat() async throws {
        struct Other: BodyDecoder {
            let contentTypes: ContentTypes = ["application/cbor"]
            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
                throw ErrandError(.decodingFailed, "not CBOR")
            }
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.json(#"["Ada"]"#)))
        agent.configure { $0.decoder = Other() }
        let response = try await agent.send(Call<HTTPResponse>(.get, "users")).value
        #expect(try response.json([String].self) == ["Ada"])
        #expect(throws: ErrandError.self) { try response.decoded(as: [String].self) }
    }

    @Test("a text is read independently of the previous text, and its index has an entry for each value")
    func texts() throws {
        let decoder = FastJSONDecoder()
        for count in [3, 100_000, 1, 9_000, 0] {
            let text = "[\((0..<count).map(String.init).joined(separator: ","))]"
            #expect(try decoder.decode([Int].self, from: Data(text.utf8)) == Array(0..<count))
        }
        for (count, last) in [(100_000, 1), (1, 7)] {
            let text = "[\(String(repeating: "1,", count: count - 1))\(last)]"
            let document = try JSONDocument(Array(text.utf8), options: decoder)
            #expect(document.integer(Int.self, at: count) == last && document.next(after: 0) == count + 1)
        }
    }

    @Test("an index denser than one entry per eight bytes is built in parts, with any value at the boundary")
    func grownIndex() throws {
        for count in 0..<80 {
            // Two bytes per entry, plus members whose key and value must stay together.
            let values = String(repeating: "1,", count: count)
            let text = "[\(values){\"a\":[{}],\"b\":{\"c\":\"d\"}},\(values)[]]"
            let document = try JSONDocument(Array(text.utf8), options: FastJSONDecoder())
            #expect(document.next(after: 0) == 2 * count + 10)
            let object = count + 1
            #expect(document[object].isObject && document.next(after: object) == object + 8)
            #expect(document.string(at: object + 1) == "a" && document.string(at: object + 7) == "d")
            for cut in [1, 2, 5, 9] {
                #expect(throws: JSONDecodingError.self) {
                    try JSONDocument(Array(text.utf8.dropLast(cut)), options: FastJSONDecoder())
                }
            }
        }
    }
}
