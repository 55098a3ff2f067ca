// The code of docs/getting-started.md that isn't in Guides.swift or Examples/Hello.
import Errand
import ErrandSystemTransport
import Foundation

nonisolated struct SessionReply: Decodable, Sendable {}

struct FindUsers: Request {
    typealias Output = [User]
    let text: String
    let page: Int
    var cursor: String?
    var path: String { "users" }
    var query: Parameters { ["q": text, "page": page, "roles": ["admin", "editor"], "after": cursor] }
}

private struct Repeated: Request {
    var parameterEncoding: ParameterEncoding { ParameterEncoding(arrays: .repeated, booleans: .literal) }
}

struct SignIn: Request {
    typealias Output = SessionReply
    let user: String
    let password: String
    var method: HTTPMethod { .post }
    var path: String { "session" }
    var body: RequestBody { .form(["user": user, "password": password]) }
    var authorization: Authorization? { .omitted }
}

private func decoders(_ agent: NetworkAgent) {
    agent.configure {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        $0.decoder = decoder
    }
}

@MainActor final class Profile: RequestDelegate {
    func requestDidSucceed(_ activity: Activity, response: Response<any Sendable>) {
        if let user = response.value as? User { print(user.name) }
    }
    func requestDidFail(_ activity: Activity, error: any Error) { print(error) }
    func requestDidCancel(_ activity: Activity) {}
}

struct UploadPhoto: Request {
    typealias Output = Void
    let file: URL
    var method: HTTPMethod { .post }
    var path: String { "photos" }
    var body: RequestBody { .file(file, contentType: "image/jpeg") }
}

private func uploading(_ agent: NetworkAgent, photo: URL) async throws {
    let upload = CallOptions(progress: { print("\($0.sent) of \($0.totalToSend ?? 0) bytes") })
    try await agent.send(UploadPhoto(file: photo), options: upload)
}

nonisolated struct APIError: Error, Decodable {
    let code: Int
    let message: String
}

nonisolated extension ShopRequest {
    func mapError(_ error: any Error) -> any Error {
        guard let response = (error as? ErrandError)?.response, let reason = try? response.json(APIError.self) else {
            return error
        }
        return reason
    }
}

private func explaining(_ agent: NetworkAgent) {
    print(agent.explain(GetUser(id: 7)))
}
