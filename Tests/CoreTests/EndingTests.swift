import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("What ends a call, and what doesn't", .endsInTime, .leakChecked) struct EndingTests {
    private static func hour(_ change: (inout Plain<Data>) -> Void = { _ in }) -> Plain<Data> {
        Plain {
            $0.deadline = .seconds(3600)
            change(&$0)
        }
    }

    @Test("an activity that is kept after its end has released its accessories and its listener")
    func listenersReleased() async throws {
        final class Owner: Sendable {}
        struct Watch: Accessory {
            let owner: Owner
            func activity(_ activity: Activity, did event: ActivityEvent) {}
        }
        weak var accessory: Owner?
        weak var listener: Owner?
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")))
        let handle: RequestHandle<Response<Data>>
        do {
            let (watched, reported) = (Owner(), Owner())
            (accessory, listener) = (watched, reported)
            handle = agent.start(
                Plain<Data> { $0.data },
                options: CallOptions(accessories: [Watch(owner: watched)], progress: { _ in _ = reported }))
        }
        _ = try await handle.value
        try await eventually { accessory == nil && listener == nil }
        #expect(handle.activity.outcome != nil)
    }

    @Test("a deadline that passes while the call waits in a filter ends it, and discards staged work")
    func inFilter() async throws {
        let (time, gate, log) = (ManualTimeSource(), Gate(), Log<String>())
        let waiting = ClosureFilter { exchange, next in
            exchange.whenAccepted {
                log.add("kept")
            } otherwise: {
                log.add("dropped")
            }
            let response = try await next(exchange)
            try await gate.wait()
            return response
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")), filters: [waiting], time: time)
        let handle = agent.start(Self.hour())
        try await gate.reached()
        try await time.waitForSleepers()
        time.advance(by: .seconds(3600))
        #expect(await code { try await handle.value } == .deadlineExceeded)
        #expect(log.all == ["dropped"] && agent.activities.isEmpty)
    }

    @Test(
        "a deadline that passes during decoding counts, even if the decoding succeeds",
        arguments: [true, false])
    func inDecoding(notices: Bool) async throws {
        let (time, gate, recorder) = (ManualTimeSource(), Gate(), RecordingAccessory())
        var request = Plain<Int> { _ in
            do { try await gate.wait() } catch { if notices { throw error } }
            return 1
        }
        request.deadline = .seconds(3600)
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("x")), accessories: [recorder], time: time)
        let handle = agent.start(request)
        try await gate.reached()
        try await time.waitForSleepers()
        time.advance(by: .seconds(3600))
        #expect(await code { try await handle.value } == .deadlineExceeded)
        #expect(name(handle.outcome) == "failure" && recorder.problems().isEmpty)
    }

    @Test("a deadline or a cancellation while staged work is committed has no effect")
    func inCommit() async throws {
        let (time, gate, log) = (ManualTimeSource(), Gate(), Log<String>())
        let staging = ClosureFilter { exchange, next in
            let response = try await next(exchange)
            exchange.whenAccepted {
                do { try await gate.wait() } catch { log.add("interrupted") }
                exchange.note("store", "kept")
            }
            return response
        }
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("x")), filters: [staging], accessories: [recorder], time: time)
        let handle = agent.start(Self.hour())
        try await gate.reached()
        try await time.waitForSleepers()
        time.advance(by: .seconds(3600))
        handle.cancel()
        gate.open()
        #expect(try await handle.value.value == Data("x".utf8))
        #expect(name(handle.outcome) == "success" && !handle.isCancelled && log.all.isEmpty)
        #expect(recorder.names().suffix(3) == ["note", "willStop", "didStop"])
    }

    @Test("an agent that is released during an activity with a deadline ends it in the usual way")
    func released() async throws {
        let (time, gate, recorder) = (ManualTimeSource(), Gate(), RecordingAccessory())
        weak var weakly: NetworkAgent?
        let handles: [RequestHandle<Response<Data>>]
        do {
            let agent = NetworkAgent(
                baseURL: base, transport: .stub(.text("x").waiting(for: gate)), accessories: [recorder], time: time)
            weakly = agent
            let patient = Duration.seconds(1_000_000)
            handles = [3600, 7200].map { deadline in
                agent.start(Plain { ($0.deadline, $0.timeout) = (.seconds(deadline), patient) })
            }
        }
        try await gate.reached(by: 2)
        #expect(weakly != nil)
        while !handles.contains(where: { !$0.isRunning }) {
            try await time.waitForSleepers()
            time.advance(by: .seconds(600))
            await Task.yield()
        }
        #expect(await code { try await handles[0].value } == .deadlineExceeded)
        gate.open()
        _ = await handles[1].result
        try await recorder.waitUntilQuiet()
        #expect(recorder.problems().isEmpty)
    }

    @Test("a call keeps the configuration that it started with")
    func configuration() async throws {
        let (gate, log) = (Gate(), Log<String>())
        let stub = StubTransport(.redirect(to: "/there").waiting(for: gate))
        stub.on("/there", response: .text("x"))
        let agent = NetworkAgent(
            baseURL: base, transport: stub, filters: [Signpost(name: "old", log: log, stages: .hop)])
        let handle = agent.start(Plain())
        try await gate.reached()
        agent.configure { configuration in
            configuration.filters = [Signpost(name: "new", log: log, stages: .hop)]
            configuration.redirects = .off
            configuration.maximumBodyBytes = 0
        }
        gate.open()
        #expect(try await handle.value.value == Data("x".utf8))
        #expect(log.all == ["old>", "<old", "old>", "<old"])
    }
}
