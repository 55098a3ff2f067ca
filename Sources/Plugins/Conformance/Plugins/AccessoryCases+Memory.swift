import Errand
import ErrandEssentials
import ErrandTesting

extension AccessoryDraft {
    /// The memory that an accessory keeps.
    static let memory: [AccessoryDraft] = [
        AccessoryDraft("it asks for a bounded copy of bodies") { bench in
            let limit = try bench.make().0.maximumBodyBytes
            try bench.filters.expect((0...(64 << 20)).contains(limit), "64 MiB at most", came: "\(limit) bytes")
        },
        AccessoryDraft("it keeps no activity after its end") { bench in
            let (accessory, _) = try bench.make()
            try await keepsNone(bench, accessory, BenchForwarder(accessory), "an activity that is kept")
        },
        AccessoryDraft("it keeps no activity whose end is missing, and serves the next") { bench in
            let (accessory, _) = try bench.make()
            let forwarder = BenchForwarder(accessory, .withoutEnds)
            try await keepsNone(bench, accessory, forwarder, "an activity that waits for its end")
        },
        AccessoryDraft("it keeps nothing of the activities that are over") { bench in
            for scene in [BenchScene.good, .lost, .redirected, .noted] {
                let grown = try await growth(bench) { _, agent in _ = await scene.play(on: agent) }
                guard let grown else { continue }
                throw ConformanceFailure(
                    expected: "no more memory after 16,000 activities than after 600",
                    came: "\(grown) bytes more with each (\(scene.rawValue))")
            }
        },
        AccessoryDraft("what it keeps for each URL, host, label or body has a bound") { bench in
            let filler = String(repeating: "conformance/", count: 40)
            let grown = try await growth(bench) { index, agent in
                let request =
                    switch index % 4 {
                    case 0: BenchRequest(path: "\(index)/\(filler)items")
                    case 1: BenchRequest(path: "https://h\(index).conformance.example/items")
                    case 2: BenchRequest(headers: ["X-Conformance-Trace": "\(index) \(filler)"])
                    default: BenchRequest(method: .post, body: .text("\(index) \(filler)"))
                    }
                let options = CallOptions(label: index % 4 == 2 ? "label \(index) of \(filler)" : nil)
                _ = try? await agent.send(request, options: options).value.status
            }
            guard let grown else { return }
            throw ConformanceFailure(
                expected: "a bound of ten thousand entries, or of bytes", came: "\(grown) bytes more with each activity"
            )
        },
        AccessoryDraft("agent, transport and accessory go when they are released") { bench in
            let (transport, accessory) = try await released(bench)
            let isGone = try await bench.filters.becomes { transport.value == nil }
            try bench.filters.expect(isGone, "the end of the transport", came: "something of the agent that is kept")
            let isReleased = try await bench.filters.becomes { accessory.value == nil }
            try bench.filters.expect(isReleased, "the end of the accessory", came: "a task or a timer that keeps it")
        },
    ]

    /// The text that it writes, and its descriptions.
    static let writing: [AccessoryDraft] = [
        AccessoryDraft("no secret is in what it writes") { bench in
            let (accessory, output) = try bench.make()
            try await playWithSecrets(bench, accessory)
            try check(bench, try await output(), "an output")
        },
        AccessoryDraft("no secret is in what describes it") { bench in
            let (accessory, _) = try bench.make()
            try await playWithSecrets(bench, accessory) {
                var dumped = ""
                dump(accessory, to: &dumped)
                try check(bench, "\(accessory) \(String(reflecting: accessory)) \(dumped)", "a description")
            }
        },
    ]

    /// Sends calls with secrets in every possible position.
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

    /// Sends requests, and waits until their activities are gone.
    private static func keepsNone(
        _ bench: AccessoryBench, _ accessory: any Accessory, _ forwarder: BenchForwarder, _ problem: String
    ) async throws {
        let witness = BenchWitness()
        let agent = bench.agent(forwarder, witness)
        for scene in BenchScene.allCases { _ = await scene.play(on: agent) }
        let isGone = try await bench.filters.becomes { witness.remaining == 0 }
        try bench.filters.expect(isGone, "the end of the activity", came: problem)
        withExtendedLifetime((agent, accessory)) {}
    }

    /// The bytes that an accessory keeps for each activity, beside the text that it has written; nil if they are
    /// bounded.
    private static func growth(
        _ bench: AccessoryBench, _ call: @escaping @Sendable (Int, NetworkAgent) async -> Void
    ) async throws -> Int? {
        let output = Watched<@Sendable () async throws -> String>({ "" })
        var meter = GrowthMeter()
        // Text that is kept also takes space in a collection.
        meter.written = { _ in
            let text = try await output.read({ $0 })()
            return text.utf8.count * 2 + text.utf8.count { $0 == UInt8(ascii: "\n") } * 128
        }
        let plain = bench.agent()
        return try await meter.growth {
            let (accessory, written) = try bench.make()
            output.update { $0 = written }
            let agent = bench.agent(accessory)
            return { await call($0, agent) }
        } control: {
            await call($0, plain)
        } settle: {
            try await bench.filters.pause()
        }
    }

    /// Uses an agent and releases it.
    private static func released(_ bench: AccessoryBench) async throws -> (Weak, Weak) {
        let (transport, (accessory, _)) = (BenchScene.transport(), try bench.make())
        let agent = bench.agent(transport, BenchForwarder(accessory))
        for scene in BenchScene.allCases { _ = await scene.play(on: agent) }
        let object = type(of: accessory) is AnyClass ? accessory as AnyObject : nil
        return (Weak(transport), Weak(object))
    }
}
