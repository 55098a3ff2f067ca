import Errand
import ErrandCache
import ErrandEssentials
import ErrandRetry
import ErrandSystemTransport
import ErrandTestSupport
import ErrandTesting
import Foundation
import Testing

/// Covers the uses of CTNetworking's managers and response objects with requests, responses and errors.
@Suite("Results of calls with retries, caches and envelopes", .leakChecked, .endsInTime) struct ServiceTests {
    private struct Order: Codable, Sendable, Equatable { let id: Int }
    private struct Refusal: Decodable, Sendable { let message: String }
    private struct Shown: Error, Equatable { let text: String }
    private struct GetOrder: CacheableRequest {
        typealias Output = Order
        var path: String { "orders/7" }
        var query: Parameters { ["full": 1] }
        var cachePolicy: CachePolicy { .timed(.seconds(60)) }
    }

    private static let base = "https://api.example.com"

    @Test("no network, a timeout, a deadline, a cancellation and a downgrade each have a message and a code")
    func messages() async throws {
        let cases: [(ErrandError.Code, StubResponse)] = [
            (.nameLookupFailed, .failure(ErrandError(.nameLookupFailed, "no address for api.example.com"))),
            (.cannotConnect, .failure(ErrandError(.cannotConnect, "the host refused the connection"))),
            (.connectionLost, .failure(ErrandError(.connectionLost, "the connection was lost"))),
            (.timedOut, .failure(ErrandError(.timedOut, "silence for 60 seconds"))),
            (.redirectFailed, .redirect(to: "http://api.example.com/x")),
            (.unacceptableStatus, .json(#"{"message":"use version 2"}"#, status: 410)),
        ]
        var sentences: Set<String> = []
        for (code, response) in cases {
            let agent = NetworkAgent(baseURL: Self.base, transport: .stub(response))
            let error = await #expect(throws: ErrandError.self) { try await agent.send(Call<Data>(.get, "x")) }
            #expect(error?.code == code)
            #expect(error?.localizedDescription == error?.failureSentence.text() && error?.failureSentence != .failed)
            sentences.insert(error?.description ?? "")
        }
        let (gate, time) = (Gate(), ManualTimeSource())
        let slow = NetworkAgent(
            baseURL: Self.base, transport: .stub(StubResponse.text("late").waiting(for: gate)), time: time)
        let late = slow.start(Call<Data>(.get, "x") { $0.deadline = .seconds(5) })
        try await gate.reached()
        try await time.waitForSleepers()
        time.advance(by: .seconds(5))
        let passed = await #expect(throws: ErrandError.self) { try await late.value }
        #expect(passed?.code == .deadlineExceeded)
        let dropped = slow.start(Call<Data>(.get, "x"))
        dropped.cancel()
        let cancelled = await #expect(throws: ErrandError.self) { try await dropped.value }
        #expect(cancelled?.code == .cancelled && cancelled?.isCancelled == true)
        sentences.formUnion([passed?.description ?? "", cancelled?.description ?? ""])
        #expect(sentences.count == cases.count + 2 && !sentences.contains(""))
        gate.open()
    }

    @Test("an app can set the text of each kind of failure in one place")
    func wording() async throws {
        let agent = NetworkAgent(
            baseURL: Self.base, transport: .stub { $0.url.path == "/old" ? .status(410) : .failure(Self.offline) })
        agent.configure {
            $0.mapError = { error in
                switch (error as? ErrandError)?.code {
                case .connectionLost?: Shown(text: "you are offline")
                case .unacceptableStatus?: Shown(text: "please update the app")
                default: error
                }
            }
        }
        await #expect(throws: Shown(text: "you are offline")) { try await agent.send(Call<Data>(.get, "new")) }
        await #expect(throws: Shown(text: "please update the app")) { try await agent.send(Call<Data>(.get, "old")) }
    }

    private static let offline = ErrandError(.connectionLost, "the connection was lost")

    @Test("the caller can transform a response, and a failure's body as well")
    func reforming() async throws {
        let agent = NetworkAgent(
            baseURL: Self.base,
            transport: .stub { request in
                request.url.path == "/orders/7"
                    ? .json(#"{"id":7}"#) : .json(#"{"message":"no such order"}"#, status: 404)
            })
        func reform<Value>(_ path: String, _ reformer: (Data) throws -> Value) async throws -> Value {
            try reformer(try await agent.send(Call<Data>(.get, path)).value)
        }
        #expect(try await reform("orders/7") { try JSONDecoder().decode(Order.self, from: $0).id } == 7)
        #expect(try await reform("orders/7") { $0 } == Data(#"{"id":7}"#.utf8))
        let view = Call<String>(.get, "orders/7") { response in "order \(try response.json(Order.self).id)" }
        #expect(try await agent.send(view).value == "order 7")
        let error = await #expect(throws: ErrandError.self) { try await agent.send(Call<Order>(.get, "orders/8")) }
        #expect(try error?.response?.json(Refusal.self).message == "no such order")
        await #expect(throws: Shown.self) {
            try await reform("orders/7") { _ -> Int in throw Shown(text: "not for this screen") }
        }
    }

    @Test(
        "a response leaves no state that affects the next start"
    )
    func nothingToClean() async throws {
        let transport = StubTransport()
        transport.on(.get, "/orders/7", response: .status(500), .json(#"{"id":7}"#), .json(#"{"id":8}"#))
        let agent = NetworkAgent(baseURL: Self.base, transport: transport)
        let request = Call<Kept>(.get, "orders/7") { response in Kept(response.data) }
        let failed = agent.start(request)
        _ = await failed.result
        var kept: Kept? = try await agent.send(request).value
        #expect(kept?.data == Data(#"{"id":7}"#.utf8))
        weak let object = kept
        kept = nil
        #expect(object == nil)
        #expect(try await agent.send(request).value.data == Data(#"{"id":8}"#.utf8))
        // The first start keeps its own outcome.
        guard case .failure = failed.outcome else {
            Issue.record("\(String(describing: failed.outcome))")
            return
        }
    }

    private final class Kept: Sendable {
        let data: Data
        init(_ data: Data) { self.data = data }
    }

    @Test(
        "a response has its content, text, activity, request, parameters and status, and reports whether it was stored")
    func response() async throws {
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(
            baseURL: Self.base, transport: .stub(.json(#"{"id":7}"#)), filters: [.cache(.memory())],
            accessories: [recorder], time: ManualTimeSource())
        let handle = agent.start(GetOrder())
        let response = try await handle.value
        #expect(response.value == Order(id: 7))
        #expect(response.http.status == 200)
        #expect(try response.http.text() == #"{"id":7}"#)
        #expect(response.http.data == Data(#"{"id":7}"#.utf8))
        #expect(response.http.url.absoluteString == "https://api.example.com/orders/7?full=1")
        #expect(!response.http.source.isStored)
        #expect(handle.activity.request is GetOrder)
        let sent = recorder.events(of: handle.activity.id).compactMap { event -> HTTPRequest? in
            if case .sending(let request, _) = event { request } else { nil }
        }
        #expect(sent.map(\.url.query) == ["full=1"])
        let again = agent.start(GetOrder())
        #expect(try await again.value.http.source.isStored)
        #expect(again.activity.id != handle.activity.id)
        // The text for a line of a log.
        #expect("\(handle.activity)".contains("GetOrder"))
    }

    @Test(
        "an agent has one transport for all requests, activities have different numbers, and a cancel affects its own")
    func oneSession() async throws {
        let server = try TestServer()
        let gate = Gate()
        server.on("/quick", .text("done"))
        server.on("/slow", .text("late").waiting(for: gate))
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        var numbers: Set<ActivityID> = []
        for _ in 0..<20 {
            let handle = agent.start(Call<String>(.get, "quick"))
            _ = try await handle.value
            numbers.insert(handle.activity.id)
        }
        #expect(numbers.count == 20)
        #expect(Set(server.received.map(\.connection)).count <= 3)
        let slow = (0..<3).map { _ in agent.start(Call<String>(.get, "slow")) }
        try await gate.reached(by: 3)
        slow[1].cancel()
        await #expect(throws: ErrandError.self) { try await slow[1].value }
        gate.open()
        #expect(try await slow[0].value.value == "late")
        #expect(try await slow[2].value.value == "late")
    }
}
