import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Shows the harm that each wrong form does to an app, without the suites.
@Suite("Wider mistakes in filters and accessories do harm", .endsInTime)
struct WiderHarmTests {
    private func agent(
        _ transport: StubTransport, _ filters: any Filter..., accessories: [any Accessory] = [],
        time: some TimeSource = SystemTimeSource()
    ) -> NetworkAgent {
        NetworkAgent(
            baseURL: "https://api.example.com", transport: transport, filters: filters, accessories: accessories,
            time: time)
    }

    @Test(
        "a stranger receives the key",
        arguments: [
            (DomainKey.Form.withoutDot, "https://evilservice.test/a"),
            (.beginning, "https://api.service.test.evil.example/a"), (.anyScheme, "http://api.service.test/a"),
        ])
    func keys(form: DomainKey.Form, url: String) async throws {
        for (form, isSent) in [(form, true), (.right, false)] {
            let stub = StubTransport(.status(200))
            try await agent(stub, DomainKey(form: form)).send(Ask(path: url))
            #expect(stub.received[0].headers.contains("X-Service-Key") == isSent)
        }
    }

    @Test("a search for a host isn't sent")
    func demo() async throws {
        for comparesHost in [false, true] {
            let stub = StubTransport(.status(200))
            try await agent(stub, DemoService(comparesHost: comparesHost)).send(Ask(path: "find?q=demo.service.test"))
            #expect(stub.received.count == (comparesHost ? 1 : 0))
        }
    }

    @Test("an account reads another's invoices", arguments: [AccountField.Form.undeclared, .right])
    func accounts(form: AccountField.Form) async throws {
        let store = MemoryStore()
        let stub = StubTransport { request in .text(request.headers["X-Account"] ?? "") }
        var texts: [String] = []
        for account in ["one", "two"] {
            let cache = ResponseCache(store, policy: .timed(.seconds(600)))
            let agent = agent(stub, AccountField(form: form, account: account), cache)
            texts.append(String(decoding: try await agent.send(Ask()).value, as: UTF8.self))
            await cache.flush()
        }
        #expect(texts == (form == .right ? ["one", "two"] : ["one", "one"]))
    }

    @Test("an account gets another's copy")
    func copies() async throws {
        for separates in [false, true] {
            let copies = CommonCopies()
            let stub = StubTransport()
            stub.on("/a", response: .text("one"), .text("two"))
            var texts: [String] = []
            for account in ["one", "two"] {
                let filter = AccountCopies(separatesAccounts: separates, account: account, copies: copies)
                texts.append(String(decoding: try await agent(stub, filter).send(Ask()).value, as: UTF8.self))
            }
            #expect(texts == (separates ? ["one", "two"] : ["one", "one"]))
        }
    }

    @Test("a call belongs to two arms of an experiment")
    func arms() async throws {
        for (form, count) in [(ArmField.Form.eachRequest, 2), (.right, 1)] {
            let stub = StubTransport()
            stub.on("/a", response: .redirect(to: "/b"))
            stub.on("/b", response: .text("ok"))
            try await agent(stub, ArmField(form)).send(Ask())
            #expect(Set(stub.received.map { $0.headers["X-Arm"] }).count == count)
        }
    }

    @Test("a server refuses a nonce that it has already seen")
    func nonces() async throws {
        for (form, count) in [(LogFields.Form.staleNonce, 1), (.right, 2)] {
            let stub = StubTransport()
            stub.on("/a", response: .redirect(to: "/b"))
            stub.on("/b", response: .text("ok"))
            try await agent(stub, LogFields(form)).send(Ask())
            #expect(Set(stub.received.map { $0.headers["X-Nonce"] }).count == count)
        }
    }

    @Test("the work for an unfinished report is committed, or the work of another filter lost")
    func work() async throws {
        for (form, expected) in [
            (ReadyPolls.Form.keepsWork, ["outer", "202", "200"]), (.discardsAllWork, ["200"]),
            (.right, ["outer", "200"]),
        ] {
            let time = ManualTimeSource()
            let committed = Log<String>()
            let stub = StubTransport()
            stub.on("/a", response: .status(202), .status(200))
            let outer = ClosureFilter { exchange, next in
                exchange.whenAccepted { committed.add("outer") }
                return try await next(exchange)
            }
            let inner = ClosureFilter { exchange, next in
                let response = try await next(exchange)
                exchange.whenAccepted { committed.add("\(response.status)") }
                return response
            }
            async let response = agent(stub, outer, ReadyPolls(form: form), inner, time: time).send(Ask())
            try await time.waitForSleepers()
            time.advance(by: .seconds(1))
            _ = try await response
            #expect(committed.all == expected)
        }
    }

