import Dispatch
import Errand
import ErrandEssentials
import ErrandStates
import ErrandTesting
import Synchronization
import Testing

@Suite("Your own composite", .endsInTime, .leakChecked) struct CompositeTests {
    /// Responds with users by ID. Requests for IDs in `held` wait until they're cancelled, and for IDs in `refused`
    /// fail.
    private struct Track {
        let recording = RecordingAccessory()
        let gate = Gate()
        let agent: NetworkAgent

        init(held: Set<Int> = [], refused: Set<Int> = []) {
            let stub = StubTransport(maximumRecordedRequests: 0) { [gate] request in
                let id = Int(request.url.lastPathComponent) ?? 0
                if held.contains(id) { try await gate.wait() }
                if refused.contains(id) { return .status(503) }
                return .json(#"{"id":\#(id),"name":"n\#(id)"}"#)
            }
            agent = NetworkAgent(baseURL: base, transport: stub, accessories: [recording])
        }

        var ends: [String] {
            recording.records().filter { $0.kind == .request }.compactMap { record in
                switch record.event {
                case .didStop(.success): "success"
                case .didStop(.failure): "failure"
                case .didStop(.cancelled): "cancelled"
                default: nil
                }
            }
        }
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    private enum Team: TagKey { static let defaultValue = "" }

    private static func forwarded(_ agent: NetworkAgent, _ depth: Int) -> any Agent {
        (0..<depth).reduce(agent as any Agent) { agent, _ in ForwardingAgent(base: agent) }
    }

    @Test(
        "the first success wins, the other requests are cancelled, and all of them end before the composite",
        arguments: [false, true], [0, 2])
    func race(started: Bool, depth: Int) async throws {
        let (track, whole) = (Track(held: [1, 3], refused: [4]), RecordingAccessory())
        var race = Race([1, 2, 3, 4].map(GetUser.init), label: "fastest")
        race.startsRunners = started
        let options = CallOptions(tags: Tags().with(Team.self, "red"), accessories: [whole])
        let agent = Self.forwarded(track.agent, depth)
        let handle = agent.start(running: race, options: options, completion: nil)
        let winner = try await handle.value
        #expect(winner.value.id == 2)
        // A runner that wasn't sent before the race was won has no activity.
        #expect(track.ends.count { $0 == "success" } == 1 && track.ends.count { $0 == "failure" } <= 1)
        #expect(track.agent.activities.filter { $0.kind == .request }.isEmpty)
        #expect(handle.activity.kind == .race && handle.activity.label == "fastest" && !handle.isRunning)
        #expect(whole.names() == ["willStart", "willStop", "didStop"])
        let runners = track.recording.records().filter { $0.kind == .request }
        #expect(runners.allSatisfy { $0.parent == handle.activity.id })
        #expect(track.recording.problems() == [] && whole.problems() == [])
    }

    @Test("the tags and filters of its call reach each member, including members of nested composites")
    func inheritance() async throws {
        let (track, seen) = (Track(), Lines())
        let options = CallOptions(
            tags: Tags().with(Team.self, "red"),
            filters: [
                .closure { exchange, next in
                    seen.add("\(exchange.http.url.lastPathComponent) \(exchange.tags[Team.self])")
                    return try await next(exchange)
                }
            ])
        _ = try await track.agent.run(Relay([1, 2]), options: options)
        #expect(seen.all == ["1 red", "2 red"])
        _ = try await track.agent.run(Nested(), options: options)
        #expect(seen.all.dropFirst(2) == ["7 red", "8 red"])
        let records = track.recording.records()
        let outer = try #require(records.first { $0.kind == Nested.kind }?.activity)
        let inner = try #require(records.first { $0.kind == .race }?.activity)
        #expect(records.filter { $0.kind == .race }.allSatisfy { $0.parent == outer })
        #expect(
            records.filter { $0.kind == .request }.suffix(3).allSatisfy { $0.parent == outer || $0.parent == inner })
    }

    private struct Nested: Composite {
        static let kind = ActivityKind(rawValue: "nested")
        var activityKind: ActivityKind { Self.kind }
        func run(on agent: ScopedAgent) async throws -> Int {
            try await agent.run(Race([GetUser(id: 7)])).value.id + agent.send(GetUser(id: 8)).value.id
        }
    }

