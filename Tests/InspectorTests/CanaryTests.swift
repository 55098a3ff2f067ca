import Errand
import ErrandStreaming
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

    @Test("secrets are masked in headers, queries, forms, JSON, cookies, redirects, labels, notes and errors")
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

    @Test("of nested JSON, XML, URLs in redirects and bodies, and events of an event stream")
    func nested() async throws {
        let canary = Self.canary
        let visit = try Visit()
        let stub = StubTransport()
        let deep =
            #"{"a":[{"b":{"client_secret":"\#(canary)-deep","c":[{"refresh_token":"\#(canary)-list"}]}}],"end":1}"#
        stub.on(
            "/moved",
            response: .redirect(to: "https://ada:\(canary)-user@other.example.com/deep?access_token=\(canary)-moved#x"))
        stub.on(
            "/deep",
            response: StubResponse(headers: ["Content-Type": "application/json"], body: Data(deep.utf8)))
        stub.on(
            "/xml",
            response: StubResponse(
                headers: ["Content-Type": "application/xml"], body: Data("<a><password>\(canary)</password></a>".utf8)))
        stub.on(
            "/events",
            response: StubResponse(
                headers: ["Content-Type": "text/event-stream"],
                body: Data("data: {\"token\":\"\(canary)-event\"}\n\ndata: last event\n\n".utf8)))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, accessories: [visit.inspector])
        _ = try? await agent.send(Call<Data>(.get, "moved"))
        for path in ["deep", "xml"] {
            _ = try await agent.send(
                Call<Data>(.post, path, body: .data(Data(deep.utf8), contentType: "application/json")))
        }
        for try await _ in agent.events(Call<HTTPBody>(.get, "events"), EventOptions(reconnection: .off)) {}
        let all = try everything(visit, until: "/events")
        #expect(all.contains("last event") && all.contains("--data-binary") && all.contains("StubTransport()"))
        #expect(!all.contains(canary), "\(all.range(of: canary).map { all[$0.lowerBound...].prefix(80) } ?? "")")
        // The page shows the same after the activities have been masked in memory.
        try await eventually { visit.inspector.unmaskedIDs.isEmpty }
        #expect(try everything(visit, until: "/events").contains("last event"))
        #expect(try !everything(visit, until: "/events").contains(canary))
    }

    @Test("from WebSocket messages")
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

    @Test("and the inspector's own secrets aren't in its descriptions")
    func descriptions() throws {
        let visit = try Visit()
        var text = ""
        dump(visit.inspector, to: &text)
        #expect(!text.contains(visit.token) && !text.contains(visit.cookie.split(separator: "=")[1]))
    }
}
