import Errand
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import Testing

@Suite("Retry", .endsInTime, .leakChecked) struct RetryTests {
    @Test(
        "a call is repeated until it succeeds, its waits double, and accessories see every attempt"
    )
    func repeats() async throws {
        let (time, recording) = (ManualTimeSource(), RecordingAccessory())
        let stub = StubTransport()
        stub.on("/x", response: .status(503), .failure(ErrandError(.connectionLost, "")), .text("third"))
        let agent = NetworkAgent(stub, [.retry(policy())], time, recording)
        let task = agent.sending()
        for wait in [1, 2] {
            try await time.waitForSleepers()
            #expect(time.nextWake == time.now.advanced(by: .seconds(wait)))
            time.advance(by: .seconds(wait))
        }
        #expect(try await task.value == "third")
        let attempts = recording.records().compactMap { record in
            if case .sending(_, let position) = record.event { position.attempt } else { nil }
        }
        #expect(attempts == [1, 2, 3] && recording.problems().isEmpty)
        let notes = recording.records().compactMap { record in
            if case .note(let note) = record.event { note.details as? RetryNote } else { nil }
        }
        #expect(notes.map(\.attempt) == [2, 3] && notes.map(\.wait) == [.seconds(1), .seconds(2)])
    }

    @Test("the caller gets the last failure of a call, with its response")
    func exhausted() async throws {
        let stub = StubTransport(.text("down").status(503))
        let agent = NetworkAgent(stub, [.retry(policy { $0.backoff = .none })])
        let error = await #expect(throws: ErrandError.self) { try await agent.send(Get()) }
        #expect(error?.response?.status == 503 && error?.response?.data == Data("down".utf8))
        #expect(stub.received.count == 3)
    }

    @Test(
        "a request is repeated only if that is safe and useful",
        arguments: [
            (.get, .status(503), 3), (.head, .status(500), 3), (.put, .status(502), 3), (.delete, .status(504), 3),
            (.get, .status(408), 3), (.get, .status(425), 3), (.get, .status(429), 3),
            (.get, .status(404), 1), (.get, .status(501), 1), (.get, .status(401), 1), (.get, .status(200), 1),
            (.post, .status(503), 1), (.patch, .status(503), 1),
            (.get, .failure(ErrandError(.timedOut, "")), 3), (.get, .failure(ErrandError(.truncated, "")), 3),
            (.get, .failure(ErrandError(.insecureConnection, "")), 1), (.get, .failure(CancellationError()), 1),
            (.post, .failure(ErrandError(.connectionLost, "")), 1),
            // The request wasn't sent.
            (.post, .failure(ErrandError(.cannotConnect, "")), 3),
            (.post, .failure(ErrandError(.nameLookupFailed, "")), 3),
        ] as [(HTTPMethod, StubResponse, Int)])
    func safety(method: HTTPMethod, response: StubResponse, expected: Int) async {
        let stub = StubTransport(response)
        let agent = NetworkAgent(stub, [.retry(policy { $0.backoff = .none })])
        _ = try? await agent.send(Get { $0.method = method })
        #expect(stub.received.count == expected)
    }

    @Test("a status that the request accepts isn't a failure")
    func accepted() async throws {
        let stub = StubTransport(.text("down").status(503))
        let agent = NetworkAgent(stub, [.retry(policy { $0.backoff = .none })])
        #expect(try await agent.send(Get { $0.acceptableStatuses = .any }).value == "down")
        #expect(stub.received.count == 1)
    }

    @Test("a body that can be sent only once isn't sent again, a body that can be reopened is")
    func bodies() async throws {
        let stub = StubTransport(.status(503))
        let agent = NetworkAgent(stub, [.retry(policy { $0.backoff = .none })])
        let once = Get { ($0.method, $0.body) = (.put, .stream(HTTPBody(Data("a".utf8)))) }
        #expect(await failure { try await agent.send(once) } == "503")
        #expect(stub.received.count == 1)
        let anew = Get { ($0.method, $0.body) = (.put, .stream { HTTPBody { nil } }) }
        _ = try? await agent.send(anew)
        #expect(stub.received.count == 4)
        // Such a body isn't sent again even if the request is marked as repeatable.
        _ = try? await agent.send(once, options: .retry(policy { $0.backoff = .none }.repeatable))
        #expect(stub.received.count <= 5)
    }

    @Test("an explicit mark allows or forbids the repetition of any method")
    func marks() async {
        let stub = StubTransport(.status(503))
        let agent = NetworkAgent(stub, [.retry(policy { $0.backoff = .none })])
        let post = Get { $0.method = .post }
        _ = try? await agent.send(post, options: .retry(policy { $0.backoff = .none }.repeatable))
        #expect(stub.received.count == 3)
        _ = try? await agent.send(Get(), options: .retry(policy { $0.isRepeatable = false }))
        #expect(stub.received.count == 4)
        _ = try? await agent.send(Get(), options: .retry(.off))
        #expect(stub.received.count == 5)
    }

