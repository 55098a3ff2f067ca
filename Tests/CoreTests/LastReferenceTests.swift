import Dispatch
import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

/// Objects that only a call holds are released along with it. Releasing them may use the agent, so the agent must not
/// hold a lock meanwhile.
@Suite("Last references", .endsInTime, .leakChecked) struct LastReferenceTests {
    private final class Ending: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        deinit { body() }
    }

    @Test("an agent that is held only by its running request is released with that request", arguments: 0..<50)
    func agent(_: Int) async throws {
        func begin() -> RequestHandle<Response<Data>> {
            NetworkAgent(baseURL: base, transport: .stub(.text("x"))).start(Plain<Data>())
        }
        #expect(try await begin().value.value == Data("x".utf8))
        let call = Plain<String> { try $0.text() }
        let text = try await NetworkAgent(baseURL: base, transport: .stub(.text("y"))).send(call).value
        #expect(text == "y")
    }

    @Test("an agent that only running callbacks retain is released with the last callback")
    func callbacks() async throws {
        weak var released: NetworkAgent?
        let values = Log<String>()
        do {
            let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")))
            released = agent
            for _ in 0..<10 {
                agent.start(Plain<String> { try $0.text() }, on: .global()) { result in
                    if let response = try? result.get() { values.add(response.value) }
                }
            }
        }
        try await eventually { values.all.count == 10 && released == nil }
    }

    @Test("an agent is released with its request, even if the deinit of a filter, accessory or request uses it")
    func users() async throws {
        struct Keeps: Filter {
            let ending: Ending
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
        }
        struct Watches: Accessory {
            let ending: Ending
            func activity(_ activity: Activity, did event: ActivityEvent) {}
        }
        let ends = Log<String>()
        do {
            let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")))
            func ending(_ name: String) -> Ending {
                Ending { [weak agent] in
                    agent?.cancelAll()
                    ends.add("\(name) \(agent?.activities.count ?? 0)")
                }
            }
            let options = CallOptions(accessories: [Watches(ending: ending("accessory"))])
            let handle = agent.start(
                Plain<Data> {
                    $0.filters = [Keeps(ending: ending("filter"))]
                }, options: options)
            _ = try await handle.value
        }
        try await eventually { ends.all.count == 2 }
    }
}
