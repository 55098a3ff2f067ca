import Errand
import ErrandAuthentication
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("Refreshing a credential", .endsInTime, .leakChecked) struct RefreshTests {
    @Test("100 requests that meet an expired token at once cause one refresh, and each gets its own response")
    func singleFlight() async throws {
        let gate = Gate()
        let service = Service(waitingFor: gate)
        service.valid = "none"
        let session = AuthenticationSession(BearerToken("old")) { _ in BearerToken(service.refresh()) }
        let agent = NetworkAgent(service.transport, .authentication(session))
        let results = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<100 { group.addTask { (number, try await agent.text("n\(number)")) } }
            try await gate.reached(by: 100)
            gate.open()
            return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
        }
        #expect(results.count == 100 && results.allSatisfy { $0.value == "/n\($0.key)" })
        #expect(service.refreshes == 1 && service.calls.count == 200)
        #expect(session.credential?.token == "t2")
    }

    @Test("accessories can tell a rejected credential from a wait for a new one")
    func notes() async throws {
        let service = Service()
        let session = AuthenticationSession(BearerToken("old")) { _ in BearerToken(service.refresh()) }
        let notes = AuthenticationNotes()
        let agent = NetworkAgent(service.transport, .authentication(session))
        #expect(try await agent.text(options: CallOptions(accessories: [notes])) == "/x")
        #expect(notes.all == [.rejected(status: 401), .waited(.zero)])
    }

    @Test("if an older token is refused, the request is repeated with the current token, without a refresh")
    func lateRefusal() async throws {
        let (gate, slow) = (Gate(), Counter())
        let service = Service()
        let inner = service.transport
        let transport = StubTransport { request in
            // The first response to the slow request is held back; it answers the old token.
            if request.url.path == "/slow", slow.up() == 1 { return .status(401).waiting(for: gate) }
            let response = try await inner.send(request, options: TransportOptions())
            return StubResponse(status: response.status, headers: response.headers, body: response.data)
        }
        let session = AuthenticationSession(BearerToken("old")) { _ in BearerToken(service.refresh()) }
        let agent = NetworkAgent(transport, .authentication(session))
        let late = Task { try await agent.text("slow") }
        try await gate.reached()
        #expect(try await agent.text("quick") == "/quick")
        gate.open()
        #expect(try await late.value == "/slow")
        #expect(service.refreshes == 1)
    }

    @Test("a request that is refused during a refresh throws the refresh's failure, even if the refresh ends at once")
    func endsAfterRefusal() async throws {
        let (second, discard, refresh, runs) = (Gate(), Gate(), Gate(), Counter())
        let text = Data(repeating: 0x61, count: 200_000)
        // The server accepts no token. The second response to the slow request is held back, and is long.
        let slow = Counter()
        let transport = StubTransport { request in
            guard request.url.path == "/slow" else { return .status(401) }
            if slow.up() == 1 { return .status(401) }
            return StubResponse(status: 401, body: text).waiting(for: second)
        }
        let session = AuthenticationSession(BearerToken("t1")) { _ in
            if runs.up() == 1 { return BearerToken("t2") }
            try await refresh.wait()
            throw Broken()
        }
        // Holds the slow request while it discards the response that was refused, until the refresh has failed.
        let staging = ClosureFilter(.hop) { exchange, next in
            if exchange.http.headers[.authorization] == "Bearer t2", exchange.http.url.path == "/slow" {
                exchange.whenAccepted {
                } otherwise: {
                    try? await discard.wait()
                }
            }
            return try await next(exchange)
        }
        let agent = NetworkAgent(transport, .authentication(session), staging)
        let late = Task { await agent.failure("slow") }
        try await second.reached()
        let other = Task { await agent.failure("other") }
        try await refresh.reached()
        second.open()
        try await discard.reached()
        refresh.open()
        #expect((await other.value as? AuthenticationError)?.code == .refreshFailed)
        discard.open()
        let error = await late.value
        #expect((error as? AuthenticationError)?.code == .refreshFailed, "\(String(describing: error))")
        #expect((error as? AuthenticationError)?.response?.status == 401 && runs.value == 2)
    }

    @Test("a failed refresh fails each waiting request once, with a typed error and the response that rejected it")
    func failedRefresh() async throws {
        let (gate, runs) = (Gate(), Counter())
        let service = Service(waitingFor: gate)
        let session = AuthenticationSession(BearerToken("old")) { _ in
            runs.up()
            throw Broken()
        }
        let agent = NetworkAgent(service.transport, .authentication(session))
        let errors = try await withThrowingTaskGroup(of: (any Error)?.self) { group in
            for _ in 0..<100 { group.addTask { await agent.failure() } }
            try await gate.reached(by: 100)
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(runs.value == 1 && errors.count == 100 && service.calls.count == 100)
        for error in errors {
            let error = try #require(error as? AuthenticationError)
            #expect(error.code == .refreshFailed && error.underlying is Broken && error.response?.status == 401)
            #expect(error.description == "refreshFailed: the credential couldn't be refreshed: broken")
        }
        // A new request gets another chance.
        #expect(await agent.failure() is AuthenticationError && runs.value == 2)
        session.signIn(BearerToken("t1"))
        #expect(try await agent.text() == "/x" && runs.value == 2)
    }

    @Test("a refresh survives the cancellation of the request that caused it")
    func cancelledCause() async throws {
        let (reached, proceed) = (Gate(), Gate())
        let service = Service()
        let session = AuthenticationSession(BearerToken("old")) { _ in
            reached.open()
            try await proceed.wait()
            return BearerToken(service.refresh())
        }
        let agent = NetworkAgent(service.transport, .authentication(session))
        let first = Task { try await agent.text("first") }
        try await reached.wait()
        let second = Task { try await agent.text("second") }
        first.cancel()
        let error = await #expect(throws: ErrandError.self) { try await first.value }
        #expect(error?.isCancelled == true)
        proceed.open()
        #expect(try await second.value == "/second")
        #expect(service.refreshes == 1 && session.credential?.token == "t2")
    }

    @Test("a server that refuses everything gets each request twice, without a loop")
    func alwaysRefused() async throws {
        let (runs, sent) = (Counter(), Counter())
        let session = AuthenticationSession(BearerToken("old")) { _ in BearerToken("t\(runs.up())") }
        let transport = StubTransport { _ in
            sent.up()
            return .text("never", status: 401)
        }
        let agent = NetworkAgent(transport, .authentication(session))
        let error = try #require(await agent.failure() as? ErrandError)
        #expect(error.code == .unacceptableStatus && error.response?.status == 401)
        #expect(try error.response?.text() == "never" && runs.value == 1 && sent.value == 2)
    }

    @Test("a refresh that gets a 401 on the same agent fails, and doesn't wait for itself")
    func refusedRefresh() async throws {
        let sent = Mutex<[String]>([])
        let transport = StubTransport { request in
            sent.withLock { $0.append("\(request.url.path) \(request.headers[.authorization] ?? "none")") }
            return .status(401)
        }
        let holder = Mutex<NetworkAgent?>(nil)
        let session = AuthenticationSession(BearerToken("old")) { _ in
            let agent = try holder.withLock { agent in
                guard let agent else { throw Broken() }
                return agent
            }
            return BearerToken(try await agent.text("refresh"))
        }
        let agent = NetworkAgent(transport, .authentication(session))
        holder.withLock { $0 = agent }
        let error = try #require(await agent.failure() as? AuthenticationError)
        #expect((error.underlying as? ErrandError)?.response?.status == 401)
        #expect(sent.withLock { $0 } == ["/x Bearer old", "/refresh none"])
        holder.withLock { $0 = nil }
    }

    @Test("a body that can be sent only once isn't sent again: its request fails, and the next one has the new token")
    func oneTimeBody() async throws {
        let service = Service()
        let session = AuthenticationSession(BearerToken("old")) { _ in BearerToken(service.refresh()) }
        let agent = NetworkAgent(service.transport, .authentication(session))
        let body = RequestBody.stream(HTTPBody(Data("once".utf8)))
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<Void>(.post, "x", body: body))
        }
        #expect(error?.code == .bodyNotReplayable && error?.response?.status == 401 && service.calls.count == 1)
        #expect(try await agent.text() == "/x")
        #expect(service.refreshes == 1)
        let again = RequestBody.stream { HTTPBody(Data("again".utf8)) }
        service.valid = "other"
        try await agent.send(Call<Void>(.post, "y", body: again))
        #expect(service.calls.last?.body.data == Data("again".utf8) && service.refreshes == 2)
    }

    @Test("a handler that takes too long fails the waiting requests, by the agent's clock")
    func timeout() async throws {
        let time = ManualTimeSource()
        let reached = Gate()
        let session = AuthenticationSession(BearerToken("old"), refreshTimeout: .seconds(30)) { _ in
            reached.open()
            try await Task.sleep(for: .seconds(1_000_000))
            return nil
        }
        let agent = NetworkAgent(Service().transport, time: time, .authentication(session))
        let task = Task { await agent.failure() }
        try await reached.wait()
        try await time.waitForSleepers()
        time.advance(by: .seconds(30))
        let error = try #require(await task.value as? AuthenticationError)
        #expect(error.code == .refreshTimedOut && error.isRetryable && error.errorCode == 3)
        #expect(time.sleeperCount == 0)
    }

    @Test("a wait for a refresh ends with the deadline of the request")
    func deadline() async throws {
        let time = ManualTimeSource()
        let (reached, proceed) = (Gate(), Gate())
        let service = Service()
        let session = AuthenticationSession(BearerToken("old")) { _ in
            reached.open()
            try await proceed.wait()
            return BearerToken(service.refresh())
        }
        let agent = NetworkAgent(service.transport, time: time, .authentication(session))
        let task = Task { try await agent.send(Call<String>(.get, "x") { $0.deadline = .seconds(5) }).value }
        try await reached.wait()
        try await time.waitForSleepers(atLeast: 2)
        time.advance(by: .seconds(5))
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.code == .deadlineExceeded)
        proceed.open()
        #expect(try await agent.text() == "/x")
    }

    @Test("the app decides which responses refuse a credential: a code in a body of status 200")
    func ownRefusal() async throws {
        let stub = StubTransport(
            StubRule(
                nil, "/x", headers: [.authorization: "Bearer old"], response: .json(#"{"code":40100}"#)),
            StubRule(nil, "/x", headers: [.authorization: "Bearer new"], response: .json(#"{"code":0}"#)))
        let session = AuthenticationSession(
            BearerToken("old"), isRejection: { $0.data.starts(with: Data(#"{"code":401"#.utf8)) },
            refresh: { _ in BearerToken("new") })
        let agent = NetworkAgent(stub, .authentication(session))
        #expect(try await agent.text() == #"{"code":0}"#)
    }

    @Test("a streamed response that refuses the credential is ended before the request is sent again")
    func streamedRefusal() async throws {
        let cancelled = Counter()
        let transport = StubTransport { request in
            if request.headers[.authorization] == "Bearer new" { return .text("fine") }
            return StubResponse.stream(onCancel: { cancelled.up() }) { Data("no".utf8) }.status(401)
        }
        let session = AuthenticationSession(BearerToken("old")) { _ in BearerToken("new") }
        let agent = NetworkAgent(transport, .authentication(session))
        let body = try await agent.send(Call<HTTPBody>(.get, "x")).value
        #expect(try await body.collect(upTo: 100) == Data("fine".utf8) && cancelled.value == 1)
    }
}
