// The code for accounts in docs/coming-from-ytknetwork.md: a token among the parameters, sessions that the server ends,
// messages for codes.
import Errand
import ErrandAuthentication
import ErrandEnvelopes
import ErrandSystemTransport
import ErrandTesting
import ErrandURLFilters
import Foundation
import Synchronization
import Testing

private struct UserToken: Credential, Codable {
    let id: Int
    let token: String
    var owner: String? { "\(id)" }

    func authorize(_ request: inout HTTPRequest) throws {
        let type = "application/x-www-form-urlencoded"
        if request.body.contentType == type, let form = request.body.data {
            let own = try ParameterEncoding().encode(["token": token, "user_id": id])
            request.body = .data(form + Data("&\(own)".utf8), contentType: type)
        } else {  // no body, JSON, files
            let user = URLQueryItem(name: "user_id", value: "\(id)")
            request.url.append(queryItems: [URLQueryItem(name: "token", value: token), user])
        }
    }
}

private struct ClubReply: ResponseEnvelope {
    let code: EnvelopeCode
    let text: String?
    var isSuccess: Bool { code == 200 }
    var refusesCredential: Bool { [606, 610].contains(code) }  // expired, signed in elsewhere
    var message: String? { Self.texts[code] ?? text }
    static let texts: [EnvelopeCode: String] = [610: "Your account is in use on another device."]

    enum CodingKeys: String, CodingKey { case code, text = "msg" }
}

private nonisolated protocol MemberRequest: EnvelopedRequest where Envelope == ClubReply {}

private struct RenewToken: MemberRequest {
    typealias Output = UserToken
    let old: String
    var method: HTTPMethod { .post }
    var path: String { "renew" }
    var parameters: Parameters? { ["old": old] }
}

private struct GetName: MemberRequest {
    typealias Output = String
    var path: String { "name" }
}

private struct SetName: MemberRequest {
    typealias Output = Void
    let name: String
    var method: HTTPMethod { .post }
    var path: String { "name" }
    var parameters: Parameters? { ["name": name] }
}

private func session(_ saved: UserToken?, _ accounts: NetworkAgent) -> AuthenticationSession<UserToken> {
    let session = AuthenticationSession(saved) { token in
        guard let token else { return nil }
        do {
            return try await accounts.send(RenewToken(old: token.token)).value
        } catch let error as EnvelopeError where error.code == 610 {
            throw SessionEnded(error)
        }
    }
    return session
}

private func name(on agent: NetworkAgent, toast: @Sendable (String) -> Void) async throws -> String? {
    do {
        return try await agent.send(GetName()).value
    } catch let error as AuthenticationError where error.code == .signedOut {
        let reply = try error.response?.decoded(as: ClubReply.self)
        toast(reply?.message ?? "Please sign in.")
        return nil
    }
}

private func common(_ version: String) -> NetworkAgent {
    let common = ["os": "ios", "version": version]
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .system,
        filters: [.headers(HTTPHeaders(common)), .urls(.query(Parameters(encoding: common)))])
    return agent
}

@Suite("Accounts of apps that come from YTKNetwork", .endsInTime, .leakChecked)
struct YTKNetworkAccountTests {
    private nonisolated final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// A service that accepts only one token, and refreshes only "old".
    private static func service(_ sent: Lines) -> StubTransport {
        StubTransport { request in
            let form = String(decoding: request.body.data ?? Data(), as: UTF8.self)
            let parameters = form.isEmpty ? request.url.query() ?? "" : form
            sent.append("\(request.method) \(request.url.path) \(parameters)")
            if request.url.path == "/renew" {
                return form.contains("old=old")
                    ? .json(#"{"code":200,"data":{"id":7,"token":"new"}}"#) : .json(#"{"code":610,"msg":"no"}"#)
            }
            if parameters.contains("token=old") { return .json(#"{"code":606}"#) }
            if parameters.contains("token=new") { return .json(#"{"code":200,"data":"Ada"}"#) }
            return .json(#"{"code":610}"#)
        }
    }

    @Test("a token is added to the parameters of queries and forms, and replaced after a refresh")
    func parameters() async throws {
        let sent = Lines()
        let stub = Self.service(sent)
        let accounts = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let session = session(UserToken(id: 7, token: "old"), accounts)
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [.authentication(session)])
        try await agent.send(SetName(name: "Ada"))
        #expect(try await agent.send(GetName()).value == "Ada")
        #expect(
            sent.all == [
                "POST /name name=Ada&token=old&user_id=7", "POST /renew old=old",
                "POST /name name=Ada&token=new&user_id=7", "GET /name token=new&user_id=7",
            ])
    }

    @Test("an account that is in use elsewhere is signed out, with the app's text for the code")
    func elsewhere() async throws {
        let stub = Self.service(Lines())
        let session = session(
            UserToken(id: 7, token: "taken"), NetworkAgent(baseURL: "https://api.example.com", transport: stub))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [.authentication(session)])
        let toasts = Lines()
        #expect(try await name(on: agent) { text in toasts.append(text) } == nil)
        #expect(toasts.all == ["Your account is in use on another device."] && !session.isSignedIn)
    }

    @Test("common values are added to the headers and the query")
    func everywhere() async throws {
        let http = try await common("7").filteredRequest(for: Call<Void>(.get, "x"))
        #expect(http.headers["OS"] == "ios" && http.url.query() == "os=ios&version=7")
    }
}
