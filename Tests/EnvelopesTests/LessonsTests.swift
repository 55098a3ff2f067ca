import Errand
import ErrandEnvelopes
import ErrandJSONDecoding
import ErrandTesting
import Foundation
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Envelopes of services that aren't consistent", .endsInTime, .leakChecked)
struct EnvelopeLessonsTests {
    private struct Account: Decodable, Sendable {
        let id: Int64
        let image: String?
        let site: URL?
        let tags: [String]?
    }

    @Test("a model in a JSON text is read by the envelope's own value, and a text that isn't JSON is an error")
    func textOfJSON() async throws {
        struct Wrapped: ResponseEnvelope {
            let code: EnvelopeCode
            let data: String?
            var isSuccess: Bool { code == 0 }

            func value<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
                try JSONDecoder().decode(type, from: Data((data ?? "").utf8))
            }
        }
        let good = NetworkAgent(stub: #"{"code":0,"data":"{\"id\":7,\"name\":\"Ada\"}"}"#)
        #expect(try await good.send(Call<User>(.get, "x", in: Wrapped.self)).value == User())
        for text in ["hello", "{\\\"title\\\": \\\"x\\\",}", ""] {
            let agent = NetworkAgent(stub: #"{"code":0,"data":"\#(text)"}"#)
            let error = await #expect(throws: ErrandError.self) {
                try await agent.send(Call<User>(.get, "x", in: Wrapped.self))
            }
            #expect(error?.code == .decodingFailed)
        }
        let failed = NetworkAgent(stub: #"{"code":7,"data":"{"}"#)
        await #expect(throws: EnvelopeError.self) { try await failed.send(Call<User>(.get, "x", in: Wrapped.self)) }
    }

    @Test(
        "a null member is nil, a member of another type is an error with its path, and long numbers keep their digits"
    )
    func members() async throws {
        func account(_ data: String) async throws -> Account {
            try await NetworkAgent(stub: #"{"code":"0","data":\#(data)}"#).send(Get<Account>()).value
        }
        let plain = try await account(#"{"id":210730104612219452,"image":null,"tags":[]}"#)
        #expect(plain.id == 210_730_104_612_219_452 && plain.image == nil && plain.tags == [])
        for (data, path) in [
            (#"{"id":"7"}"#, "/data/id: expected Int64"), (#"{"id":7,"image":{}}"#, "/data/image: expected String"),
            (#"{"id":7,"tags":[1]}"#, "/data/tags/0: expected String"),
            (#"{"id":7,"site":""}"#, "/data/site: not valid"),
        ] {
            let error = await #expect(throws: ErrandError.self) { _ = try await account(data) }
            #expect(error?.message == "expected Account in Reply: \(path)")
        }
    }

    @Test("a number that doesn't fit its type is reported as such, and by the fast decoder with its path")
    func numbers() async throws {
        let agent = NetworkAgent(stub: #"{"code":0,"data":{"id":7.5}}"#)
        let plain = await #expect(throws: ErrandError.self) { try await agent.send(Get<Account>()) }
        #expect(plain?.message.contains("a number in the body doesn't fit the type of its property") == true)
        agent.configure { $0.decoder = .fast }
        let fast = await #expect(throws: ErrandError.self) { try await agent.send(Get<Account>()) }
        #expect(fast?.message.hasPrefix("expected Account in Reply: /data/id: not valid") == true)
    }

    @Test(
        "an error with an empty body is the error of its status, even if other errors have an envelope",
        arguments: [400, 409, 500])
    func emptyErrors(status: Int) async throws {
        for body in ["", " ", "Not Found", "null", "[]"] {
            let agent = NetworkAgent(stub: body, status: status)
            agent.configure { $0.mapError = { EnvelopeError($0, in: Reply.self) ?? $0 } }
            let error = await #expect(throws: ErrandError.self) { try await agent.send(Get<User>()) }
            #expect(error?.code == .unacceptableStatus && error?.response?.status == status)
        }
    }

    @Test("a code is the same if it is a number in one response and a text in another, with any length")
    func codes() async throws {
        for code in ["200", #""200""#, "200.0", #""0200""#] {
            struct Other: ResponseEnvelope {
                let code: EnvelopeCode
                var isSuccess: Bool { code == 200 }
            }
            let agent = NetworkAgent(stub: #"{"code":\#(code),"data":{"id":7,"name":"Ada"}}"#)
            #expect(try await agent.send(Call<User>(.get, "x", in: Other.self)).value == User())
        }
        let agent = NetworkAgent(stub: #"{"code":20230102030405060708,"msg":"x","data":null}"#)
        let error = await #expect(throws: EnvelopeError.self) { try await agent.send(Get<User>()) }
        #expect(error?.code.description == "20230102030405060708" && error?.code.number == nil)
    }

    @Test("a reply with data and errors delivers both, whether the envelope counts it as a failure or not")
    func partialData() async throws {
        struct Fault: Decodable, Sendable, Equatable { let message: String }
        struct Strict: ResponseEnvelope {
            let errors: [Fault]?
            var code: EnvelopeCode { errors == nil ? 0 : 1 }
            var message: String? { errors?.first?.message }
            var isSuccess: Bool { errors == nil }
        }
        struct Lenient: ResponseEnvelope {
            let errors: [Fault]?
            var code: EnvelopeCode { 0 }
            var isSuccess: Bool { true }
        }
        struct Part: Decodable { let data: User }
        let both = NetworkAgent(stub: #"{"data":{"id":7,"name":"Ada"},"errors":[{"message":"no friends"}]}"#)
        let error = await #expect(throws: EnvelopeError.self) {
            try await both.send(Call<User>(.get, "x", in: Strict.self))
        }
        #expect(
            error?.message == "no friends" && (error?.envelope as? Strict)?.errors == [Fault(message: "no friends")])
        #expect(try error?.response?.json(Part.self).data == User())
        let response = try await both.send(Call<User>(.get, "x", in: Lenient.self))
        #expect(response.value == User())
        #expect(try response.http.decoded(as: Lenient.self).errors == [Fault(message: "no friends")])
        let plain = NetworkAgent(stub: #"{"data":{"id":7,"name":"Ada"},"errors":null}"#)
        #expect(try await plain.send(Call<User>(.get, "x", in: Strict.self)).value == User())
    }

    @Test("an empty list in place of an object is an error with its path, and nil doesn't replace it")
    func emptyLists() async throws {
        struct Profile: Decodable, Sendable {
            let links: [String: String]?
            let home: User?
        }
        for (data, path) in [
            (#"{"links":[]}"#, "/data/links"), (#"{"home":[]}"#, "/data/home"), ("[]", "/data"),
        ] {
            let error = await #expect(throws: ErrandError.self) {
                try await NetworkAgent(stub: #"{"code":0,"data":\#(data)}"#).send(Get<Profile>())
            }
            #expect(error?.code == .decodingFailed)
            #expect(
                error?.message.hasPrefix("expected Profile in Reply: \(path): expected") == true,
                "\(error?.message ?? "")")
        }
    }
}
