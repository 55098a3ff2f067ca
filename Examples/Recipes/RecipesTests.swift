import Errand
import ErrandEnvelopes
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

/// Tests the files in this folder, which are meant to be copied.
@Suite("Recipes to copy", .timeLimit(.minutes(10)))
struct RecipesTests {
    private struct Order: Decodable, Sendable, Equatable {
        let id: Int
        let number: String
        let price: Double
        let isPaid: Bool
        let tags: [String]
        let lines: [Line]
        let note: String?
        let weight: Double?
        let shipped: Date?
        let buyer: Buyer

        struct Line: Decodable, Sendable, Equatable { let count: UInt8 }
        struct Buyer: Decodable, Sendable, Equatable { let name: String? }
    }

    private func decode<Value: Decodable>(_ type: Value.Type = Value.self, _ text: String) throws -> Value {
        try LenientDecoder().decode(type, from: Data(text.utf8))
    }

    @Test("a lenient decoder converts between numbers and texts, and reads null or a single value as a list")
    func lenient() throws {
        let order = try decode(
            Order.self,
            #"""
            {"id":"7","number":12345,"price":"9.90","isPaid":"1","tags":null,"lines":{"count":"2"},
             "note":3,"weight":"","shipped":"1700000000","buyer":[]}
            """#)
        #expect(order.id == 7 && order.number == "12345" && order.price == 9.9 && order.isPaid)
        #expect(order.tags.isEmpty && order.lines == [Order.Line(count: 2)] && order.note == "3")
        #expect(order.weight == nil && order.shipped == Date(timeIntervalSince1970: 1_700_000_000))
        #expect(order.buyer.name == nil)
        #expect(try decode([Int].self, "7") == [7] && decode([Int].self, #"["1",2,true,3.0]"#) == [1, 2, 1, 3])
        #expect(try decode([String: Decimal].self, #"{"a":"0.10","b":0.2}"#) == ["a": 0.1, "b": 0.2])
        #expect(try decode([URL?].self, #"["https://a.b/c",null]"#) == [URL(string: "https://a.b/c"), nil])
        #expect(try decode(Date.self, #""2023-11-14T22:13:20Z""#) == Date(timeIntervalSince1970: 1_700_000_000))
    }

    @Test("a lenient decoder keeps all digits of a number, and never reads another number")
    func digits() throws {
        #expect(
            try decode([String].self, "[234782649242226688,18446744073709551615,12345678901234567.89,0.1,1e2,589.68]")
                == ["234782649242226688", "18446744073709551615", "12345678901234567.89", "0.1", "100", "589.68"])
        #expect(
            try decode([UInt64].self, #"[18446744073709551615,"18446744073709551615","9999999999999999999.0",1e3]"#)
                == [.max, .max, 9_999_999_999_999_999_999, 1000])
        #expect(try decode([Int64].self, #"["9007199254740993.0",9007199254740993.0]"#) == [1 << 53 + 1, 1 << 53 + 1])
        #expect(
            try decode([Decimal].self, #"[12345678901234567.89,"12345678901234567.89"]"#)
                == Array(repeating: try #require(Decimal(string: "12345678901234567.89")), count: 2))
        #expect(try decode([Double].self, #"[1e300,"1e300",0.1,true]"#) == [1e300, 1e300, 0.1, 1])
        #expect(throws: DecodingError.self) { try decode(Date.self, "true") }
        for text in ["[\"7 apples\"]", "[\"0x10\"]", "[\"\"]", "[\"1,5\"]", "[\"nan\"]", "[\" 7\"]"] {
            #expect(throws: DecodingError.self, "\(text)") { try decode([Decimal].self, text) }
            #expect(throws: DecodingError.self, "\(text)") { try decode([Int].self, text) }
            #expect(throws: DecodingError.self, "\(text)") { try decode([Double].self, text) }
        }
        for text in ["[9999999999999999999]", "[0.5]", #"["1e30"]"#, "[1e300]"] {
            #expect(throws: DecodingError.self, "\(text)") { try decode([Int64].self, text) }
        }
    }

    @Test("a missing value, or an invalid number, is an error with its place")
    func strict() throws {
        for text in [#"{"name":"x"}"#, #"{"count":"many"}"#, #"{"count":null}"#, #"{"count":300}"#, #"{"count":{}}"#] {
            #expect(throws: DecodingError.self) { try decode(Order.Line.self, text) }
        }
        #expect(throws: DecodingError.self) { try decode(Order.Line.self, "7") }
        do { _ = try decode([Order.Line].self, #"[{"count":"many"}]"#) } catch DecodingError.typeMismatch(
            _, let context)
        {
            #expect(context.codingPath.last?.stringValue == "count")
        }
    }

    @Test("a lenient decoder reads an envelope, and the model in it")
    func envelope() async throws {
        struct Reply: ResponseEnvelope {
            let code: EnvelopeCode
            let msg: String?
            var isSuccess: Bool { code == 0 }
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com",
            transport: .stub(.json(#"{"code":"0","msg":7,"data":{"count":"2"}}"#)))
        agent.configure { $0.decoder = LenientDecoder() }
        #expect(try await agent.send(Call<Order.Line>(.get, "x", in: Reply.self)).value.count == 2)
        #expect(try await agent.send(Call<[Order.Line]>(.get, "x", in: Reply.self)).value.count == 1)
    }

    @Test(
        "AES-GCM agrees with the vectors of its specification, and decrypts its own output",
        .enabled(if: AESGCM.isAvailable))
    func vectors() throws {
        let zero = AESGCM(key: Data(count: 32))
        let sealed = try zero.seal(Data(count: 16), nonce: Data(count: 12))
        let hex = sealed.dropFirst(12).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        #expect(hex == "cea7403d4d606b6e074ec5d3baf39d18" + "d0d1c8a799996bf0265b98b5d48ab919")
        #expect(try zero.open(sealed) == Data(count: 16))
        #expect(try zero.open(zero.seal(Data())) == Data())
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: (any Error).self) { try zero.open(changed) }
        }
        #expect(throws: (any Error).self) { try AESGCM(key: Data(count: 32).dropLast()).seal(Data()) }
        #expect(throws: (any Error).self) { try zero.open(Data(count: 27)) }
    }

    @Test("seals come after a cache without a problem: they don't identify a resource")
    func order() throws {
        struct Stores: Filter {
            var traits: FilterTraits { [.caches, .cachesCalls, .separatesUsers] }

            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json("{}")),
            filters: [Stores(), SealedBodies(sealer: AESGCM(key: Data(count: 32)))])
        #expect(agent.explain(Call<Void>(.post, "orders")).problems.isEmpty)
    }

    @Test("bodies are sealed on the wire, in both directions, and whole to the app", .enabled(if: AESGCM.isAvailable))
    func sealed() async throws {
        let sealer = AESGCM(key: Data((0..<32).map { $0 }))
        let server = try TestServer()
        server.on("/orders") { request in
            guard let body = try? sealer.open(request.body) else { return .status(400) }
            let reply = Data(#"{"sent":"#.utf8) + body + Data("}".utf8)
            return .data((try? sealer.seal(reply)) ?? Data(), contentType: "application/octet-stream")
        }
        struct Sent: Decodable, Sendable { let sent: [String: Int] }
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [SealedBodies(sealer: sealer)])
        let call = Call<Sent>(.post, "orders", body: .json(["count": 2]))
        #expect(try await agent.send(call).value.sent == ["count": 2])
        #expect(server.received.first.map { !$0.body.isEmpty && $0.body.first != UInt8(ascii: "{") } == true)

        server.on("/orders", .data(Data([1, 2, 3]), contentType: "application/octet-stream"))
        let error = await #expect(throws: ErrandError.self) { try await agent.send(call) }
        #expect(error?.code == .decodingFailed)
    }
}
