import Errand
import ErrandConformance
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// An accessory that's wrong on purpose, and the case that must catch it.
struct WrongAccessory: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The name of the case.
    let caughtBy: String
    /// A part of the failure's message.
    let saying: String
    private let cases: [PluginConformanceCase]

    init<Subject: Accessory>(
        _ description: String, caughtBy name: String, saying: String,
        output: @escaping @Sendable (Subject) -> String = { _ in "" }, _ make: @escaping @Sendable () -> Subject
    ) {
        (testDescription, caughtBy, self.saying) = (description, name, saying)
        // When one of these accessories waits, it waits for an event that never occurs.
        cases = AccessoryConformance.cases(
            for: make, output: { output($0) }, within: .seconds(600), gracePeriod: .milliseconds(300))
    }

    /// Runs the case that must catch the accessory. Up to `rounds` times, because other work of the process can hide
    /// some faults.
    func run(rounds: Int = 1) async throws {
        let each = try #require(cases.first { $0.name == caughtBy }, "there is no such case")
        var text = ""
        for _ in 0..<rounds where !text.contains(saying) {
            do { try await each.run() } catch let failure as ConformanceFailure { text = failure.description }
        }
        #expect(text.hasPrefix(caughtBy))
        #expect(text.contains(saying), "\(text)")
    }

    static let all: [WrongAccessory] = [
        WrongAccessory(
            "cancels what it observes", caughtBy: "every call ends the same way as without the accessory",
            saying: "got cancelled"
        ) { ClosureAccessory { activity, event in if case .built = event { activity.cancel() } } },
        WrongAccessory(
            "cancels when many run", caughtBy: "the accessory works with hundreds of activities of several agents",
            saying: "other outcomes, such as cancelled"
        ) { Crowded() },
        WrongAccessory(
            "sleeps", caughtBy: "the accessory doesn't block the thread of an event", saying: "in willStop"
        ) {
            ClosureAccessory { _, event in if case .willStop = event { usleep(2_000) } }
        },
        WrongAccessory(
            "asks for whole bodies", caughtBy: "the accessory requests copies of at most 64 MiB of each body",
            saying: "\(Int.max) bytes"
        ) { Greedy() },
        WrongAccessory(
            "keeps the activities that it has seen", caughtBy: "the accessory releases each activity after its end",
            saying: "an activity that stays in memory"
        ) { KeepsActivities(untilTheirEnd: false) },
        WrongAccessory(
            "keeps activities until their end",
            caughtBy: "the accessory releases an activity whose end is never reported",
            saying: "an activity still waiting for its end"
        ) { KeepsActivities(untilTheirEnd: true) },
        WrongAccessory(
            "leaks a task for each activity", caughtBy: "the accessory releases each activity after its end",
            saying: "an activity that stays in memory"
        ) {
            ClosureAccessory { activity, event in
                guard case .willStop = event else { return }
                Task {
                    try await Task.sleep(for: .seconds(600))
                    print(activity)
                }
            }
        },
        WrongAccessory(
            "leaks a task that holds nothing", caughtBy: "a task that the accessory starts ends after the call",
            saying: "a task that keeps running"
        ) {
            ClosureAccessory { _, event in
                if case .willStop = event { Task { try await Task.sleep(for: .seconds(600)) } }
            }
        },
        WrongAccessory(
            "has a timer that keeps it", caughtBy: "the accessory doesn't keep itself or its agent alive",
            saying: "to be released"
        ) { Ticking() },
        WrongAccessory(
            "writes the fields of requests", caughtBy: "the accessory's output contains no secret",
            saying: "a sensitive field",
            output: \.text
        ) { Journal.fields() },
    ]
}

struct ClosureAccessory: Accessory {
    let body: @Sendable (Activity, ActivityEvent) -> Void
    func activity(_ activity: Activity, did event: ActivityEvent) { body(activity, event) }
}

private struct Greedy: Accessory {
    var maximumBodyBytes: Int { .max }
    func activity(_ activity: Activity, did event: ActivityEvent) {}
}

private final class Crowded: Accessory {
    private let count = Atomic(0)

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .willStart = event else { return }
        if count.add(1, ordering: .relaxed).newValue > 10 { activity.cancel() }
    }
}

private final class KeepsActivities: Accessory {
    private let activities = Mutex<[Activity.ID: Activity]>([:])
    private let isUntilEnd: Bool

    init(untilTheirEnd isUntilEnd: Bool) { self.isUntilEnd = isUntilEnd }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        activities.withLock { activities in
            if case .didStop = event, isUntilEnd {
                activities[activity.id] = nil
            } else {
                activities[activity.id] = activity
            }
        }
    }
}

private final class Ticking: Accessory {
    private let ticks = Atomic(0)

    init() {
        Task {
            try await Task.sleep(for: .seconds(600))
            self.ticks.add(1, ordering: .relaxed)
        }
    }

    func activity(_ activity: Activity, did event: ActivityEvent) {}
}
