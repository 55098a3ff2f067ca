// The code in docs/coming-from-ytknetwork.md, under "What other base classes do".
import Errand
import ErrandCache
import ErrandEnvelopes
import ErrandTesting
import Foundation
import Testing

private nonisolated func seal(_ data: Data) throws -> String { "sealed " + data.base64EncodedString() }

private nonisolated struct SealedParameters<Value: Encodable>: Encodable {
    let value: Value
    enum CodingKeys: CodingKey { case sign }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(seal(JSONEncoder().encode(value)), forKey: .sign)
    }
}

private nonisolated protocol SealedRequest: Request, Encodable {}

nonisolated extension SealedRequest {
    var parameters: Parameters? { Parameters(encoding: SealedParameters(value: self)) }
    var parameterPlacement: ParameterPlacement { method == .get ? .query : .json }
}

private struct LooseReply: ResponseEnvelope {
    let code: EnvelopeCode
    let message: String?
    var isSuccess: Bool { code == 200 }

    enum CodingKeys: String, CodingKey { case code, data, message = "msg" }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        code = try container.decodeIfPresent(EnvelopeCode.self, forKey: .code) ?? -1
        message = try container.decodeIfPresent(String.self, forKey: .message) ?? "no data"
    }

    func value<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if try !container.contains(.data) || container.decodeNil(forKey: .data) {
            return try JSONDecoder().decode(type, from: Data("{}".utf8))
        }
        guard let text = try? container.decode(String.self, forKey: .data) else {
            return try container.decode(type, forKey: .data)
        }
        return try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}

private nonisolated protocol MergedRequest: CacheableRequest where Output: Codable {
    var user: String { get }
    func merging(_ new: Output, into old: Output) -> Output
}

nonisolated extension MergedRequest {
    var cachePolicy: CachePolicy { .timed(.seconds(365 * 86_400), partition: user) }
}

private nonisolated extension Agent {
    func merge<R: MergedRequest>(_ request: R) async throws -> R.Output {
        let old = try await cached(request, includingStale: true)?.value
        let new = try await send(request, options: .cache(.reload))
        guard let old else { return new.value }
        let model = try JSONEncoder().encode(request.merging(new.value, into: old))
        let kept = HTTPResponse(
            url: new.http.url, status: 200, headers: ["Content-Type": "application/json"], body: HTTPBody(model))
        return try await store(kept, for: request).value
    }
}

private struct Switch: SealedRequest {
    typealias Output = Void
    let lamp: Int
    var method: HTTPMethod { .post }
    var path: String { "switch" }
}

private struct FindLamps: SealedRequest {
    typealias Output = Void
    let room: String
    var path: String { "lamps" }
}

private struct GetChanges: MergedRequest {
    typealias Output = [Int]
    let user: String
    var method: HTTPMethod { .post }
    var path: String { "changes" }
    func merging(_ new: [Int], into old: [Int]) -> [Int] { old + new }
}

@Suite("Other base classes of YTKNetwork", .endsInTime, .leakChecked) struct YTKNetworkOthersTests {
    @Test("parameters are sealed into one field of a body, or of a query")
    func sealed() async throws {
        let stub = StubTransport(.status(204))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        try await agent.send(Switch(lamp: 7))
        try await agent.send(FindLamps(room: "hall"))
        let sealed = try seal(Data(#"{"lamp":7}"#.utf8))
        let body = try JSONDecoder().decode([String: String].self, from: stub.received[0].body.data ?? Data())
        #expect(body == ["sign": sealed])
        #expect(stub.received[1].url.query()?.hasPrefix("sign=sealed") == true)
    }

    @Test(
        "a value is read from an object, from JSON in a text, and from null",
        arguments: [
            #"{"code":"200","data":{"a":1}}"#, #"{"code":200,"data":"{\"a\":1}"}"#, #"{"code":200,"data":null}"#,
        ])
    func loose(_ body: String) async throws {
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.json(body)))
        let value = try await agent.send(Call<[String: Int]>(.get, "x", in: LooseReply.self)).value
        #expect(value == (body.contains("null") ? [:] : ["a": 1]))
    }

    @Test("an envelope without a code is a failure")
    func withoutCode() async throws {
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.json("{}")))
        let error = await #expect(throws: EnvelopeError.self) {
            try await agent.send(Call<Void>(.get, "x", in: LooseReply.self))
        }
        #expect(error?.code == -1 && error?.message == "no data")
    }

    @Test("models are merged with earlier models of the same user")
    func merged() async throws {
        let stub = StubTransport()
        stub.on(.post, "/changes", response: .json("[1]"), .json("[2]"), .json("[3]"))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub, filters: [.cache(.memory())])
        #expect(try await agent.merge(GetChanges(user: "ada")) == [1])
        #expect(try await agent.merge(GetChanges(user: "ada")) == [1, 2])
        #expect(try await agent.cached(GetChanges(user: "ada"))?.value == [1, 2])
        #expect(try await agent.merge(GetChanges(user: "bob")) == [3])
    }
}
