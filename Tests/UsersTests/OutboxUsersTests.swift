import Errand
import ErrandAuthentication
import ErrandEssentials
import ErrandOutbox
import ErrandTesting
import ErrandURLFilters
import Testing

@Suite("Entries of an outbox while users change", .endsInTime, .leakChecked)
struct OutboxUsersTests {
    private let folder = TemporaryDirectory()
    private let service = Service()
    private let time = ManualTimeSource()
    private let refusals = Log<OutboxRefusal.Reason>()

    struct Note: OutboxRequest {
        typealias Output = String
        var text = ""
        var method: HTTPMethod { .post }
        var path: String { "notes/\(text)" }
        var outboxLane: String { text }
    }

    struct Draft: OutboxRequest {
        typealias Output = String
        var text = ""
        var method: HTTPMethod { .put }
        var path: String { "drafts/\(text)" }
        var replacementKey: String? { "draft" }
        func merging(_ older: Draft) -> Draft { Draft(text: older.text + text) }
    }

    private func open(_ agent: NetworkAgent, isSending: Bool = true) async throws -> Outbox {
        var options = OutboxOptions(backoff: Backoff(base: .seconds(1), maximumDelay: .seconds(300), jitter: 0))
        (options.checkInterval, options.allowsSending) = (.seconds(1_000_000), isSending)
        let refusals = refusals
        return try await agent.outbox(
            at: folder.url, sending: [.type("note", Note.self), .type("draft", Draft.self)], options: options,
            time: time
        ) {
            refusals.add($0.reason)
            return $0.standardDecision
        }
    }

    private func session(_ token: BearerToken) -> AuthenticationSession<BearerToken> {
        AuthenticationSession(token) { (_: BearerToken?) in nil }
    }

    private func reached(_ outbox: Outbox, _ isSo: (OutboxState) -> Bool) async throws {
        for await state in outbox.states where isSo(state) { return }
        throw CancellationError()
    }

    private var senders: [String] { service.requests.map { "\(Service.user(of: $0)) \($0.url.lastPathComponent)" } }

    @Test("one user's entries aren't sent as another, and are sent once that user is back", arguments: [true, false])
    func withinAProcess(names: Bool) async throws {
        let ada = BearerToken("ada.1", owner: names ? "ada" : nil)
        let session = session(ada)
        let agent = NetworkAgent(service.transport(), time: time, .authentication(session))
        let outbox = try await open(agent)
        outbox.pause()
        try await outbox.enqueue(Note(text: "1"))
        session.signOut()
        session.signIn(BearerToken("bob.1", owner: names ? "bob" : nil))
        try await outbox.enqueue(Note(text: "2"))
        outbox.resume()
        try await reached(outbox) { $0.entries.map(\.state) == [.stopped] }
        #expect(senders == ["bob 2"] && refusals.all.count == 1)
        session.signOut()
        session.signIn(names ? BearerToken("ada.2", owner: "ada") : ada)
        outbox.resume(lane: "1")
        try await reached(outbox) { $0.entries.isEmpty }
        #expect(senders == ["bob 2", "ada 1"])
        await outbox.close()
    }

    @Test("entries of several processes are kept apart in the same way", arguments: [true, false])
    func acrossProcesses(names: Bool) async throws {
        func agent(_ user: String, _ number: Int) -> NetworkAgent {
            let token = BearerToken("\(user).\(names ? number : 0)", owner: names ? user : nil)
            return NetworkAgent(service.transport(), time: time, .authentication(session(token)))
        }
        let first = try await open(agent("ada", 1), isSending: false)
        try await first.enqueue(Note(text: "1"))
        await first.close()
        let second = try await open(agent("bob", 1))
        try await reached(second) { $0.entries.map(\.state) == [.stopped] }
        #expect(senders == [] && refusals.all == [.userChanged])
        await second.close()
        let third = try await open(agent("ada", 2))
        try await reached(third) { $0.entries.isEmpty }
        #expect(senders == ["ada 1"])
        await third.close()
        let log = try Data(contentsOf: folder.url.appending(path: "outbox.log"))
        #expect(!String(decoding: log, as: UTF8.self).contains("ada"))
    }

    @Test("a token that the session refreshes belongs to the same user")
    func refreshed() async throws {
        let session = session(BearerToken("ada.1"))
        let agent = NetworkAgent(service.transport(), time: time, .authentication(session))
        let outbox = try await open(agent)
        outbox.pause()
        try await outbox.enqueue(Note(text: "1"))
        session.renew(with: BearerToken("ada.2"))
        outbox.resume()
        try await reached(outbox) { $0.entries.isEmpty }
        #expect(senders == ["ada 1"] && refusals.count == 0)
        await outbox.close()
    }

    @Test("a header field that a filter adds identifies a user, too")
    func header() async throws {
        let user = Log<String>()
        user.add("ada")
        let headers = HeaderFilter { _ in
            var headers = HTTPHeaders()
            headers.set("X-Device-Key", user.all.last ?? "", sensitive: true)
            return headers
        }
        let agent = NetworkAgent(service.transport(), time: time, headers)
        let outbox = try await open(agent)
        outbox.pause()
        try await outbox.enqueue(Note(text: "1"))
        user.add("bob")
        outbox.resume()
        try await reached(outbox) { $0.entries.map(\.state) == [.stopped] }
        #expect(senders == [] && refusals.all == [.userChanged])
        user.add("ada")
        outbox.resume(lane: "1")
        try await reached(outbox) { $0.entries.isEmpty }
        #expect(senders == ["ada 1"])
        await outbox.close()
    }

    @Test("if an entry's user was unknown, its first failed attempt determines it")
    func firstAttempt() async throws {
        let user = Log<String>()
        user.add("ada")
        // The filter isn't declared to change requests, so only the sent request shows the credential.
        let adding = ClosureFilter(.hop) { exchange, next in
            var exchange = exchange
            exchange.http.headers[.authorization] = "Key \(user.all.last ?? "")"
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            service.transport { _, number in
                if number == 1 { throw ErrandError(.connectionLost, "once") }
                return nil
            }, time: time, adding)
        let outbox = try await open(agent)
        try await outbox.enqueue(Note(text: "1"))
        try await reached(outbox) { $0.entries.first?.failures == 1 }
        user.add("bob")
        outbox.networkIsBack()
        try await reached(outbox) { $0.entries.map(\.state) == [.stopped] }
        #expect(senders == ["ada 1"] && refusals.all == [.userChanged])
        await outbox.close()
    }

    @Test("a user's entry isn't replaced by another user's entry, or merged with it")
    func replacement() async throws {
        let session = session(BearerToken("ada", owner: "ada"))
        let agent = NetworkAgent(service.transport(), time: time, .authentication(session))
        let outbox = try await open(agent, isSending: false)
        let first = try await outbox.enqueue(Draft(text: "a"))
        #expect(try await outbox.enqueue(Draft(text: "b")) == first)
        session.signIn(BearerToken("bob", owner: "bob"))
        let second = try await outbox.enqueue(Draft(text: "c"))
        #expect(second != first)
        #expect(try await outbox.request(Draft.self, of: first)?.text == "ab")
        #expect(try await outbox.request(Draft.self, of: second)?.text == "c")
        await outbox.close()
    }
}
