import Errand
import ErrandBatch
import ErrandCache
import ErrandChain
import ErrandLoadingIndicatorLog
import ErrandTesting
import Testing

@Suite(.endsInTime, .leakChecked)
struct LoadingIndicatorTests {
    private let time = ManualTimeSource()
    private let shown = Log<LoadingState>()

    private func agent(_ response: StubResponse, _ indicator: LoadingIndicator, filters: [any Filter] = [])
        -> NetworkAgent
    {
        NetworkAgent(
            baseURL: base, transport: .stub(response), filters: filters, accessories: [indicator], time: time)
    }

    private func instantly(_ label: String? = nil) -> LoadingIndicator {
        LoadingIndicator(shown, label: label, delay: .zero, minimumDuration: .zero, interval: .zero, time: time)
    }

    @Test("a fast response doesn't show the indicator; a slow one shows it after the delay, for at least the minimum")
    func delays() async throws {
        let gate = Gate()
        let indicator = LoadingIndicator(
            shown, label: "Loading…", delay: .milliseconds(200), minimumDuration: .milliseconds(400), time: time)
        let fast = agent(.text("fast"), indicator)
        _ = try await fast.send(Get())
        #expect(shown.all.isEmpty)
        let slow = agent(.text("slow").waiting(for: gate), indicator)
        let handle = slow.start(Get())
        try await gate.reached()
        try await time.waitForSleepers()
        time.advance(by: .milliseconds(199))
        #expect(indicator.state == .hidden)
        time.advance(by: .milliseconds(1))
        // The presenters receive a state after the indicator has it.
        try await eventually { !shown.all.isEmpty }
        #expect(indicator.state.isShown)
        #expect(shown.all == [LoadingState(isShown: true, label: "Loading…", running: 1)])
        gate.open()
        _ = try await handle.value
        #expect(indicator.state.isShown, "the minimum has not passed")
        try await time.waitForSleepers()
        time.advance(by: .milliseconds(400))
        try await eventually { shown.all.last == .hidden }
        #expect(indicator.state == .hidden)
    }

    @Test("a view that follows an indicator receives each state, isn't retained, and ends the task")
    @MainActor func following() async throws {
        @MainActor final class View {
            var shown: [Bool] = []
        }
        let gate = Gate()
        let indicator = instantly()
        var view: View? = View()
        weak let released = view
        let task = try indicator.follow(#require(view)) { $0.shown.append($1.isShown) }
        try await eventually { view?.shown == [false] }
        let handle = agent(.text("ok").waiting(for: gate), indicator).start(Get())
        try await gate.reached()
        try await eventually { view?.shown == [false, true] }
        view = nil
        #expect(released == nil)
        gate.open()
        _ = try await handle.value
        // Waits for the change after the view's end.
        await task.value
    }

    @Test("an indicator that several agents share from any thread ends hidden, whichever call is cancelled")
    func sharing() async throws {
        let indicator = instantly()
        let agents = (0..<3).map { _ in agent(.text("ok"), indicator) }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<3000 {
                group.addTask {
                    let handle = agents[number % 3].start(Get())
                    if number % 4 == 0 { handle.cancel() }
                    _ = await handle.result
                    // Cancelling a finished activity must not change the state.
                    handle.cancel()
                }
            }
        }
        #expect(indicator.state == .hidden)
        let states = shown.all
        #expect(states.last == .hidden && states.contains { $0.isShown })
        #expect(zip(states, states.dropFirst()).allSatisfy { $0 != $1 })
        #expect(agents.allSatisfy { $0.activities.isEmpty })
    }

    @Test("cache hits aren't shown, unless asked for", arguments: [false, true])
    func cacheHits(shows: Bool) async throws {
        let indicator = LoadingIndicator(
            shown, delay: .zero, minimumDuration: .zero, interval: .zero, showsCacheHits: shows, time: time)
        let agent = agent(.text("ok"), indicator, filters: [.cache(.memory(), policy: .timed(.seconds(60)))])
        _ = try await agent.send(Get())
        let first = shown.all.count
        #expect(first == 2)
        let second = try await agent.send(Get())
        #expect(second.http.source.isStored)
        #expect(shown.all.count == first + (shows ? 2 : 0))
    }

    @Test("a chain is one activity without a gap between its steps, and so is a batch with its parts")
    func composites() async throws {
        let indicator = instantly()
        let agent = agent(.text("ok"), indicator)
        _ = try await agent.run(
            Chain("both") { steps in
                _ = try await steps.send(Get())
                _ = try await steps.run(Batch(Get(), Get()))
                return try await steps.send(Get()).value
            })
        #expect(shown.all.allSatisfy { $0.running == ($0.isShown ? 1 : 0) })
        #expect(shown.all.filter { !$0.isShown }.count == 1, "hidden once, at the end")
        #expect(indicator.state == .hidden)
    }

