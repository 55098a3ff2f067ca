import Errand
import ErrandCache
import ErrandCoalescing
import ErrandCookies
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Cookies of a call", .endsInTime, .leakChecked) struct CookieModeTests {
    private let page = "https://shop.example/"
    private let jar = CookieJar()

    init() { jar.set("session=1", from: page) }

    private func agent(_ transport: StubTransport, _ filters: any Filter...) -> NetworkAgent {
        NetworkAgent(
            baseURL: page, transport: transport, filters: [.cookies(jar)] + filters,
            time: ManualTimeSource())
    }

    private static func setting(_ request: HTTPRequest) -> StubResponse {
        request.url.path == "/old"
            ? StubResponse.status(302).header("Location", "/new").header(.setCookie, "hop=1")
            : StubResponse.text("ok").header(.setCookie, "end=1")
    }

    @Test(
        "a call's mode decides whether cookies are sent and stored, also on redirects",
        arguments: [
            (CookieMode.standard, ["session=1", "session=1; hop=1"], ["session", "hop", "end"]),
            (.readOnly, ["session=1", "session=1"], ["session"]), (.off, ["none", "none"], ["session"]),
        ] as [(CookieMode, [String], [String])])
    func modes(mode: CookieMode, sent: [String], kept: [String]) async throws {
        let stub = StubTransport { Self.setting($0) }
        _ = try await agent(stub).send(Call<String>(.get, "old"), options: .cookies(mode))
        #expect(stub.received.map { $0.headers[.cookie] ?? "none" } == sent)
        #expect(jar.cookies.map(\.name) == kept)
    }

    @Test("a request's own cookies are sent in every mode, and its tag sets the mode unless the call has one")
    func ownCookies() async throws {
        struct Get: Request {
            typealias Output = String
            var path: String { "new" }
            var headers: HTTPHeaders { ["Cookie": "own=1"] }
            var tags: Tags { Tags().with(CookieMode.self, .off) }
        }
        let stub = StubTransport { Self.setting($0) }
        let agent = agent(stub)
        _ = try await agent.send(Get())
        _ = try await agent.send(Get(), options: .cookies(.readOnly))
        #expect(stub.received.map { $0.headers[.cookie] } == ["own=1", "own=1; session=1"])
        #expect(jar.count == 1)
    }

    @Test("without cookies, a response that a filter creates doesn't set cookies either")
    func createdByFilter() async throws {
        let filter = ClosureFilter(.hop) { exchange, _ in
            HTTPResponse(to: exchange.http, status: 200, headers: ["Set-Cookie": "made=1"])
        }
        let agent = agent(StubTransport(.status(500)), filter)
        try await agent.send(Call<Void>(.get, "x"), options: .cookies(.off))
        #expect(jar.cookies.map(\.name) == ["session"])
        try await agent.send(Call<Void>(.get, "x"))
        #expect(jar.cookies.map(\.name) == ["session", "made"])
    }

    @Test("calls with and without cookies share neither a running request nor a stored response")
    func separate() async throws {
        let gate = Gate()
        let stub = StubTransport { request in
            StubResponse.text(request.headers[.cookie] ?? "none").header("Cache-Control", "max-age=60")
                .waiting(for: gate)
        }
        let agent = agent(stub, .coalescing, .cache(.memory(), policy: .http))
        let modes = [CookieMode.standard, .off]
        let tasks = modes.map { mode in
            Task { try await agent.send(Call<String>(.get, "new"), options: .cookies(mode)).value }
        }
        try await gate.reached(by: 2)
        gate.open()
        for (task, text) in zip(tasks, ["session=1", "none"]) { #expect(try await task.value == text) }
        for (mode, text) in zip(modes, ["session=1", "none"]) {
            let response = try await agent.send(Call<String>(.get, "new"), options: .cookies(mode))
            #expect(response.value == text && response.http.source.isCache)
        }
    }
}