    @Test("all attempts of a call have the same Idempotency-Key, each call has its own, and it's sent only if needed")
    func idempotencyKey() async throws {
        let stub = StubTransport(.status(503))
        let agent = NetworkAgent(stub, [.retry(policy { $0.backoff = .none }.withIdempotencyKey)])
        for method in [HTTPMethod.post, .post, .get] { _ = try? await agent.send(Get { $0.method = method }) }
        let keys = stub.received.map { $0.headers["Idempotency-Key"] }
        #expect(keys.count == 9 && Set(keys[0..<3]).count == 1 && Set(keys[3..<6]).count == 1)
        #expect(keys[0] != keys[3] && keys[6...].allSatisfy { $0 == nil })
        let key = try #require(keys[0])
        #expect(key.hasPrefix("\"") && key.hasSuffix("\"") && key.count == 38)
        // The request's own key is kept, and it counts as a mark.
        let own = Get { ($0.method, $0.headers) = (.post, ["Idempotency-Key": "mine"]) }
        _ = try? await agent.send(own, options: .retry(policy { $0.backoff = .none }))
        #expect(stub.received.suffix(3).allSatisfy { $0.headers["Idempotency-Key"] == "mine" })
    }

    @Test("a wait that would pass the deadline isn't started")
    func deadline() async throws {
        let (time, notes) = (ManualTimeSource(), Notes())
        let stub = StubTransport(.status(503))
        let agent = NetworkAgent(stub, [.retry(policy(9))], time, notes)
        // Delays of 1 + 2 seconds fit, 4 more don't.
        let task = agent.sending(Get { $0.deadline = .seconds(7) })
        for wait in [1, 2] {
            try await eventually { time.nextWake == time.now.advanced(by: .seconds(wait)) }
            time.advance(by: .seconds(wait))
        }
        #expect(await outcome(task) == "503")
        #expect(stub.received.count == 3 && notes.count("retry", "deadline") == 1)
    }

    @Test("a cancellation ends every wait at once, and no request is sent afterwards", arguments: [1, 2, 3])
    func cancellation(attempts: Int) async throws {
        let time = ManualTimeSource()
        let stub = StubTransport(.status(503))
        let agent = NetworkAgent(stub, [.retry(policy(9))], time)
        let handle = agent.start(Get())
        for number in 1..<attempts {
            try await eventually { time.sleeperCount == 1 && stub.received.count == number }
            time.advance(by: .seconds(1 << (number - 1)))
        }
        try await eventually { time.sleeperCount == 1 && stub.received.count == attempts }
        handle.cancel()
        await #expect(throws: ErrandError.self) { try await handle.value }
        #expect(handle.activity.isCancelled && time.sleeperCount == 0 && stub.received.count == attempts)
    }

    @Test("a cancelled request isn't sent again, even by a policy that repeats every error")
    func cancelledAttempt() async throws {
        let (arrived, gate) = (Log<Int>(), Gate())
        let wire = Wire { number, request, _ in
            arrived.add(number)
            try await gate.wait()
            return response(request)
        }
        let everything = policy(9) {
            $0.backoff = .none
            $0.repeatsError = { _ in true }
        }
        let agent = NetworkAgent(wire, [.retry(everything)])
        let handle = agent.start(Get())
        try await eventually { arrived.count == 1 }
        handle.cancel()
        await #expect(throws: ErrandError.self) { try await handle.value }
        #expect(handle.activity.isCancelled && arrived.count == 1)
    }

    @Test("a failed check is repeated if the policy allows it, and the check runs on the last response")
    func checks() async throws {
        let stub = StubTransport()
        stub.on("/x", response: .text("bad"), .text("good"))
        let check = ResponseCheck("good") { response in
            if response.data == Data("bad".utf8) { throw ErrandError(.checkFailed, "bad", response: response) }
        }
        let agent = NetworkAgent(
            stub,
            [
                .retry(
                    policy {
                        $0.backoff = .none
                        $0.repeatsError = { ($0 as? ErrandError)?.code == .checkFailed }
                    })
            ])
        #expect(try await agent.send(Get { $0.checks = [check] }).value == "good")
    }

    @Test("of two retries in one call, only the inner retry works")
    func nested() async {
        let stub = StubTransport(.status(503))
        let agent = NetworkAgent(stub, [.retry(policy { $0.backoff = .none })])
        _ = try? await agent.send(Get { $0.filters = [.retry(policy(4) { $0.backoff = .none })] })
        #expect(stub.received.count == 4)
    }

    private struct Order: RetryableRequest {
        typealias Output = String
        var path: String { "order" }
        var method: HTTPMethod { .post }
        var retryPolicy: RetryPolicy {
            policy(5) { $0.backoff = .none }.withIdempotencyKey
        }
    }

    @Test(
        "a request's own retry policy applies, with or without the agent's retry, and only one of them works",
        arguments: [0, 1])
    func requests(agents: Int) async {
        let stub = StubTransport(.status(503))
        let agent = NetworkAgent(stub, agents == 0 ? [] : [.retry(policy { $0.backoff = .none })])
        _ = try? await agent.send(Order())
        #expect(stub.received.count == 5 && Set(stub.received.map { $0.headers["Idempotency-Key"] }).count == 1)
        _ = try? await agent.send(Order(), options: .retry(policy(2) { $0.backoff = .none }.repeatable))
        #expect(stub.received.count == 7)
    }

    @Test("the body of a discarded response is released before the wait")
    func streams() async throws {
        let time = ManualTimeSource()
        let cancelled = Log<Int>()
        let wire = Wire { number, request, _ in
            let body = HTTPBody(cancel: { cancelled.add(number) }) { nil }
            return HTTPResponse(to: request, status: number < 3 ? 503 : 200, body: body)
        }
        let agent = NetworkAgent(wire, [.retry(policy())], time)
        let task = agent.sending(Get { $0.delivery = .stream })
        for wait in [1, 2] {
            try await time.waitForSleepers()
            #expect(cancelled.all == Array(1...wait))
            time.advance(by: .seconds(wait))
        }
        _ = await task.result
    }
}
