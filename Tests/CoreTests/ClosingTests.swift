import Dispatch
import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("The end of the events", .endsInTime, .leakChecked) struct ClosingTests {
    /// Runs the test's closure, returns an empty response, and records the options it received.
    private struct Handing: Transport {
        let options = Log<TransportOptions>()
        var body: @Sendable (TransportOptions) async throws -> Void = { _ in }

        func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
            self.options.add(options)
            try await body(options)
            return HTTPResponse(to: request, status: 200)
        }
    }

    @Test("after a progress listener cancels the call, no more progress is reported, even if the listener is slow")
    func cancellingListener() async throws {
        let recorder = RecordingAccessory()
        let transport = Handing { options in
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                DispatchQueue.global().async {
                    options.report(.progress(TransferProgress(received: 1)))
                    continuation.resume()
                }
            }
        }
        let agent = NetworkAgent(baseURL: base, transport: transport, accessories: [recorder])
        let canceller = Canceller()
        let handle = agent.start(
            Plain(), options: CallOptions(progress: { _ in canceller.cancel() }), completion: nil)
        canceller.set(handle.activity)
        _ = await handle.result
        try await recorder.waitUntilQuiet()
        #expect(recorder.problems().isEmpty)
        #expect(recorder.names(transport: true).last == "didStop")
        canceller.forget()
    }

    /// Cancels, and then waits until the outcome of the activity is decided.
    private final class Canceller: Sendable {
        private let activity = Mutex<Activity?>(nil)
        private let known = DispatchSemaphore(value: 0)

        func set(_ activity: Activity) {
            self.activity.withLock { $0 = activity }
            known.signal()
        }

        func forget() { activity.withLock { $0 = nil } }

        func cancel() {
            known.wait()
            activity.withLock { $0 }?.cancel()
        }
    }

    @Test("events that an accessory causes during did-stop, and later ones, reach no accessory")
    func afterTheEnd() async throws {
        struct Talking: Accessory {
            func activity(_ activity: Activity, did event: ActivityEvent) {
                guard case .didStop = event else { return }
                activity.note("late", "note")
                activity.report(.progress(TransferProgress(received: 9)))
            }
        }
        let (recorder, transport, exchanges) = (RecordingAccessory(), Handing(), Log<Exchange>())
        let filter = ClosureFilter { exchange, next in
            exchanges.add(exchange)
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: base, transport: transport, filters: [filter], accessories: [Talking(), recorder])
        let reported = Log<TransferProgress>()
        let handle = agent.start(Plain(), options: CallOptions(progress: reported.add), completion: nil)
        _ = try await handle.value
        exchanges.all.first?.note("late", "from an exchange")
        exchanges.all.first?.activity.note("late", "from an activity")
        for options in transport.options.all { options.report(.progress(TransferProgress(received: 9))) }
        #expect(recorder.problems().isEmpty)
        #expect(!recorder.names().contains("note"))
        #expect(reported.count == 0 && handle.progress.received == 0)
        exchanges.removeAll()
    }

    @Test("an attempt that lost a race reports no events once the call has stopped")
    func loser() async throws {
        struct Slow: Transport {
            let gate = Gate()
            func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
                if request.headers["X-Slow"] != nil {
                    try await gate.wait()
                    return HTTPResponse(to: request, status: 200)
                }
                return HTTPResponse(to: request, status: 200)
            }
        }
        let (transport, recorder) = (Slow(), RecordingAccessory())
        let losers = Log<Task<HTTPResponse, any Error>>()
        let hedge = ClosureFilter { exchange, next in
            let slow = exchange
            losers.add(
                Task {
                    var exchange = slow
                    exchange.http.headers["X-Slow"] = "1"
                    defer { exchange.note("hedge", "lost") }
                    return try await next(exchange)
                })
            try await transport.gate.reached()
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: base, transport: transport, filters: [hedge], accessories: [recorder])
        _ = try await agent.send(Plain())
        transport.gate.open()
        for loser in losers.all { _ = await loser.result }
        #expect(recorder.problems().isEmpty)
        #expect(recorder.names().last == "didStop" && recorder.names().count { $0 == "received" } == 1)
    }

    /// Records the counts that each thread reported, and whether two events ever overlapped.
    private final class Listening: Accessory {
        let reported = Mutex<[Int: [Int]]>([:])
        let overlaps = Atomic(0)
        private let isBusy = Atomic(false)

        func activity(_ activity: Activity, did event: ActivityEvent) {
            if isBusy.exchange(true, ordering: .acquiringAndReleasing) { overlaps.add(1, ordering: .relaxed) }
            defer { isBusy.store(false, ordering: .releasing) }
            guard case .transport(.informational(let thread, let headers)) = event,
                let count = headers["X-Count"].flatMap(Int.init)
            else { return }
            reported.withLock { $0[thread, default: []].append(count) }
        }
    }

    @Test("all reports from many threads arrive, one at a time and in each thread's order")
    func threads() async throws {
        let listening = Listening()
        let transport = Handing { options in
            await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                let running = DispatchGroup()
                for thread in 0..<6 {
                    DispatchQueue.global().async(group: running) {
                        for count in 0..<500 {
                            options.report(.informational(status: thread, headers: ["X-Count": "\(count)"]))
                        }
                    }
                }
                running.notify(queue: .global()) { continuation.resume() }
            }
        }
        let agent = NetworkAgent(baseURL: base, transport: transport, accessories: [listening])
        _ = try await agent.send(Plain())
        let reported = listening.reported.withLock { $0 }
        #expect(reported.count == 6 && reported.values.allSatisfy { $0 == Array(0..<500) })
        #expect(listening.overlaps.load(ordering: .acquiring) == 0)
    }

    @Test("many threads that report while the activity ends add no events after will-stop", arguments: 0..<4)
    func stress(round: Int) async throws {
        let recorder = RecordingAccessory(maximumRecords: 10_000_000)
        let running = DispatchGroup()
        let late = Atomic(0)
        let transport = Handing { options in
            for thread in 0..<6 {
                DispatchQueue.global().async(group: running) {
                    for count in 1...200 {
                        options.report(
                            (thread + count) % 2 == 0
                                ? .progress(TransferProgress(received: Int64(count)))
                                : .informational(status: 103, headers: [:]))
                    }
                }
            }
            for _ in 0..<round { await Task.yield() }
        }
        let agent = NetworkAgent(baseURL: base, transport: transport, accessories: [recorder])
        for number in 0..<40 {
            let ended = Gate()
            let listener: @Sendable (TransferProgress) -> Void = { _ in
                if ended.isOpen { late.add(1, ordering: .relaxed) }
            }
            let handle = agent.start(Plain(), options: CallOptions(progress: listener), completion: nil)
            if number % 3 == 0 { handle.cancel() }
            _ = await handle.result
            ended.open()
            await withCheckedContinuation { continuation in
                running.notify(queue: .global()) { continuation.resume() }
            }
        }
        #expect(late.load(ordering: .relaxed) == 0)
        #expect(recorder.problems().isEmpty)
        let ends = Dictionary(grouping: recorder.records(), by: \.activity).values.map { $0.suffix(2).map(\.name) }
        #expect(ends.count == 40 && ends.allSatisfy { $0 == ["willStop", "didStop"] })
    }
}
