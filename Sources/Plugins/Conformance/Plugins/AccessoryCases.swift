import Errand
import ErrandEssentials
import ErrandPlatform
import ErrandSupport
import ErrandTesting

extension AccessoryDraft {
    static let all = calls + threads + memory + writing

    private static let calls: [AccessoryDraft] = [
        AccessoryDraft("every call ends the same way as without the accessory") { bench in
            let (accessory, _) = try bench.make()
            let forwarder = BenchForwarder(accessory)
            let (observed, plain) = (bench.agent(forwarder), bench.agent())
            for scene in BenchScene.allCases {
                let (came, expected) = (await scene.play(on: observed), await scene.play(on: plain))
                try bench.expectEnd(came, expected, "the outcome of a call (\(scene.rawValue))")
            }
            try bench.expectNoFlood(forwarder)
        },
        AccessoryDraft("the accessory doesn't cause events itself") { bench in
            let (accessory, _) = try bench.make()
            for scene in BenchScene.steady {
                // The transport reports bodies if any accessory asks for them. Another accessory therefore asks for
                // them in both runs.
                let limit = min(accessory.maximumBodyBytes, 1 << 20)
                let (with, without) = (
                    RecordingAccessory(maximumBodyBytes: limit), RecordingAccessory(maximumBodyBytes: limit)
                )
                let forwarder = BenchForwarder(accessory)
                let end = await scene.play(on: bench.agent(with, forwarder))
                let plainEnd = await scene.play(on: bench.agent(without))
                try bench.expectNoFlood(forwarder)
                // A call that the accessory cancels has other events.
                if end != plainEnd, bench.isExpected(end, plainEnd) { continue }
                let (came, expected) = (with.names(transport: true), without.names(transport: true))
                try bench.filters.equal(came, expected, "the events of a call (\(scene.rawValue))")
            }
        },
        AccessoryDraft("the accessory works with hundreds of activities of several agents") { bench in
            let (accessory, _) = try bench.make()
            let forwarder = BenchForwarder(accessory)
            let agents = [bench.agent(forwarder), bench.agent(forwarder)]
            let ends = await withTaskGroup { group in
                for index in 0..<200 {
                    group.addTask { await BenchScene.good.play(on: agents[index % 2]) }
                }
                return await group.reduce(into: [String]()) { $0.append($1) }
            }
            let wrong = ends.filter { !$0.hasPrefix("200") && !bench.isExpected($0, "200") }
            try bench.filters.expect(
                wrong.isEmpty, "200 responses", came: "\(wrong.count) other outcomes, such as \(wrong.first ?? "")")
        },
        AccessoryDraft("the accessory works with all kinds of calls at the same time") { bench in
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
                try bench.expectEnd(end, expected[scene] ?? "", "the outcome of a call (\(scene.rawValue))")
            }
            try bench.expectNoFlood(forwarder)
        },
        AccessoryDraft("the accessory accepts events on many threads at the same time") { bench in
            let (accessory, _) = try bench.make()
            let forwarder = BenchForwarder(accessory, keepsEvents: true)
            let agent = bench.agent(forwarder)
            for scene in BenchScene.allCases { _ = await scene.play(on: agent) }
            // The order is checked for each activity separately, because events of different activities may alternate.
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
            try bench.filters.expect(end.hasPrefix("200"), "a later call that ends with 200", came: end)
        },
        AccessoryDraft("the accessory accepts a repeated end event") { bench in
            let (accessory, _) = try bench.make()
            let (observed, plain) = (bench.agent(BenchForwarder(accessory, .endsTwice)), bench.agent())
            for scene in [BenchScene.good, .lost, .redirected, .good] {
                let (came, expected) = (await scene.play(on: observed), await scene.play(on: plain))
                try bench.expectEnd(came, expected, "the outcome of a call")
            }
        },
    ]

    /// Tests on which threads accessories work. These threads belong to the agent and the transport.
    private static let threads: [AccessoryDraft] = [
        AccessoryDraft("the accessory doesn't block the thread of an event") { bench in
            guard let worst = try await measured(bench).worst({ $0.blocked }) else { return }
            try bench.filters.expect(
                worst.median < ThreadUse.most.blocked, "less than 0.8 ms of waiting in each event",
                came: "\(worst.median) in \(worst.name)")
        },
        AccessoryDraft("the accessory doesn't keep the processor busy") { bench in
            guard let worst = try await measured(bench).worst({ $0.worked }) else { return }
            try bench.filters.expect(
                worst.median < ThreadUse.most.worked, "less than 5 ms of work in each event",
                came: "\(worst.median) in \(worst.name)")
        },
        AccessoryDraft("the accessory doesn't make an activity wait for another") { bench in
            let (accessory, _) = try bench.make()
            let source = BenchForwarder(BenchWitness(), keepsEvents: true)
            let agent = bench.agent(source)
            for _ in 0..<2 { _ = await BenchScene.redirected.play(on: agent) }
            let all = source.events
            guard let first = all.first?.activity.id else { return }
            let (one, other) = (all.filter { $0.activity.id == first }, all.filter { $0.activity.id != first })
            // After each event, one activity is interrupted. Meanwhile, the accessory must accept all events of the
            // other activity.
            for count in 1..<one.count {
                let (gate, isThere, isOver, isGone) = (Watched(false), Counter(), Counter(), Counter())
                let isStarted = SystemThread.start(stack: 1 << 20) {
                    for each in one.prefix(count) { accessory.activity(each.activity, did: each.event) }
                    isThere.increment()
                    while !gate.read({ $0 }) { usleep(1_000) }
                    for each in one.dropFirst(count) { accessory.activity(each.activity, did: each.event) }
                    isGone.increment()
                }
                guard isStarted else { throw ConformanceFailure(expected: "a system thread", came: "none") }
                _ = try await bench.filters.becomes { isThere.value > 0 }
                _ = SystemThread.start(stack: 1 << 20) {
                    for each in other { accessory.activity(each.activity, did: each.event) }
                    isOver.increment()
                }
                let isFree = try await bench.filters.becomes { isOver.value > 0 }
                gate.update { $0 = true }
                try bench.filters.expect(
                    isFree,
                    "the events of an activity while another one is at "
                        + RecordingAccessory.name(of: one[count - 1].event), came: "a blocked thread")
                _ = try await bench.filters.becomes { isGone.value > 0 }
            }
        },
        AccessoryDraft("a task that the accessory starts ends after the call") { bench in
            let agent = bench.agent(BenchForwarder(try bench.make().0))
            let trail = try await FilterDraft.followed {
                for scene in BenchScene.allCases where scene != .detached { _ = await scene.play(on: agent) }
            }
            let isGone = try await bench.filters.becomes { trail.mark == nil }
            try bench.filters.expect(isGone, "every task to end", came: "a task that keeps running")
            withExtendedLifetime(agent) {}
        },
    ]

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

