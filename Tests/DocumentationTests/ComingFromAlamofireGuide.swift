// The code of docs/coming-from-alamofire.md.
import Errand
import ErrandAuthentication
import ErrandCache
import ErrandLoadingIndicatorLog
import ErrandMultipart
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

private struct Refresh: Request {
    typealias Output = BearerToken
    let token: BearerToken?
    var path: String { "token" }
}

@MainActor private final class UploadBar: Sendable { func show(_ bytes: Int64) {} }

/// The agent of README.
private func agentOfREADME(_ session: AuthenticationSession<BearerToken>, _ directory: URL) {
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .system,
        filters: [.standardResilience, .authentication(session), .cache(.disk(at: directory))],
        accessories: [RequestLog(.line)])
    _ = agent
}

private struct Region: Filter {
    let hosts: [String]
    var traits: FilterTraits { [.changesRequest, .retries] }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var last: any Error = ErrandError(.invalidRequest, "the URL has no host")
        for host in hosts {
            var adapted = exchange
            adapted.http.headers["X-Region"] = host
            do { return try await next(adapted) } catch let error as ErrandError where error.isRetryable {
                last = error
            }
        }
        throw last
    }
}

private struct FailureReports: Accessory {
    let report: @Sendable (String) -> Void

    func activity(_ activity: Activity, did event: ActivityEvent) {
        if case .didStop(.failure(let error)) = event { report("\(activity.label): \(error.briefDescription)") }
    }
}

private func refreshing(_ saved: BearerToken?, _ accounts: NetworkAgent) {
    let session = AuthenticationSession(saved) { token in try await accounts.send(Refresh(token: token)).value }
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .system,
        filters: [.standardResilience, .authentication(session)], accessories: [RequestLog(.line)])
    _ = agent
}

private func upload(_ agent: NetworkAgent, _ photo: URL, _ bar: UploadBar) async throws {
    let form = Call<User>(
        .post, "avatar", body: .multipart(.field("user", 7), .file(photo, name: "photo", contentType: "image/jpeg")))
    let user = try await agent.send(form, options: CallOptions(progressOnMain: { bar.show($0.sent) })).value
    _ = user
}

@Suite("The page for people from Alamofire", .leakChecked) struct AlamofireGuideTests {
    @Test("a filter adapts and retries in one function")
    func region() async throws {
        let stub = StubTransport { request in
            request.headers["X-Region"] == "b" ? .text("b") : .failure(ErrandError(.connectionLost, "pulled"))
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [Region(hosts: ["a", "b"])])
        #expect(try await agent.send(Call<String>(.get, "x")).value == "b")
        #expect(stub.received.count == 2)
    }
}
