// The code of docs/envelopes.md.
import Errand
import ErrandEnvelopes
import ErrandTesting
import Foundation
import Testing

private func show(_ values: Any?...) {}
private nonisolated func open(_ data: Data) -> Data { Data(data.reversed()) }

private enum EnvelopesGuide {
    struct Reply: ResponseEnvelope {
        let code: EnvelopeCode
        let message: String?
        var isSuccess: Bool { code == 0 }
        var refusesCredential: Bool { code == 40_101 }

        enum CodingKeys: String, CodingKey { case code, message = "msg" }
    }

    nonisolated protocol ShopRequest: EnvelopedRequest where Envelope == Reply {}

    struct GetProfile: ShopRequest {
        typealias Output = User
        var path: String { "profile" }
    }

    struct Result: ResponseEnvelope {
        let success: Bool
        let error: Reason?
        var isSuccess: Bool { success }
        var code: EnvelopeCode { error?.code ?? (success ? 0 : 1) }
        var message: String? { error?.text }
        static var valueKey: String { "result" }

        struct Reason: Decodable, Sendable {
            let code: EnvelopeCode
            let text: String
        }
    }

    struct Sealed: ResponseEnvelope {
        let code: EnvelopeCode
        let data: Data?
        var isSuccess: Bool { code == 0 }

        func value<Value: Decodable>(_ type: Value.Type, from decoder: any Decoder) throws -> Value {
            try JSONDecoder().decode(type, from: open(data ?? Data()))
        }
    }

    struct Expired: RequestFailure {
        var isRetryable: Bool { false }
        var refusesCredential: Bool { true }
    }

    struct GetBalance: Request {
        typealias Output = String
        var path: String { "balance" }
        var outcomeCheck: ResponseCheck? {
            ResponseCheck("session") { response in
                if try response.text().hasPrefix("ERR session") { throw Expired() }
            }
        }
    }

    static func calls(_ agent: NetworkAgent, text: String) async throws {
        let user = try await agent.send(GetProfile()).value

        let found = try await agent.send(Call<[User]>(.get, "users", query: ["q": text], in: Reply.self)).value
        try await agent.send(Call<Void>(.delete, "users/7", in: Reply.self))
        _ = (user, found)

        do {
            show(try await agent.send(GetProfile()).value)
        } catch let error as EnvelopeError where error.code == 1004 {
            show(error.message)
        }
    }

    static func map(_ agent: NetworkAgent) {
        agent.configure { $0.mapError = { EnvelopeError($0, in: Reply.self) ?? $0 } }
    }
}

@Suite("The page of envelopes", .leakChecked) struct EnvelopesGuideTests {
    private func agent(_ body: String) -> NetworkAgent {
        NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.json(body)))
    }

    @Test("the envelopes of the page read their services' replies")
    func read() async throws {
        let plain = agent(#"{"code":"0","msg":"ok","data":{"id":7,"name":"Ada"}}"#)
        #expect(try await plain.send(EnvelopesGuide.GetProfile()).value.name == "Ada")
        let other = agent(#"{"success":false,"error":{"code":"E7","text":"no"}}"#)
        let error = await #expect(throws: EnvelopeError.self) {
            try await other.send(Call<User>(.get, "x", in: EnvelopesGuide.Result.self))
        }
        #expect(error?.code == "E7" && error?.localizedDescription == "no")
        let data = Data(Data(#"{"id":7,"name":"Ada"}"#.utf8).reversed()).base64EncodedString()
        let sealed = agent(#"{"code":0,"data":"\#(data)"}"#)
        #expect(try await sealed.send(Call<User>(.get, "x", in: EnvelopesGuide.Sealed.self)).value.id == 7)
        await #expect(throws: EnvelopesGuide.Expired.self) {
            try await self.agent("ERR session").send(EnvelopesGuide.GetBalance())
        }
    }
}
