import Errand
import ErrandEssentials

extension AccessoryDraft {
    /// Requests that succeed, fail and are refused.
    private static let transport: @Sendable () -> BenchTransport = {
        BenchTransport { request, _ in
            if request.url.path.hasSuffix("lost") { throw ErrandError(.connectionLost, "cut") }
            return .text("ok", status: request.url.path.hasSuffix("refused") ? 403 : 200, for: request)
        }
    }

    /// How a call ends, in a word.
    private static func end(_ path: String, on agent: NetworkAgent) async -> String {
        do {
            return "\(try await agent.send(BenchRequest(path: path), options: CallOptions()).value.status)"
        } catch {
            return (error as? ErrandError)?.code.description ?? "\(type(of: error))"
        }
    }

    /// Sends `count` requests at the same time, and returns how they ended.
    private static func ends(of count: Int, on agents: [NetworkAgent]) async -> [String] {
        await withTaskGroup { group in
            for index in 0..<count {
                group.addTask { await end("items/\(index)", on: agents[index % agents.count]) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    static let all: [AccessoryDraft] = [
        AccessoryDraft("every call ends as it does without it") { bench in
            let (accessory, _) = try bench.make()
            let (observed, plain) = (bench.agent(transport(), accessory), bench.agent(transport()))
            for path in ["items", "lost", "refused"] {
                let (came, expected) = (await end(path, on: observed), await end(path, on: plain))
                try bench.filters.equal(came, expected, "the end of a call")
            }
        },
        AccessoryDraft("it keeps up with hundreds of activities of several agents") { bench in
            let (accessory, _) = try bench.make()
            let agents = [bench.agent(transport(), accessory), bench.agent(transport(), accessory)]
            let ends = await ends(of: 200, on: agents)
            let wrong = ends.filter { $0 != "200" }
            try bench.filters.expect(
                wrong.isEmpty, "200 responses", came: "\(wrong.count) other ends, such as \(wrong.first ?? "")")
        },
        AccessoryDraft("it receives events on many threads at the same time") { bench in
            let (accessory, _) = try bench.make()
            let forwarder = BenchForwarder(accessory, keepsEvents: true)
            let agent = bench.agent(transport(), forwarder)
            for _ in 0..<3 { for path in ["items", "lost", "refused"] { _ = await end(path, on: agent) } }
            // Each activity's events stay in order; those of several meet.
            let activities = Dictionary(grouping: forwarder.events) { $0.activity.id }.values
            await withTaskGroup { group in
                for events in activities {
                    group.addTask {
                        for _ in 0..<50 {
                            for each in events { accessory.activity(each.activity, did: each.event) }
                        }
                    }
                }
            }
            try bench.filters.equal(await end("items", on: agent), "200", "the end of a call afterwards")
        },
        AccessoryDraft("it does not block the thread of an event") { bench in
            let (accessory, _) = try bench.make()
            let forwarder = BenchForwarder(accessory)
            let agent = bench.agent(transport(), forwarder)
            for _ in 0..<25 { for path in ["items", "lost"] { _ = await end(path, on: agent) } }
            guard let worst = forwarder.worst else { return }
            try bench.filters.expect(
                worst.median < .microseconds(800), "less than 0.8 ms of waiting in each event",
                came: "\(worst.median) in \(worst.name)")
        },
        AccessoryDraft("it asks for a bounded copy of bodies") { bench in
            let limit = try bench.make().0.bodyByteLimit
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
        AccessoryDraft("it survives an end that comes twice") { bench in
            let (accessory, _) = try bench.make()
            let agent = bench.agent(transport(), BenchForwarder(accessory, .endsTwice))
            for path in ["items", "lost", "items"] {
                let expected = path == "lost" ? "connectionLost" : "200"
                try bench.filters.equal(await end(path, on: agent), expected, "the end of a call")
            }
        },
        AccessoryDraft("a task that it starts ends after the call") { bench in
            let agent = bench.agent(transport(), try bench.make().0)
            let trail = try await FilterDraft.followed {
                for path in ["items", "lost"] { _ = await end(path, on: agent) }
            }
            let isGone = try await bench.filters.becomes { trail.mark == nil }
            try bench.filters.expect(isGone, "the end of every task", came: "a task that goes on")
            withExtendedLifetime(agent) {}
        },
        AccessoryDraft("agent, transport and accessory go when they are released") { bench in
            let (transport, accessory) = try await released(bench)
            let isGone = try await bench.filters.becomes { transport.value == nil }
            try bench.filters.expect(isGone, "the end of the transport", came: "something of the agent that is kept")
            let isReleased = try await bench.filters.becomes { accessory.value == nil }
            try bench.filters.expect(isReleased, "the end of the accessory", came: "a task or a timer that keeps it")
        },
        AccessoryDraft("no secret is in what it writes") { bench in
            let (accessory, output) = try bench.make()
            let transport = BenchTransport { request, _ in
                if request.method == .put { throw ErrandError(.connectionLost, "cut") }
                let cookie: HTTPHeaders = [.setCookie: "session=\(BenchRequest.secrets[2])"]
                return HTTPResponse(to: request, status: request.method == .post ? 403 : 200, headers: cookie)
            }
            let agent = bench.agent(transport, accessory)
            for method in [HTTPMethod.get, .post, .put] {
                _ = try? await agent.send(BenchRequest.secret(method), options: CallOptions()).value.status
            }
            let text = try await output()
            let found = BenchRequest.secrets.filter { text.contains($0) }
            try bench.filters.expect(found.isEmpty, "an output without secrets", came: "\(found.count) secrets")
        },
    ]

    /// Sends requests, and waits until their activities are gone.
    private static func keepsNone(
        _ bench: AccessoryBench, _ accessory: any Accessory, _ forwarder: BenchForwarder, _ problem: String
    ) async throws {
        let witness = BenchWitness()
        let transport = transport()
        let agent = bench.agent(transport, forwarder, witness)
        for path in ["items", "lost", "items"] { _ = await end(path, on: agent) }
        transport.forget()
        let isGone = try await bench.filters.becomes { witness.remaining == 0 }
        try bench.filters.expect(isGone, "the end of the activity", came: problem)
        withExtendedLifetime((agent, accessory)) {}
    }

    /// Uses an agent and lets go of it.
    private static func released(_ bench: AccessoryBench) async throws -> (Weak, Weak) {
        let (transport, (accessory, _)) = (transport(), try bench.make())
        let agent = bench.agent(transport, accessory)
        for path in ["items", "lost"] { _ = await end(path, on: agent) }
        let object = type(of: accessory) is AnyClass ? accessory as AnyObject : nil
        return (Weak(transport), Weak(object))
    }
}
