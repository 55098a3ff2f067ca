import Errand
import ErrandEssentials
import ErrandStreaming
import ErrandSystemTransport
import ErrandTesting
import Synchronization
import Testing

/// A server that breaks off anywhere and resumes by ID.
@Suite("Event streams that break off", .endsInTime, .leakChecked) struct BrokenStreamTests {
    private static func events(_ count: Int) -> [TestEvent] {
        (1...count).map { TestEvent("event \($0)\nof \(count) €", name: $0 % 3 == 0 ? "third" : nil, id: "\($0)") }
    }

    /// Breaks off each response at a seeded position, in seeded chunks, sometimes before its head.
    private final class BreakingTransport: Transport {
        private let events: [TestEvent]
        private let generator: Mutex<SeededGenerator>
        let breaks = Atomic(0)

        init(_ events: [TestEvent], seed: UInt64) {
            self.events = events
            generator = Mutex(SeededGenerator(seed: seed))
        }

        func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
            let last = request.headers["Last-Event-ID"].flatMap { Int($0) } ?? 0
            if last == events.count { return HTTPResponse(to: request, status: 204) }
            let bytes = Data(events[last...].prefix(3).map(\.text).joined().utf8)
            let (place, size, kind) = generator.withLock { generator in
                (
                    Int.random(in: 0...bytes.count, using: &generator), Int.random(in: 1...40, using: &generator),
                    Int.random(in: 0..<10, using: &generator)
                )
            }
            breaks.add(1, ordering: .relaxed)
            if kind == 0 { throw ErrandError(.connectionLost, "before the head") }
            let left = Mutex(bytes.prefix(place))
            let body = HTTPBody {
                let chunk = left.withLock { left in
                    let chunk = Data(left.prefix(size))
                    left = left.dropFirst(chunk.count)
                    return chunk
                }
                if !chunk.isEmpty { return chunk }
                if kind < 5 { return nil }
                throw ErrandError(kind < 8 ? .connectionLost : .timedOut, "broken off")
            }
            return HTTPResponse(
                url: request.url, status: 200, headers: ["Content-Type": "text/event-stream"], body: body)
        }
    }

    @Test("10,000 interruptions at random positions don't lose or duplicate an event")
    func seededBreaks() async throws {
        var breaks = 0
        var seed: UInt64 = 100
        let rule = ReconnectionPolicy(backoff: .noDelay, maximumFailures: .max, minimumDelay: .zero)
        while breaks < 10_000 {
            let events = Self.events(400)
            let transport = BreakingTransport(events, seed: seed)
            let agent = NetworkAgent(baseURL: "http://breaking", transport: transport)
            let received = try await agent.events(GetFeed(eventOptions: EventOptions(reconnection: rule))).all()
            #expect(received.map(\.id) == (1...400).map(String.init), "seed \(seed)")
            #expect(received.first?.data == "event 1\nof 400 €" && received.last?.name == "message")
            breaks += transport.breaks.load(ordering: .relaxed)
            seed += 1
        }
    }

    @Test("interruptions on a real socket, at every byte of a stream, don't lose or duplicate an event")
    func everyByte() async throws {
        let server = try TestServer()
        let events = Self.events(3)
        let whole = TestResponse.events(events)
        let head = whole.wireBytes().count
        let generator = Mutex(SeededGenerator(seed: 7))
        let rule = ReconnectionPolicy(backoff: .noDelay, maximumFailures: .max, minimumDelay: .zero)
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        server.on(
            "/feed",
            handler: { request in
                let rest = TestResponse.resumableEvents(events)
                let place = Int(request.headers["X-Place"] ?? "") ?? 0
                // The first connection breaks off at this position, later connections anywhere after the head.
                if request.headers["Last-Event-ID"] == nil { return rest.closing(afterBytes: place) }
                return generator.withLock { generator in
                    let place = Int.random(in: 120...400, using: &generator)
                    return Bool.random(using: &generator)
                        ? rest.closing(afterBytes: place) : rest.resetting(afterBytes: place)
                }
            })
        for place in stride(from: 1, through: head, by: 3) {
            let tries = Mutex(0)
            let call = Call<HTTPBody>(.get, "feed") {
                $0.filters = [
                    .closure { exchange, next in
                        var exchange = exchange
                        // Breaks off at this position only once, so a stream that breaks off before its first ID
                        // still makes progress.
                        let count = tries.withLock { tries in
                            tries += 1
                            return tries
                        }
                        exchange.http.headers["X-Place"] = count == 1 ? "\(place)" : "1000"
                        return try await next(exchange)
                    }
                ]
            }
            let received = try await agent.events(call, EventOptions(reconnection: rule)).all()
            #expect(received.map(\.id) == ["1", "2", "3"], "broken off at \(place)")
        }
    }
}
