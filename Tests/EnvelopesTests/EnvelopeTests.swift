import Errand
import ErrandEnvelopes
import ErrandTesting
import Foundation
import Testing

@Suite("Models in envelopes", .endsInTime, .leakChecked) struct EnvelopeTests {
    @Test("the output of a request or call is the model")
    func model() async throws {
        let agent = NetworkAgent(stub: ada)
        #expect(try await agent.send(Get<User>()).value == User())
        #expect(try await agent.send(Call<User>(.get, "x", in: Reply.self)).value == User())
        #expect(try await agent.send(Get<User?>()).value == User())
    }

    @Test("a code that isn't a success is a typed error with code, message, envelope and response")
    func failure() async throws {
        let agent = NetworkAgent(stub: #"{"code":1004,"msg":"sold out","total":3,"data":null}"#)
        let error = try #require(await #expect(throws: EnvelopeError.self) { try await agent.send(Get<User>()) })
        #expect(error.code == 1004 && error.message == "sold out" && error.errorCode == 1004)
        #expect((error.envelope as? Reply)?.total == 3)
        #expect(error.response?.status == 200 && error.response?.data.isEmpty == false)
        #expect(error.localizedDescription == "sold out")
        #expect(!error.description.contains("sold out") && error.description.contains("1004"))
        #expect(!error.isRetryable && !error.refusesCredential)
    }

    @Test(
        "the model of a failure isn't decoded, with any content",
        arguments: [#""""#, "{}", "[]", "7", "null", #"{"id":"x"}"#, #"[{"id":7}]"#])
    func wrongType(data: String) async throws {
        for body in [#"{"code":9,"msg":"no","data":\#(data)}"#, #"{"data":\#(data),"code":"9"}"#] {
            let agent = NetworkAgent(stub: body)
            let user = await #expect(throws: EnvelopeError.self) { try await agent.send(Get<User>()) }
            let users = await #expect(throws: EnvelopeError.self) { try await agent.send(Get<[User]>()) }
            let none = await #expect(throws: EnvelopeError.self) { try await agent.send(Post()) }
            let call = await #expect(throws: EnvelopeError.self) {
                try await agent.send(Call<Void>(.delete, "x", in: Reply.self))
            }
            #expect([user, users, none, call].allSatisfy { $0?.code == 9 })
        }
    }

    @Test(
        "null or a missing key is nil for an optional, ignored for Void, and an error for a model",
        arguments: [#"{"code":0,"data":null}"#, #"{"code":0,"msg":null}"#])
    func nothing(body: String) async throws {
        let agent = NetworkAgent(stub: body)
        #expect(try await agent.send(Get<User?>()).value == nil)
        #expect(try await agent.send(Call<[User]?>(.get, "x", in: Reply.self)).value == nil)
        try await agent.send(Post())
        try await agent.send(Call<Void>(.delete, "x", in: Reply.self))
        let error = try #require(await #expect(throws: ErrandError.self) { try await agent.send(Get<User>()) })
        #expect(error.code == .decodingFailed && error.message.hasPrefix("expected User in Reply: /"))
    }

    @Test("a successful response whose model has the wrong type throws an error that names the type")
    func wrongModel() async throws {
        let agent = NetworkAgent(stub: #"{"code":0,"data":{"id":"x","name":"Ada"}}"#)
        let error = try #require(await #expect(throws: ErrandError.self) { try await agent.send(Get<User>()) })
        #expect(error.message == "expected User in Reply: /data/id: expected Int")
    }

    @Test("the output can be a text, a list, a number, a URL, the bytes, or the response")
    func outputs() async throws {
        func agent(_ data: String) -> NetworkAgent { NetworkAgent(stub: #"{"code":0,"data":\#(data)}"#) }
        #expect(try await agent(#""t0ken""#).send(Get<String>()).value == "t0ken")
        #expect(try await agent("[1,2]").send(Get<[Int]>()).value == [1, 2])
        #expect(try await agent("7").send(Get<Int>()).value == 7)
        #expect(try await agent(#""https://a.b/c""#).send(Get<URL>()).value.absoluteString == "https://a.b/c")
        let whole = #"{"code":0,"data":7}"#

        struct Bytes: ShopRequest {}
        struct Whole: ShopRequest {
            typealias Output = HTTPResponse
        }
        #expect(try await agent("7").send(Bytes()).value == Data(whole.utf8))
        #expect(try await agent("7").send(Whole()).value.data == Data(whole.utf8))
        await #expect(throws: EnvelopeError.self) { try await NetworkAgent(stub: #"{"code":1}"#).send(Whole()) }
    }

    @Test("an envelope can have other keys, a Boolean as the code, and the model under another key")
    func otherKeys() async throws {
        struct Other: ResponseEnvelope {
            let success: Bool
            let error: Problem?
            var code: EnvelopeCode { success ? 0 : error?.id ?? 1 }
            var message: String? { error?.text }
            var isSuccess: Bool { success }
            static var valueKey: String { "result" }
            struct Problem: Decodable {
                let id: EnvelopeCode
                let text: String
            }
        }
        struct Deep: ResponseEnvelope {
            let code: EnvelopeCode
            var isSuccess: Bool { code == "SUCCESS" }
            enum Keys: String, CodingKey { case body, user }
            func value<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
                try decoder.container(keyedBy: Keys.self).nestedContainer(keyedBy: Keys.self, forKey: .body)
                    .decode(type, forKey: .user)
            }
        }
        let good = NetworkAgent(stub: #"{"success":true,"result":{"id":7,"name":"Ada"}}"#)
        #expect(try await good.send(Call<User>(.get, "x", in: Other.self)).value == User())
        let bad = NetworkAgent(stub: #"{"success":false,"error":{"id":"A0401","text":"who?"},"result":""}"#)
        let error = await #expect(throws: EnvelopeError.self) {
            try await bad.send(Call<User>(.get, "x", in: Other.self))
        }
        #expect(error?.code == "A0401" && error?.message == "who?" && error?.errorCode == 1)
        let deep = NetworkAgent(stub: #"{"code":"SUCCESS","body":{"user":{"id":7,"name":"Ada"}}}"#)
        #expect(try await deep.send(Call<User>(.get, "x", in: Deep.self)).value == User())
    }

    @Test(
        "a body that isn't an envelope is a decoding error that contains the response",
        arguments: ["", "[]", #"{"id":7}"#, "<p>"])
    func noEnvelope(body: String) async throws {
        let agent = NetworkAgent(stub: body)
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<Void>(.get, "x", in: Reply.self))
        }
        #expect(error?.code == .decodingFailed && error?.response != nil)
        #expect(error?.message.hasPrefix("expected Reply") == true)
    }

    @Test("JSON sent as text/html is decoded if the request accepts any type")
    func htmlType() async throws {
        struct AnyType: ShopRequest {
            typealias Output = User
            var path: String { "x" }
            var acceptableContentTypes: ContentTypes { .any }
        }
        let response = StubResponse.data(Data(ada.utf8), contentType: "text/html")
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(response))
        #expect(try await agent.send(AnyType()).value == User())
        let error = await #expect(throws: ErrandError.self) { try await agent.send(Get<User>()) }
        #expect(error?.code == .unacceptableContentType)
    }

    @Test("an empty body is accepted if the response can't have a body")
    func noBody() async throws {
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub { _ in .status(204) })
        try await agent.send(Call<Void>(.delete, "x", in: Reply.self))
        try await agent.send(Call<Void>(.head, "x", in: Reply.self))
        #expect(try await agent.send(Get<User?>()).value == nil)
    }

    @Test("the request's decoder or the agent's decoder reads the envelope and the model")
    func decoders() async throws {
        struct Profile: Decodable, Sendable { let firstName: String }
        struct Wide: ResponseEnvelope {
            let resultCode: EnvelopeCode
            var code: EnvelopeCode { resultCode }
            var isSuccess: Bool { code == 200 }
            static var valueKey: String { "resultData" }
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let agent = NetworkAgent(stub: #"{"result_code":"200","result_data":{"first_name":"Ada"}}"#)
        let call = Call<Profile>(.get, "x", in: Wide.self) { $0.decoder = decoder }
        #expect(try await agent.send(call).value.firstName == "Ada")
        agent.configure { $0.decoder = decoder }
        #expect(try await agent.send(Call<Profile>(.get, "x", in: Wide.self)).value.firstName == "Ada")
    }

    @Test("a rejected status is mapped to the envelope in its body, if the agent is configured to")
    func statuses() async throws {
        let agent = NetworkAgent(stub: #"{"code":1004,"msg":"sold out"}"#, status: 409)
        let plain = await #expect(throws: ErrandError.self) { try await agent.send(Get<User>()) }
        #expect(plain?.code == .unacceptableStatus)
        agent.configure { $0.mapError = { EnvelopeError($0, in: Reply.self) ?? $0 } }
        let error = await #expect(throws: EnvelopeError.self) { try await agent.send(Get<User>()) }
        #expect(error?.code == 1004 && error?.response?.status == 409 && error?.isRetryable == false)
        let busy = NetworkAgent(stub: "<p>busy</p>", status: 503)
        busy.configure { $0.mapError = { EnvelopeError($0, in: Reply.self) ?? $0 } }
        await #expect(throws: ErrandError.self) { try await busy.send(Get<User>()) }
        let any = Get<User>(acceptableStatuses: .any)
        let code = await #expect(throws: EnvelopeError.self) {
            try await NetworkAgent(stub: #"{"code":1004}"#, status: 500).send(any)
        }
        #expect(code?.isRetryable == true)
    }

    @Test("codes are equal regardless of how they are written")
    func codes() throws {
        func code(_ json: String) throws -> EnvelopeCode {
            try JSONDecoder().decode([EnvelopeCode].self, from: Data("[\(json)]".utf8))[0]
        }
        for zero in ["0", #""0""#, #""0000""#, "0.0", "false"] { #expect(try code(zero) == 0) }
        #expect(try code("true") == 1 && code(#""A0401""#) == "A0401" && code("-3").number == -3)
        #expect(try code("1.5").description == "1.5" && code("1.5").number == nil)
        #expect(try code(#""9223372036854775808""#).number == nil)
        #expect(Set(try ["200", #""200""#, "200.0"].map(code)).count == 1)
        #expect(throws: DecodingError.self) { try code("null") }
        #expect(throws: DecodingError.self) { try code("{}") }
        #expect(String(decoding: try JSONEncoder().encode([EnvelopeCode("7"), "a"]), as: UTF8.self) == #"[7,"a"]"#)
    }

    @Test("a file contains the content, unless the content is JSON that reports a failure; a stream isn't checked")
    func deliveries() async throws {
        struct GetFile: ShopRequest {
            typealias Output = URL
            let delivery: BodyDelivery
        }
        struct GetStream: ShopRequest {
            typealias Output = HTTPBody
        }
        let folder = try Folder()
        let file = folder.url.appending(path: "report")
        func agent(_ response: StubResponse) -> NetworkAgent {
            NetworkAgent(baseURL: "https://api.example.com", transport: .stub(response))
        }
        let pdf = StubResponse.text("%PDF")
        #expect(try await agent(pdf).send(GetFile(delivery: .file(file))).value == file)
        let failed = StubResponse.json(#"{"code":1004,"msg":"no report"}"#)
        let error = await #expect(throws: EnvelopeError.self) {
            try await agent(failed).send(GetFile(delivery: .file(file)))
        }
        #expect(error?.message == "no report")
        #expect(try String(contentsOf: file, encoding: .utf8) == "%PDF")
        _ = try await agent(.json(#"{"rows":[]}"#)).send(GetFile(delivery: .file(file)))
        #expect(try String(contentsOf: file, encoding: .utf8) == #"{"rows":[]}"#)
        let stream = try await agent(failed).send(GetStream()).value
        #expect(try await stream.collect(upTo: 1000).isEmpty == false)
    }

    @Test("an error keeps a bounded part of a large body")
    func bounded() async throws {
        let long = String(repeating: "x", count: 200_000)
        let agent = NetworkAgent(stub: #"{"code":5,"data":"\#(long)"}"#)
        let error = await #expect(throws: EnvelopeError.self) { try await agent.send(Get<User>()) }
        #expect(error?.response?.data.count == 65_536)
    }
}
