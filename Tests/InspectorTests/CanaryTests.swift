import Errand
import ErrandTestSupport
import ErrandTesting
import ErrandWebSocket
import Foundation
import Testing

@testable import ErrandInspector

@Suite("Secrets don't reach the page", .endsInTime, .leakChecked)
struct CanaryTests {
    private static let canary = "canary-5f2b9d-secret"

    private struct Chat: WebSocketRequest {
        var path: String { "socket" }
        var webSocketOptions: WebSocketOptions { WebSocketOptions(pingInterval: nil) }
    }

    private func everything(_ visit: Visit, until marker: String) throws -> String {
        var all = ""
        for id in visit.inspector.recordedIDs {
            all += try visit.request("GET", "/activity?id=\(id)").text
            all += try visit.request("GET", "/archive?id=\(id)").text
        }
        all += try visit.request("GET", "/archive").text
        let page = try visit.events()
        while !page.text.contains(marker) { #expect(page.receive()) }
        return all + page.text
    }

    @Test("of headers, queries, forms, JSON, cookies, redirects, labels, notes and errors")
    func exchanges() async throws {
        let canary = Self.canary
        let visit = try Visit()
        let stub = StubTransport()
        stub.on(
            "/ok",
            response: StubResponse(
                status: 200,
                headers: [
                    "Content-Type": "application/json", "Set-Cookie": "id=\(canary)-cookie; Path=/", "X-Echo": canary,
                ], body: Data(#"{"access_token":"\#(canary)-json","echo":"\#(canary)"}"#.utf8)))
        stub.on("/moved", response: .redirect(to: "/ok?token=\(canary)-query"))
        stub.on(
            "/bad",
            response: StubResponse(
                status: 500, headers: ["Content-Type": "text/plain"], body: Data("no \(canary)".utf8)))
        let noting = ClosureFilter(.call) { exchange, next in
            exchange.note("test", "the token is \(canary)")
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [noting], accessories: [visit.inspector])
        visit.inspector.explainRequests(of: agent)
        for path in ["ok", "moved", "bad"] {
            let json = Data(#"{"password":"\#(canary)-password","visible":"shown-\#(path)"}"#.utf8)
            let call = Call<Data>(
                .post, path, query: ["api_key": .string("\(canary)-key")],
                body: .data(json, contentType: "application/json")
            ) { call in
                call.headers = ["Authorization": "Bearer \(canary)", "Cookie": "session=\(canary)-session"]
                call.label = "label of \(path) with \(canary)"
            }
            _ = try? await agent.send(call)
        }
        let form = RequestBody.data(
            Data("user=ada&password=\(canary)".utf8), contentType: "application/x-www-form-urlencoded")
        _ = try await agent.send(Call<Data>(.post, "ok", body: form))
        let all = try everything(visit, until: "label of bad")
        #expect(all.contains("shown-ok") && all.contains("user=ada") && all.contains("the token is \(Redaction.mask)"))
        #expect(!all.contains(canary), "\(all.range(of: canary).map { all[$0.lowerBound...].prefix(80) } ?? "")")
        #expect(!all.contains("Y2FuYXJ5"), "as Base64")
    }

    @Test("of WebSocket messages")
    func messages() async throws {
        let visit = try Visit()
        let stub = StubTransport()
        let events = RecordingAccessory()
        stub.on("/socket", response: .webSocket { try await $0.echo() })
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, accessories: [visit.inspector, events])
        let socket = agent.webSocket(Chat())
        var received = socket.makeAsyncIterator()
        try await socket.send(.text(#"{"type":"join","token":"\#(Self.canary)"}"#))
        _ = try await received.next()
        await socket.close()
        while try await received.next() != nil {}
        try await events.waitUntilQuiet()
        let all = try everything(visit, until: "/socket")
        #expect(all.contains(#"\"type\":\"join\""#) && !all.contains(Self.canary))
        let activity = try #require(try visit.activities().first { $0["messages"] != nil })
        #expect((activity["messageList"] as? [Any])?.count == 2)
    }

    @Test("and nothing of an inspector's own secrets is in its descriptions")
    func descriptions() throws {
        let visit = try Visit()
        var text = ""
        dump(visit.inspector, to: &text)
        #expect(!text.contains(visit.token) && !text.contains(visit.cookie.split(separator: "=")[1]))
    }
}