extension AccessoryDraft {
    static let memory: [AccessoryDraft] = [
        AccessoryDraft("the accessory requests copies of at most 64 MiB of each body") { bench in
            let limit = try bench.make().0.maximumBodyBytes
            try bench.filters.expect((0...(64 << 20)).contains(limit), "at most 64 MiB", came: "\(limit) bytes")
        },
        AccessoryDraft("the accessory releases each activity after its end") { bench in
            let (accessory, _) = try bench.make()
            try await keepsNone(bench, accessory, BenchForwarder(accessory), "an activity that stays in memory")
        },
        AccessoryDraft("the accessory releases an activity whose end is never reported") { bench in
            let (accessory, _) = try bench.make()
            let forwarder = BenchForwarder(accessory, .withoutEnds)
            try await keepsNone(bench, accessory, forwarder, "an activity still waiting for its end")
        },
        AccessoryDraft("the accessory's memory doesn't grow with finished activities") { bench in
            for scene in [BenchScene.good, .lost, .redirected, .noted, .cancelledOnTheWire, .cached, .checked] {
                let grown = try await growth(bench) { _, agent in _ = await scene.play(on: agent) }
                guard let grown else { continue }
                throw ConformanceFailure(
                    expected: "the same memory after 16,000 activities as after 600",
                    came: "\(grown) bytes more with each (\(scene.rawValue))")
            }
        },
        AccessoryDraft("the accessory's memory for URLs, hosts, labels and bodies is bounded") { bench in
            let filler = String(repeating: "conformance/", count: 40)
            let isLog = try await writesEachCall(bench)
            let grown = try await growth(bench, deducting: isLog) { index, agent in
                let request =
                    switch index % 5 {
                    case 0: BenchRequest(path: "\(index)/\(filler)items")
                    case 1: BenchRequest(path: "https://h\(index).conformance.example/items")
                    case 2: BenchRequest(headers: ["X-Conformance-Trace": "\(index) \(filler)"])
                    case 3: BenchRequest(path: "\(index)/\(filler)redirected")
                    default: BenchRequest(method: .post, body: .text("\(index) \(filler)"))
                    }
                let options = CallOptions(label: index % 5 == 2 ? "label \(index) of \(filler)" : nil)
                _ = try? await agent.send(request, options: options).value.status
            }
            guard let grown else { return }
            throw ConformanceFailure(
                expected: "at most 10,000 entries, or a byte limit", came: "\(grown) bytes more with each activity"
            )
        },
        AccessoryDraft("the accessory doesn't keep itself or its agent alive") { bench in
            let (transport, accessory) = try await released(bench)
            let isGone = try await bench.filters.becomes { transport.value == nil }
            try bench.filters.expect(
                isGone, "the transport to be released", came: "a part of the agent still in memory")
            let isReleased = try await bench.filters.becomes { accessory.value == nil }
            try bench.filters.expect(
                isReleased, "the accessory to be released", came: "a task or timer that keeps it alive")
        },
    ]

