import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandURLSessionTransport

@Suite("The watch for inactivity", .endsInTime, .leakChecked)
struct SilenceTests {
    /// An exchange with its own timeout.
    private final class Exchange: SilenceWatched {
        private struct State: Sendable {
            var lastActivity: ContinuousClock.Instant
            var end: ContinuousClock.Instant?
        }

        private let timeout: Duration
        private let state: Mutex<State>
        let ended = Gate()

        init(_ timeout: Duration, _ now: ContinuousClock.Instant) {
            self.timeout = timeout
            state = Mutex(State(lastActivity: now))
        }

        var deadline: ContinuousClock.Instant { state.withLock { $0.lastActivity + timeout } }
        var end: ContinuousClock.Instant? { state.withLock { $0.end } }
        func touch(_ now: ContinuousClock.Instant) { state.withLock { $0.lastActivity = now } }

        func endIfSilent(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
            let isOver = state.withLock { state in
                if state.end == nil, state.lastActivity + timeout <= now { state.end = now }
                return state.end != nil
            }
            if isOver { ended.open() }
            return isOver ? nil : deadline
        }
    }

    @Test("ends each exchange at its own deadline, earliest first, in any order of adding")
    func deadlines() async throws {
        let time = ManualTimeSource()
        let watch = SilenceWatch(time: time)
        let start = time.now
        let all = [30, 5, 60, 12].map { Exchange(.seconds($0), start) }
        for exchange in all { watch.add(exchange, deadline: exchange.deadline) }
        for (index, seconds) in [(1, 5), (3, 12), (0, 30), (2, 60)] {
            try await eventually { time.nextWake == start + .seconds(seconds) }
            time.advance(to: start + .seconds(seconds))
            try await all[index].ended.wait()
            #expect(all[index].end == start + .seconds(seconds))
        }
        try await eventually { watch.count == 0 }
        #expect(time.nextWake == nil)
    }

    @Test("an active exchange gets more time, and a removed exchange isn't checked")
    func activity() async throws {
        let time = ManualTimeSource()
        let watch = SilenceWatch(time: time)
        let start = time.now
        let (active, removed) = (Exchange(.seconds(10), start), Exchange(.seconds(10), start))
        for exchange in [active, removed] { watch.add(exchange, deadline: exchange.deadline) }
        watch.remove(removed)
        active.touch(start + .seconds(8))
        try await eventually { time.nextWake == start + .seconds(10) }
        time.advance(to: start + .seconds(10))
        try await eventually { time.nextWake == start + .seconds(18) }
        #expect(active.end == nil)
        time.advance(to: start + .seconds(18))
        try await active.ended.wait()
        #expect(removed.end == nil && !removed.ended.isOpen)
    }

    @Test("an exchange on the system's clock leaves the watch when it ends in any way")
    func exchanges() async throws {
        struct Get: Request {
            typealias Output = String
            let path: String
        }
        let server = try TestServer()
        let gate = Gate()
        server.on("/ok", .text("ok"))
        server.on("/held", .text("held").waiting(for: gate))
        server.on("/lost", .text("lost").closing(afterBytes: 0))
        let transport = URLSessionTransport()
        let agent = NetworkAgent(baseURL: server.url, transport: transport)
        for _ in 0..<20 { _ = try await agent.send(Get(path: "/ok")) }
        _ = try? await agent.send(Get(path: "/lost"))
        let held = Task { try await agent.send(Get(path: "/held")) }
        try await gate.reached()
        #expect(transport.silence.count == 1)
        held.cancel()
        _ = await held.result
        gate.open()
        try await eventually { transport.silence.count == 0 }
    }

    @Test("a server that is silent on the system's clock ends the request")
    func silence() async throws {
        struct Get: Request {
            typealias Output = String
            let path = "/held"
            let timeout: Duration? = .milliseconds(50)
        }
        let server = try TestServer()
        let gate = Gate()
        defer { gate.open() }
        server.on("/held", .text("held").waiting(for: gate))
        let agent = NetworkAgent(baseURL: server.url, transport: .urlSession)
        let error = await #expect(throws: ErrandError.self) { try await agent.send(Get()) }
        #expect(error?.code == .timedOut)
    }
}