    @Test("a photo isn't sent")
    func bodies() async throws {
        for form in [BodyWeight.Form.readsTwice, .right, .counts] {
            let stub = StubTransport(.status(200))
            let isRead = Atomic(false)
            let body = HTTPBody(length: 5) {
                isRead.exchange(true, ordering: .relaxed) ? nil : Data("photo".utf8)
            }
            let ask = Ask(method: .post, body: .stream(body))
            let code = await code { try await agent(stub, BodyWeight(form: form)).send(ask) }
            #expect(code == (form == .readsTwice ? .bodyNotReplayable : nil))
        }
    }

    @Test("an order that failed can't be sent again")
    func orders() async throws {
        for form in [OrderGuard.Form.forgetsSuccesses, .right] {
            let stub = StubTransport()
            stub.on("/a", response: .failure(ErrandError(.connectionLost, "lost")), .status(200))
            let agent = agent(stub, OrderGuard(form))
            let order = Ask(method: .post, body: .text("tea"))
            _ = try? await agent.send(order)
            if form == .right {
                try await agent.send(order)
            } else {
                await #expect(throws: DoubleOrder.self) { try await agent.send(order) }
            }
        }
    }

    @Test("calls that were cancelled fill a room")
    func room() async throws {
        for countsDown in [false, true] {
            let gate = Gate()
            let room = WaitingRoom(countsDown: countsDown)
            let agent = agent(StubTransport(StubResponse.status(200).waiting(for: gate)), room)
            let running = (0..<4).map { _ in agent.start(Ask()) }
            try await gate.reached(by: 4)
            for _ in 0..<2 {
                let waiting = (0..<500).map { _ in agent.start(Ask()) }
                while room.waitingCount < 500 { await Task.yield() }
                for each in waiting { each.cancel() }
                for each in waiting { _ = await each.result }
            }
            let last = agent.start(Ask())
            if countsDown {
                while room.waitingCount < 1 { await Task.yield() }
                gate.open()
                _ = try await last.value
            } else {
                await #expect(throws: FullRoom.self) { try await last.value }
                gate.open()
            }
            for each in running { _ = await each.result }
        }
    }

    @Test("a redirect leads to a path with the country twice, or a query with the version twice")
    func redirects() async throws {
        func last(_ filter: any Filter) async throws -> String {
            let stub = StubTransport { request in
                let url = request.urlText
                return url.contains("there") ? .status(200) : .redirect(to: url.replacing("/start", with: "/there"))
            }
            try await agent(stub, filter).send(Ask(path: "start"))
            return stub.received[1].urlText
        }
        #expect(try await last(CountryPath(form: .everyHop)) == "https://api.example.com/de/de/there")
        for form in [CountryPath.Form.right, .looks] {
            #expect(try await last(CountryPath(form: form)) == "https://api.example.com/de/there")
        }
        for (replaces, count) in [(false, 2), (true, 1)] {
            let url = try await last(VersionItem(replaces: replaces))
            #expect(url.ranges(of: "app-version=").count == count)
        }
    }

    @Test("a text names the status of another call")
    func texts() async throws {
        for (form, text) in [
            (FailureTexts.Form.oneForAll, "The server answered 404."), (.right, "The server didn't answer."),
        ] {
            let (stub, gate, texts) = (StubTransport(), Gate(), FailureTexts(form))
            stub.on("/slow") { _ in
                try await gate.wait()
                throw ErrandError(.cannotConnect, "down")
            }
            stub.on("/a", response: .status(404))
            let agent = agent(stub, accessories: [texts])
            let slow = agent.start(Ask(path: "slow"))
            try await gate.reached()
            try await agent.send(Ask())
            gate.open()
            _ = await slow.result
            #expect(texts.text == text)
        }
    }

    @Test("the bytes of an attempt are missing")
    func sums() async throws {
        for (looks, sum) in [(false, 1_000), (true, 2_000)] as [(Bool, Int64)] {
            let progress = TransportEvent.progress(TransferProgress(received: 1_000))
            let stub = StubTransport()
            stub.on(
                "/a", response: .failure(ErrandError(.connectionLost, "cable")).reporting(progress),
                .status(200).reporting(progress))
            let again = ClosureFilter { exchange, next in
                do { return try await next(exchange) } catch { return try await next(exchange) }
            }
            let meter = TransferSum(looksAtTransfer: looks)
            try await agent(stub, again, accessories: [meter]).send(Ask())
            #expect(meter.sum == sum)
        }
    }
}
