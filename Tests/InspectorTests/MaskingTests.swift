import Errand
import ErrandTestSupport
import ErrandTesting
import ErrandWebSocket
import Foundation
import Testing

@testable import ErrandInspector

@Suite("Secrets don't stay in memory", .endsInTime)
struct MaskingTests {
    private static let canary = "canary-5f2b9d-secret"

    private struct Forward: Accessory {
        let store: ActivityStore
        var maximumBodyBytes: Int { 10_000 }
        var observesMessages: Bool { true }

        func activity(_ activity: Activity, did event: ActivityEvent) {
            store.record(event, of: activity, agent: nil)
        }
    }

    private static func store(_ explanation: String? = nil) -> ActivityStore {
        ActivityStore(
            ActivityStore.Limits(activities: 100, bodyBytes: 10_000, bytes: 1 << 20, messages: 10),
            time: SystemTimeSource()
        ) { _, _ in explanation }
    }

    private static func send(_ store: ActivityStore) async {
        let body = Data(#"{"access_token":"\#(canary)"}"#.utf8)
        let stub = StubTransport(
            StubResponse(
                status: 500, headers: ["Content-Type": "application/json", "Set-Cookie": "id=\(canary)"], body: body))
        let noting = ClosureFilter(.call) { exchange, next in
            exchange.note("test", "the token is \(canary)")
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [noting],
            accessories: [Forward(store: store)])
        let call = Call<Data>(
            .post, "login", query: ["token": .string(canary)], body: .data(body, contentType: "application/json")
        ) { call in
            call.label = "label with \(canary)"
            call.headers = ["Authorization": "Bearer \(canary)"]
        }
        _ = try? await agent.send(call)
    }

    @Test("one second after an activity ends, only masked values are left, and the page still shows the same")
    func ended() async throws {
        let store = Self.store("explained \(Self.canary)")
        await Self.send(store)
        let record = try #require(store.all.first)
        let clear = record.known
        #expect(clear.masked == nil && clear.request != nil && clear.hops.count == 1)
        #expect(clear.label.contains(Self.canary))
        let before = String(decoding: JSONText.details(of: store.masked(record)), as: UTF8.self)
        try await eventually { record.known.masked != nil }
        let state = record.known
        #expect(state.request == nil && state.built == nil && state.hops.isEmpty && state.notes.isEmpty)
        #expect(state.other == nil && state.messages.isEmpty && state.label.isEmpty)
        if case .failure(let failure) = state.ending { #expect(!failure.description.contains(Self.canary)) }
        var text = ""
        dump(state.masked?.activity, to: &text)
        #expect(!text.contains(Self.canary) && text.contains("label with"))
        let after = String(decoding: JSONText.details(of: store.masked(record)), as: UTF8.self)
        #expect(after == before && after.contains("explained \(Redaction.mask)") && !after.contains(Self.canary))
        let row = MaskedActivity(record, Redaction(), bodies: .upTo(0))
        #expect(row.exchanges.count == 1 && row.notes.count == 1 && row.failure != nil)
    }

    @Test("evicted and cleared activities aren't kept until they are masked")
    func evicted() async throws {
        let store = Self.store()
        var ended: [WeakRecord] = []
        for _ in 0..<150 {
            await Self.send(store)
            ended.append(WeakRecord(record: store.all.last))
        }
        #expect(ended.prefix(50).allSatisfy { $0.record == nil } && store.all.count == 100)
        store.clear()
        #expect(ended.allSatisfy { $0.record == nil })
        await Self.send(store)
        let record = try #require(store.all.first)
        try await eventually { record.known.masked != nil }
    }

    private struct WeakRecord {
        weak var record: ActivityRecord?
    }
}
