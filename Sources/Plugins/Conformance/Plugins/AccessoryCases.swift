import Errand
import ErrandEssentials
import ErrandSupport
import ErrandTesting

extension AccessoryDraft {
    static let all = calls + threads + memory + writing

    /// The end of calls with an accessory, and without one.
    private static let calls: [AccessoryDraft] = [
        AccessoryDraft("every call ends as it does without it") { bench in
            let (accessory, _) = try bench.make()
            let forwarder = BenchForwarder(accessory)
            let (observed, plain) = (bench.agent(forwarder), bench.agent())
            for scene in BenchScene.allCases {
                let (came, expected) = (await scene.play(on: observed), await scene.play(on: plain))
                try bench.filters.equal(came, expected, "the end of a call (\(scene.rawValue))")
            }
            try bench.expectNoFlood(forwarder)
        },
        AccessoryDraft("it reports nothing of its own") { bench in
            let (accessory, _) = try bench.make()
            for scene in BenchScene.steady {
                // An accessory that requests bodies makes all accessories receive them.
                let limit = min(accessory.maximumBodyBytes, 1 << 20)
                let (with, without) = (
                    RecordingAccessory(maximumBodyBytes: limit), RecordingAccessory(maximumBodyBytes: limit)
                )
                let forwarder = BenchForwarder(accessory)
                _ = await scene.play(on: bench.agent(with, forwarder))
                _ = await scene.play(on: bench.agent(without))
                try bench.expectNoFlood(forwarder)
                let (came, expected) = (with.names(transport: true), without.names(transport: true))
                try bench.filters.equal(came, expected, "the events of a call (\(scene.rawValue))")
            }
        },
        AccessoryDraft("it keeps up with hundreds of activities of several agents") { bench in
            let (accessory, _) = try bench.make()
            let forwarder = BenchForwarder(accessory)
            let agents = [bench.agent(forwarder), bench.agent(forwarder)]
            let ends = await withTaskGroup { group in
                for index in 0..<200 {
                    group.addTask { await BenchScene.good.play(on: agents[index % 2]) }
                }
                return await group.reduce(into: [String]()) { $0.append($1) }
            }
            let wrong = ends.filter { !$0.hasPrefix("200") }
            try bench.filters.expect(
                wrong.isEmpty, "200 responses", came: "\(wrong.count) other ends, such as \(wrong.first ?? "")")
        },
        AccessoryDraft("it keeps up with all that may happen at the same time") { bench in
            let (accessory, _) = try bench.make()
            let forwarder = BenchForwarder(accessory)
            let (observed, plain) = (bench.agent(forwarder), bench.agent())
            var expected: [BenchScene: String] = [:]
            for scene in BenchScene.allCases { expected[scene] = await scene.play(on: plain) }
            let came = await withTaskGroup { group in
                for scene in BenchScene.allCases + BenchScene.allCases + BenchScene.allCases {
                    group.addTask { (scene, await scene.play(on: observed)) }
                }
                return await group.reduce(into: [(BenchScene, String)]()) { $0.append($1) }
            }
            for (scene, end) in came {
                try bench.filters.equal(end, expected[scene] ?? "", "the end of a call (\(scene.rawValue))")
            }
            try bench.expectNoFlood(forwarder)
        },
        AccessoryDraft("it receives events on many threads at the same time") { bench in
            let (accessory, _) = try bench.make()
            let forwarder = BenchForwarder(accessory, keepsEvents: true)
            let agent = bench.agent(forwarder)
            for scene in BenchScene.allCases { _ = await scene.play(on: agent) }
            // The events of each activity stay in order; those of several interleave.
            let activities = Dictionary(grouping: forwarder.events) { $0.activity.id }.values
            await withTaskGroup { group in
                for events in activities {
                    group.addTask {
                        for _ in 0..<20 {
                            for each in events { accessory.activity(each.activity, did: each.event) }
                        }
                    }
                }
            }
            let end = await BenchScene.good.play(on: agent)
            try bench.filters.expect(end.hasPrefix("200"), "the end of a call afterwards: 200", came: end)
        },
        AccessoryDraft("it survives an end that comes twice") { bench in
            let (accessory, _) = try bench.make()
            let (observed, plain) = (bench.agent(BenchForwarder(accessory, .endsTwice)), bench.agent())
            for scene in [BenchScene.good, .lost, .redirected, .good] {
                let (came, expected) = (await scene.play(on: observed), await scene.play(on: plain))
                try bench.filters.equal(came, expected, "the end of a call")
            }
        },
    ]

