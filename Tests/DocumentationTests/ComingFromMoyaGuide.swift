// The code of docs/coming-from-moya.md.
import Errand
import ErrandMultipart
import ErrandTesting
import Foundation
import Testing

private nonisolated enum UserAPI: Request {
    case user(id: Int)
    case create(name: String)
    case upload(photo: URL)
    typealias Output = HTTPResponse

    var method: HTTPMethod {
        switch self {
        case .user: .get
        case .create, .upload: .post
        }
    }
    var path: String {
        switch self {
        case .user(let id): "users/\(id)"
        case .create: "users"
        case .upload: "photos"
        }
    }
    var body: RequestBody {
        switch self {
        case .user: .none
        case .create(let name): .json(["name": name])
        case .upload(let photo): .multipart(.file(photo, name: "photo"))
        }
    }
}

private struct GetFriend: Request {
    typealias Output = User
    let id: Int
    var path: String { "users/\(id)" }
}

private struct Trace: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.http.headers["X-Trace"] = "\(exchange.activity.id)"  // prepare
        let response = try await next(exchange)
        print(response.status)  // process
        return response
    }
}

private struct Watch: Accessory {
    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .sending(let request, _): print("will send", request)
        case .received(let response, _): print("did receive", response)
        default: break
        }
    }
}

@Suite("The page for people from Moya", .leakChecked) struct MoyaGuideTests {
    @Test("a target with several cases, and its separate request, use one stub")
    func stub() async throws {
        let stub = StubTransport()
        stub.on(.get, "/users/7", response: .json(#"{"id":7,"name":"Ada"}"#))
        stub.on(.post, "/users", response: .status(503), .json(#"{"id":8,"name":"Alan"}"#))  // in turn
        let stubbed = NetworkAgent(baseURL: "https://api.example.com", transport: stub)

        let agent = stubbed
        let user = try await agent.send(UserAPI.user(id: 7)).value.json(User.self)
        let friend = try await agent.send(GetFriend(id: 7)).value
        #expect(user.name == "Ada" && friend.name == "Ada")
        await #expect(throws: ErrandError.self) { try await agent.send(UserAPI.create(name: "Alan")) }
        #expect(try await agent.send(UserAPI.create(name: "Alan")).value.json(User.self).id == 8)
        agent.configure { ($0.filters, $0.accessories) = ([Trace()], [Watch()]) }
        _ = try await agent.send(GetFriend(id: 7))
        #expect(stub.received.last?.headers.contains("X-Trace") == true)
    }
}