    static let writing: [AccessoryDraft] = [
        AccessoryDraft("the accessory's output contains no secret") { bench in
            let (accessory, output) = try bench.make()
            try await playWithSecrets(bench, accessory)
            try check(bench, try await output(), "an output")
        },
        AccessoryDraft("the accessory's description contains no secret") { bench in
            let (accessory, _) = try bench.make()
            try await playWithSecrets(bench, accessory) {
                var dumped = ""
                dump(accessory, to: &dumped)
                try check(bench, "\(accessory) \(String(reflecting: accessory)) \(dumped)", "a description")
            }
        },
    ]

    private static func playWithSecrets(
        _ bench: AccessoryBench, _ accessory: any Accessory, afterEach look: () throws -> Void = {}
    ) async throws {
        let agent = bench.agent(BenchForwarder(accessory))
        let (password, token) = (BenchRequest.secrets[7], BenchRequest.secrets[3])
        let bodies: [RequestBody] = [
            .none, .text("{\"name\":\"a\",\"password\":\"\(password)\"}", contentType: "application/json"),
            .text("name=a&password=\(password)", contentType: "application/x-www-form-urlencoded"),
        ]
        for (method, body) in zip([HTTPMethod.get, .post, .put], bodies) {
            for scene in BenchScene.allCases {
                var request = BenchRequest.secret(method, "items")
                request.headers.set(.cookie, "session=\(token)")
                request.body = body
                _ = await scene.play(on: agent, request)
                try look()
            }
        }
    }

    private static func check(_ bench: AccessoryBench, _ text: String, _ what: String) throws {
        let found = BenchRequest.secrets.filter { text.contains($0) }
        let places = found.compactMap { BenchRequest.secrets.firstIndex(of: $0) }.map { BenchRequest.places[$0] }
        try bench.filters.expect(
            found.isEmpty, "\(what) without secrets",
            came: "\(found.count) secrets: \(places.joined(separator: ", "))")
    }

    private static func keepsNone(
        _ bench: AccessoryBench, _ accessory: any Accessory, _ forwarder: BenchForwarder, _ problem: String
    ) async throws {
        let witness = BenchWitness()
        let agent = bench.agent(forwarder, witness)
        for scene in BenchScene.allCases { _ = await scene.play(on: agent) }
        let isGone = try await bench.filters.becomes { witness.remaining == 0 }
        try bench.filters.expect(isGone, "the activity to end", came: problem)
        withExtendedLifetime((agent, accessory)) {}
    }

    /// Returns whether equal calls add to the output. If they don't, but different calls do, the accessory keeps a
    /// table, and the table needs a bound.
    private static func writesEachCall(_ bench: AccessoryBench) async throws -> Bool {
        let (accessory, output) = try bench.make()
        let agent = bench.agent(accessory)
        var lengths: [Int] = []
        for _ in 0..<2 {
            for _ in 0..<300 { _ = await BenchScene.good.play(on: agent) }
            try await bench.filters.pause()
            lengths.append(try await output().utf8.count)
        }
        return lengths[1] > lengths[0] + 300
    }

    private static func growth(
        _ bench: AccessoryBench, deducting deductsOutput: Bool = true,
        _ call: @escaping @Sendable (Int, NetworkAgent) async -> Void
    ) async throws -> Int? {
        let plain = bench.agent()
        return try await GrowthMeter().growth {
            let (accessory, output) = try bench.make()
            let agent = bench.agent(accessory)
            return GrowthMeter.Subject {
                await call($0, agent)
            } written: {
                if !deductsOutput { return 0 }
                // Only the length of the output is subtracted. A collection of texts needs more memory than this.
                let text = try await output()
                return text.utf8.count * 2 + text.utf8.count { $0 == UInt8(ascii: "\n") } * 128
            }
        } control: {
            await call($0, plain)
        } settle: {
            try await bench.filters.pause()
        }
    }

    private static func released(_ bench: AccessoryBench) async throws -> (Weak, Weak) {
        let (transport, (accessory, _)) = (BenchScene.transport(), try bench.make())
        let agent = bench.agent(transport, BenchForwarder(accessory))
        for scene in BenchScene.allCases { _ = await scene.play(on: agent) }
        let object = type(of: accessory) is AnyClass ? accessory as AnyObject : nil
        return (Weak(transport), Weak(object))
    }
}