    /// The use of threads that the accessory does not own.
    private static let threads: [AccessoryDraft] = [
        AccessoryDraft("it does not block the thread of an event") { bench in
            guard let worst = try await measured(bench).worst({ $0.blocked }) else { return }
            try bench.filters.expect(
                worst.median < ThreadUse.most.blocked, "less than 0.8 ms of waiting in each event",
                came: "\(worst.median) in \(worst.name)")
        },
        AccessoryDraft("it leaves the processor to others") { bench in
            guard let worst = try await measured(bench).worst({ $0.worked }) else { return }
            try bench.filters.expect(
                worst.median < ThreadUse.most.worked, "less than 5 ms of work in each event",
                came: "\(worst.median) in \(worst.name)")
        },
        AccessoryDraft("an activity waits for no other in it") { bench in
            let (accessory, _) = try bench.make()
            let source = BenchForwarder(BenchWitness(), keepsEvents: true)
            let agent = bench.agent(source)
            for _ in 0..<2 { _ = await BenchScene.redirected.play(on: agent) }
            let all = source.events
            guard let first = all.first?.activity.id else { return }
            let (one, other) = (all.filter { $0.activity.id == first }, all.filter { $0.activity.id != first })
            // The first one ends only when the other has ended, or is known to wait.
            for count in 1..<one.count {
                let (gate, isThere, isOver, isGone) = (Watched(false), Counter(), Counter(), Counter())
                let isStarted = SystemThread.start(stack: 1 << 20) {
                    for each in one.prefix(count) { accessory.activity(each.activity, did: each.event) }
                    isThere.increment()
                    while !gate.read({ $0 }) { usleep(1_000) }
                    for each in one.dropFirst(count) { accessory.activity(each.activity, did: each.event) }
                    isGone.increment()
                }
                guard isStarted else { throw ConformanceFailure(expected: "a thread of the system's", came: "none") }
                _ = try await bench.filters.becomes { isThere.value > 0 }
                _ = SystemThread.start(stack: 1 << 20) {
                    for each in other { accessory.activity(each.activity, did: each.event) }
                    isOver.increment()
                }
                let isFree = try await bench.filters.becomes { isOver.value > 0 }
                gate.update { $0 = true }
                try bench.filters.expect(
                    isFree,
                    "the events of an activity beside another that has come to "
                        + RecordingAccessory.name(of: one[count - 1].event), came: "a thread that waits")
                _ = try await bench.filters.becomes { isGone.value > 0 }
            }
        },
        AccessoryDraft("a task that it starts ends after the call") { bench in
            let agent = bench.agent(BenchForwarder(try bench.make().0))
            let trail = try await FilterDraft.followed {
                for scene in BenchScene.allCases where scene != .detached { _ = await scene.play(on: agent) }
            }
            let isGone = try await bench.filters.becomes { trail.mark == nil }
            try bench.filters.expect(isGone, "the end of every task", came: "a task that goes on")
            withExtendedLifetime(agent) {}
        },
    ]

    /// Every kind of event, often enough for a reliable median.
    private static func measured(_ bench: AccessoryBench) async throws -> BenchForwarder {
        let forwarder = BenchForwarder(try bench.make().0, measures: true)
        let agent = bench.agent(forwarder)
        for _ in 0..<25 {
            for scene in [BenchScene.good, .lost, .redirected, .noted, .uploaded, .cancelledAtStart] {
                _ = await scene.play(on: agent, .secret(.post))
            }
            if forwarder.isFlooded { break }
        }
        return forwarder
    }
}
