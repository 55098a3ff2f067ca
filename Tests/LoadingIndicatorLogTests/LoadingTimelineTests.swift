import Errand
import ErrandTesting
import Testing

@testable import ErrandLoadingIndicatorLog

/// The displayed state as a function of running activities and time.
@Suite(.leakChecked) struct LoadingTimelineTests {
    private static let ids = makeIDs(200)

    /// Returns IDs of real activities, which only an agent can create.
    private static func makeIDs(_ count: Int) -> [Activity.ID] {
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")))
        return (0..<count).map { _ in agent.start(Get()).activity.id }
    }

    private func time(_ milliseconds: Int) -> Duration { .milliseconds(milliseconds) }

    /// The same rules, implemented by counting milliseconds.
    private struct Oracle {
        let delay: Int
        let minimum: Int
        var live: Set<Int> = []
        var since: Int?
        var shownAt: Int?

        mutating func step(_ now: Int) -> Bool {
            since = live.isEmpty ? nil : since ?? now
            if let shown = shownAt {
                if live.isEmpty, now - shown >= minimum { shownAt = nil }
            } else if let since, now - since >= delay {
                shownAt = now
            }
            return shownAt != nil
        }
    }

    @Test(
        "after ten thousand random starts and stops, the indicator was shown exactly when it should be, and is hidden",
        arguments: [(0, 0), (200, 400), (50, 0), (0, 300), (7, 1)], [1, 2] as [UInt64])
    func random(times: (delay: Int, minimum: Int), seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var timeline = LoadingTimeline(
            delay: .milliseconds(times.delay), minimum: .milliseconds(times.minimum), interval: .milliseconds(100),
            label: nil)
        var oracle = Oracle(delay: times.delay, minimum: times.minimum)
        var now = 0
        var changes = 0
        var wasShown = false
        /// Advances the time, and checks the timeline only when it asked to be checked.
        func pass(_ milliseconds: Int) {
            for _ in 0..<milliseconds {
                now += 1
                if let next = timeline.next, next <= time(now) { timeline.advance(to: time(now)) }
                let isShown = oracle.step(now)
                if timeline.presented.isShown != isShown {
                    Issue.record("at \(now): \(timeline.presented), and it should be \(isShown)")
                    return
                }
                if isShown != wasShown { changes += 1 }
                wasShown = isShown
            }
        }
        for _ in 0..<10_000 {
            let number = Int(random.next() % 4)
            let id = Self.ids[number]
            if oracle.live.contains(number) {
                oracle.live.remove(number)
                timeline.end(id)
                // Reporting an end twice must not change the state.
                timeline.end(id)
            } else if random.next() % 3 == 0 {
                oracle.live.insert(number)
                timeline.start(id, parent: nil, label: nil, counts: true)
                timeline.start(id, parent: nil, label: nil, counts: true)
            }
            timeline.advance(to: time(now))
            #expect(timeline.presented.isShown == oracle.step(now))
            if timeline.presented.isShown != wasShown { changes += 1 }
            wasShown = timeline.presented.isShown
            pass(Int(random.next() % 60))
        }
        for number in oracle.live { timeline.end(Self.ids[number]) }
        oracle.live = []
        timeline.advance(to: time(now))
        pass(1000)
        #expect(timeline.presented == .hidden && timeline.next == nil)
        #expect(changes > 50)
    }

    @Test("states change no more often than the interval, and end with the newest")
    func interval() {
        var timeline = LoadingTimeline(delay: .zero, minimum: .zero, interval: .milliseconds(100), label: "…")
        timeline.start(Self.ids[0], parent: nil, label: nil, counts: true)
        timeline.advance(to: time(0))
        var seen: [LoadingState] = [timeline.presented]
        for step in 1...1000 {
            timeline.progress(Self.ids[0], TransferProgress(received: Int64(step), totalToReceive: 1000))
            timeline.advance(to: time(step))
            if seen.last != timeline.presented { seen.append(timeline.presented) }
        }
        #expect(seen.count == 11)
        #expect(seen.last?.fraction == 1)
    }

    @Test("parts count as one activity, the newest label is shown, and the fraction is the mean of all running parts")
    func contents() {
        var timeline = LoadingTimeline(delay: .zero, minimum: .zero, interval: .zero, label: "Loading…")
        timeline.start(Self.ids[0], parent: nil, label: "batch", counts: true)
        timeline.start(Self.ids[1], parent: Self.ids[0], label: nil, counts: true)
        timeline.start(Self.ids[2], parent: Self.ids[0], label: nil, counts: true)
        timeline.start(Self.ids[3], parent: nil, label: nil, counts: false)
        timeline.progress(Self.ids[0], TransferProgress(fraction: 0.5))
        timeline.advance(to: time(0))
        #expect(timeline.presented == LoadingState(isShown: true, label: "batch", running: 1, fraction: 0.5))
        timeline.count(Self.ids[3])
        timeline.advance(to: time(1))
        #expect(timeline.presented == LoadingState(isShown: true, label: "batch", running: 2))
        timeline.progress(Self.ids[3], TransferProgress(received: 20, totalToReceive: 10))
        timeline.advance(to: time(2))
        #expect(timeline.presented.fraction == 0.75)
        timeline.end(Self.ids[0])
        timeline.advance(to: time(3))
        #expect(timeline.presented.label == "Loading…" && timeline.presented.running == 3)
    }
}