    @Test("an indicator shows activities of a tag or of one call, each with its own label")
    func watching() async throws {
        enum Screen: TagKey { static let defaultValue = "" }
        let indicator = LoadingIndicator(
            shown, label: "Loading…", delay: .zero, minimumDuration: .zero, interval: .zero, time: time,
            watching: { $0.tags[Screen.self] == "feed" })
        let watched = agent(.text("ok"), indicator)
        _ = try await watched.send(Get())
        #expect(shown.all.isEmpty)
        let feed = CallOptions(tags: Tags().with(Screen.self, "feed"))
        _ = try await watched.send(Get(loadingLabel: "The feed…"), options: feed)
        #expect(shown.all.map(\.label) == ["The feed…", nil])
        let other = NetworkAgent(baseURL: base, transport: .stub(.text("ok")))
        let single = instantly("Once")
        _ = try await other.send(Get())
        _ = try await other.send(Get(), options: CallOptions(accessories: [single]))
        #expect(shown.all.map(\.label) == ["The feed…", nil, "Once", nil])
    }

    @Test("streams begin with the current state, deliver the newest, and end with the indicator")
    func streams() async throws {
        let gate = Gate()
        var indicator: LoadingIndicator? = instantly()
        let states = try #require(indicator?.states)
        var reader = states.makeAsyncIterator()
        #expect(await reader.next() == .hidden)
        do {
            let agent = agent(.text("ok").waiting(for: gate), try #require(indicator))
            let handle = agent.start(Get())
            try await gate.reached()
            #expect(await reader.next()?.isShown == true)
            var late = try #require(indicator?.states).makeAsyncIterator()
            #expect(await late.next()?.isShown == true)
            gate.open()
            _ = try await handle.value
            #expect(await reader.next() == .hidden)
        }
        indicator = nil
        #expect(await reader.next() == nil)
    }

    @Test("once finished, it is hidden within its minimum, ends its streams, and isn't shown again")
    func finishing() async throws {
        final class Screen: LoadingPresenter {
            let log: Log<String>
            init(_ log: Log<String>) { self.log = log }
            func present(_ state: LoadingState) { log.add(state.isShown ? "shown" : "hidden") }
            func finish() { log.add("finished") }
        }
        let log = Log<String>()
        let gate = Gate()
        let indicator = LoadingIndicator(
            Screen(log), delay: .zero, minimumDuration: .seconds(60), interval: .zero, time: time)
        var reader = indicator.states.makeAsyncIterator()
        let handle = agent(.text("ok").waiting(for: gate), indicator).start(Get())
        try await gate.reached()
        #expect(log.all == ["shown"])
        await indicator.finish()
        #expect(log.all == ["shown", "hidden", "finished"] && indicator.state == .hidden)
        gate.open()
        _ = try await handle.value
        _ = try await agent(.text("ok"), indicator).send(Get())
        #expect(log.all == ["shown", "hidden", "finished"])
        _ = await reader.next()
        #expect(await reader.next() == nil)
        var late = indicator.states.makeAsyncIterator()
        #expect(await late.next() == .hidden)
        #expect(await late.next() == nil)
        await indicator.finish()
    }

    @Test("a batch and a chain without labels are named by their kind once")
    func unnamed() async throws {
        let lines = Log<String>()
        let log = RequestLog(.line, to: ClosureSink { lines.add($0.line) })
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")), accessories: [log])
        _ = try await agent.run(Batch(Get(), Get()))
        let handle = agent.start(running: Batch(Get(), Get()))
        #expect("\(handle.activity)" == "batch \(handle.activity.id)")
        _ = try await handle.value
        await log.flush()
        #expect(lines.all.contains { $0.contains(" batch → success") })
        #expect(!lines.all.contains { $0.contains("batch batch") })
    }

    @Test("a failure, a cancellation and a deadline hide the indicator")
    func ends() async throws {
        let indicator = instantly()
        let gate = Gate()
        _ = try? await agent(.failure(ErrandError(.timedOut, "late")), indicator).send(Get())
        #expect(indicator.state == .hidden && shown.all.count == 2)
        let handle = agent(.text("ok").waiting(for: gate), indicator).start(Get())
        try await gate.reached()
        #expect(indicator.state.isShown)
        handle.cancel()
        _ = await handle.result
        #expect(indicator.state == .hidden && shown.all.count == 4)
    }
}