    @Test("its handle cancels the whole composite, with sent and started members", arguments: 0..<3)
    func cancelling(depth: Int) async throws {
        for started in [false, true] {
            let track = Track(held: [1, 2])
            var race = Race([1, 2].map(GetUser.init))
            race.startsRunners = started
            let handle = Self.forwarded(track.agent, depth).start(
                running: race, options: CallOptions(), completion: nil)
            try await track.gate.reached(by: 2)
            handle.cancel()
            await #expect(throws: ErrandError.self) { try await handle.value }
            guard case .cancelled(.handle)? = handle.outcome else { return #expect(Bool(false), "not cancelled") }
            #expect(track.ends == ["cancelled", "cancelled"])
            #expect(track.recording.problems() == [])
        }
    }

    @Test("an error that it throws itself and a member's error arrive unchanged")
    func failures() async throws {
        let track = Track(refused: [1, 2])
        await #expect(throws: NoRunner.self) { try await track.agent.run(Race([GetUser]())) }
        let error = await #expect(throws: ErrandError.self) { try await track.agent.run(Race([GetUser(id: 1)])) }
        #expect(error?.code == .unacceptableStatus)
    }

    @Test("work that it started without awaiting it is cancelled when it returns, and its agent can't send afterwards")
    func nothingOutlives() async throws {
        let track = Track(held: [1])
        let agent = try await track.agent.run(Leaving())
        #expect(track.ends == ["cancelled"] && track.agent.activities.filter { $0.kind == .request }.isEmpty)
        let error = await #expect(throws: ErrandError.self) { try await agent.send(GetUser(id: 2)) }
        #expect(error?.code == .activityEnded)
        let handle = agent.start(GetUser(id: 2), options: CallOptions(), completion: nil)
        await #expect(throws: ErrandError.self) { try await handle.value }
        await #expect(throws: ErrandError.self) { try await agent.run(Relay([2])) }
        let foreign = CallOptions(parent: handle.activity)
        await #expect(throws: ErrandError.self) { try await agent.send(GetUser(id: 2), options: foreign) }
        #expect(track.recording.records().filter { $0.name == "sending" }.count <= 1)
    }

    private struct Leaving: Composite {
        var activityKind: ActivityKind { ActivityKind(rawValue: "leaving") }
        func run(on agent: ScopedAgent) async throws -> ScopedAgent {
            agent.start(GetUser(id: 1), options: CallOptions(), completion: nil)
            return agent
        }
    }

    @MainActor private final class Screen: CompositeDelegate, RelayDelegate {
        let lines: Lines
        nonisolated init(_ lines: Lines) { self.lines = lines }
        func compositeDidSucceed(_ activity: Activity, output: any Sendable) {
            lines.add("success \((output as? Response<User>)?.value.id ?? 0)")
        }
        func compositeDidFail(_ activity: Activity, error: any Error) { lines.add("failure") }
        func compositeDidCancel(_ activity: Activity) { lines.add("cancelled") }
        func relay(_ activity: Activity, didReach count: Int) { lines.add("reached \(count)") }
        func relayDidEnd(_ how: String) { lines.add(how) }
    }

    @Test("delegate and completion are notified once of the end, on the main actor, in this order")
    func callbacks() async throws {
        let (track, lines) = (Track(refused: [9]), Lines())
        let screen = Screen(lines)
        let good = track.agent.start(running: Race([GetUser(id: 1)]), delegate: screen) { result in
            MainActor.assertIsolated()
            lines.add("completion \((try? result.get().value.id) ?? 0)")
        }
        _ = await good.result
        let bad = track.agent.start(running: Race([GetUser(id: 9)]), delegate: screen) { _ in lines.add("completion") }
        _ = await bad.result
        #expect(lines.all == ["success 1", "completion 1", "failure", "completion"])
        #expect(try await track.agent.run(Race([GetUser(id: 1)])).value.id == 1)
    }

    @Test("its completion runs on the caller's queue, or as a Completion specifies")
    func queues() async throws {
        let (track, lines) = (Track(), Lines())
        let queue = DispatchQueue(label: "composite")
        let screen = Screen(lines)
        let queued = track.agent.start(running: Race([GetUser(id: 1)]), delegate: screen, on: queue) { _ in
            dispatchPrecondition(condition: .onQueue(queue))
            lines.add("queue")
        }
        _ = await queued.result
        let reported = Completion<Response<User>> { activity, _ in lines.add("\(activity.kind)") }
        _ = await track.agent.start(running: Race([GetUser(id: 1)]), completion: reported).result
        #expect(lines.all == ["success 1", "queue", "race"])
    }

    @Test("its delegate, which is held weakly, is notified of a cancellation")
    func cancelledDelegate() async throws {
        let (track, lines) = (Track(held: [1]), Lines())
        let screen = Screen(lines)
        let handle = track.agent.start(running: Race([GetUser(id: 1)]), delegate: screen)
        handle.cancel()
        _ = await handle.result
        #expect(lines.all == ["cancelled"])
        weak var gone: Screen?
        let last: RequestHandle<Response<User>>
        do {
            let screen = Screen(lines)
            gone = screen
            last = track.agent.start(running: Race([GetUser(id: 2)]), delegate: screen)
        }
        _ = await last.result
        #expect(gone == nil)
    }

    @Test("a composite's own delegate type is notified of more than the end")
    func ownDelegate() async throws {
        let (track, lines) = (Track(), Lines())
        let screen = Screen(lines)
        let handle = track.agent.start(running: Relay([1, 2]), delegate: screen) { _ in lines.add("completion") }
        #expect(try await handle.value == ["n1", "n2"])
        #expect(lines.all == ["reached 1", "reached 2", "success 2", "completion"])
    }

    private final class Observer: MemberObserver {
        let lines: Lines
        let reporter = Mutex<ProgressReporter<[Int: Int64]>?>(nil)
        init(_ lines: Lines) { self.lines = lines }
        func memberWillStart(_ member: CompositeMember) { lines.add("\(member.index) \(member.label) starts") }
        func member(_ member: CompositeMember, didReport progress: TransferProgress) {
            reporter.withLock { $0 }?.update { $0[member.index] = progress.received }
        }
        func memberDidEnd(_ member: CompositeMember, result: Result<CompositeMember.Output, any Error>) async {
            switch result {
            case .success(let output):
                lines.add("\(member.index) \(output.http?.status ?? 0) \(type(of: output.value))")
            case .failure: lines.add("\(member.index) fails")
            }
        }
    }

    private struct Watched: Composite {
        let observer: Observer
        var activityKind: ActivityKind { ActivityKind(rawValue: "watched") }
        func run(on agent: ScopedAgent) async throws {
            let reporter = ProgressReporter([Int: Int64](), of: agent.activity) { parts in
                TransferProgress(received: parts.values.reduce(0, +))
            }
            observer.reporter.withLock { $0 = reporter }
            let agent = agent.observed(by: observer)
            _ = try await agent.send(GetUser(id: 1))
            _ = try? await agent.send(GetUser(id: 9), options: CallOptions(label: "refused"))
            _ = try await agent.run(Race([GetUser(id: 2)]))
            let counted = CallOptions(progress: { _ in })
            _ = try await agent.start(GetUser(id: 3), options: counted, completion: nil).value
            await reporter.allReported()
        }
    }

    @Test("an observer sees each member begin, report and end, in order, and the composite's progress is their sum")
    func observing() async throws {
        let (track, lines) = (Track(refused: [9]), Lines())
        let handle = track.agent.start(
            running: Watched(observer: Observer(lines)), options: CallOptions(), completion: nil)
        try await handle.value
        #expect(
            lines.all == [
                "0 GetUser starts", "0 200 User", "1 refused starts", "1 fails", "2 race starts",
                "2 0 Response<User>", "3 GetUser starts", "3 200 User",
            ])
        let bytes = track.recording.records().filter { $0.kind == .request }.compactMap { record in
            if case .transport(.progress(let progress)) = record.event {
                (record.activity, progress.received)
            } else {
                nil as (Activity.ID, Int64)?
            }
        }
        let most = Dictionary(bytes, uniquingKeysWith: max)
        let race = track.recording.records().first { $0.kind == .race }?.activity
        let inRace = Set(track.recording.records().filter { $0.parent == race }.map(\.activity))
        #expect(handle.progress.received == most.filter { !inRace.contains($0.key) }.values.reduce(0, +))
    }

    @Test("a filter's own requests belong to the request that they serve, and can't be sent after it")
    func filtersAgent() async throws {
        let track = Track()
        let other = track.agent
        let kept = Mutex<ScopedAgent?>(nil)
        let asks = AnyFilter { exchange, next in
            let scoped = exchange.activity.agent(on: other)
            kept.withLock { $0 = scoped }
            _ = try await scoped.send(GetUser(id: 5))
            return try await next(exchange)
        }
        let handle = other.start(GetUser(id: 1), options: CallOptions(filters: [asks]), completion: nil)
        _ = try await handle.value
        let records = track.recording.records()
        #expect(records.first { $0.parent == handle.activity.id } != nil)
        let late = kept.withLock { $0 }
        let error = await #expect(throws: ErrandError.self) { try await late?.send(GetUser(id: 5)) }
        #expect(error?.code == .activityEnded)
    }

    private struct AnyFilter: Filter {
        let body: @Sendable (Exchange, Next) async throws -> HTTPResponse
        init(_ body: @escaping @Sendable (Exchange, Next) async throws -> HTTPResponse) { self.body = body }
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await body(exchange, next) }
    }
}
