import Errand
import ErrandEssentials
import ErrandOutbox
import ErrandTesting
import Synchronization
import Testing

@Suite("The outbox", .endsInTime, .leakChecked) struct OutboxTests {
    private let desk = Desk()

    @Test("requests are sent in order, each with its own key, and each response is delivered")
    func order() async throws {
        let outbox = try await desk.open()
        for number in 0..<20 { try await outbox.enqueue(Note(number: number)) }
        try await outbox.isEmpty()
        #expect(desk.paths == (0..<20).map { "notes/\($0)" })
        #expect(desk.delivered.all == (0..<20).map { "notes/\($0)" })
        #expect(Set(desk.keys.all).count == 20 && desk.keys.all.allSatisfy { $0.count == 38 && $0.hasPrefix("\"") })
        await outbox.close()
    }

    @Test("entries are sent after the next start, in the same order")
    func restart() async throws {
        let first = try await desk.enqueueOnly()
        var ids: [OutboxEntry.ID] = []
        for number in 0..<5 { ids.append(try await first.enqueue(Note(number: number))) }
        #expect(ids == ids.sorted() && Set(ids).count == 5)
        let keys = first.state.entries.map { "\"\($0.idempotencyKey)\"" }
        await first.close()
        #expect(desk.paths == [])
        let second = try await desk.open()
        try await second.isEmpty()
        #expect(desk.paths == (0..<5).map { "notes/\($0)" } && desk.keys.all == keys)
        #expect(try await second.enqueue(Note(number: 9)) > ids[4], "no number is used twice")
        await second.close()
    }

    @Test("lanes are sent concurrently, up to the limit, and a waiting lane doesn't delay the others")
    func lanes() async throws {
        let gate = Gate()
        let desk = Desk { path in
            if path == "notes/0" { try await gate.wait() }
            return .text(path)
        }
        let outbox = try await desk.open()
        for number in 0..<3 { try await outbox.enqueue(Note(lane: "slow", number: number)) }
        for number in 10..<13 { try await outbox.enqueue(Note(lane: "fast", number: number)) }
        try await outbox.reached { $0.entries.count == 3 }
        #expect(desk.paths.filter { $0 != "notes/0" } == (10..<13).map { "notes/\($0)" })
        gate.open()
        try await outbox.isEmpty()
        #expect(desk.paths.suffix(2) == ["notes/1", "notes/2"])
        await outbox.close()
    }

    @Test("no more lanes than the limit are sent at once")
    func concurrency() async throws {
        let (gate, running) = (Gate(), Log<Int>())
        let desk = Desk { path in
            running.add(1)
            try await gate.wait()
            return .text(path)
        }
        var options = Desk.exact
        options.maximumConcurrent = 2
        let outbox = try await desk.open(options: options)
        for number in 0..<6 { try await outbox.enqueue(Note(lane: "\(number)", number: number)) }
        try await gate.reached(by: 2)
        #expect(running.count == 2 && outbox.state.entries.filter { $0.state == .sending }.count == 2)
        gate.open()
        try await outbox.isEmpty()
        #expect(running.count == 6)
        await outbox.close()
    }

    @Test("a temporary failure waits for the backoff, keeps its key, and only delays its lane")
    func backoff() async throws {
        let failures = Counter()
        let desk = Desk { path in
            if path == "notes/1", failures.increment() < 3 { return .status(503) }
            return .text(path)
        }
        let outbox = try await desk.open()
        try await outbox.enqueue(Note(lane: "a", number: 1))
        try await outbox.enqueue(Note(lane: "a", number: 2))
        try await outbox.enqueue(Note(lane: "b", number: 3))
        try await outbox.reached { $0.entries.count == 2 && $0.entries[0].failures == 1 }
        guard case .delayed(let end) = outbox.state.entries[0].state else {
            Issue.record("\(outbox.state.entries)")
            return
        }
        #expect(end == desk.time.now.advanced(by: .seconds(1)) && outbox.state.entries[0].lastError != nil)
        desk.time.advance(by: .seconds(1))
        try await outbox.reached { $0.entries.first?.failures == 2 }
        desk.time.advance(by: .seconds(2))
        try await outbox.isEmpty()
        #expect(desk.paths.filter { $0 != "notes/3" } == ["notes/1", "notes/1", "notes/1", "notes/2"])
        let keys = zip(desk.paths, desk.keys.all).filter { $0.0 == "notes/1" }.map(\.1)
        #expect(Set(keys).count == 1 && desk.refusals.count == 0)
        await outbox.close()
    }

    @Test("a server's Retry-After is obeyed")
    func retryAfter() async throws {
        let failures = Counter()
        let desk = Desk { path in
            failures.increment() == 1 ? .status(429, headers: ["Retry-After": "77"]) : .text(path)
        }
        let outbox = try await desk.open()
        try await outbox.enqueue(Note(number: 1))
        try await outbox.reached { $0.entries.first?.failures == 1 }
        guard case .delayed(let end)? = outbox.state.entries.first?.state else {
            Issue.record("\(outbox.state.entries)")
            return
        }
        #expect(end == desk.time.now.advanced(by: .seconds(77)))
        desk.time.advance(by: .seconds(77))
        try await outbox.isEmpty()
        await outbox.close()
    }

    @Test("without a network, only one entry is tried, and all entries are sent when the network returns")
    func offline() async throws {
        let online = Gate()
        let desk = Desk { path in
            if !online.isOpen { throw ErrandError(.cannotConnect, "no network") }
            return .text(path)
        }
        var options = Desk.exact
        options.maximumConcurrent = 1
        let outbox = try await desk.open(options: options)
        for number in 0..<50 { try await outbox.enqueue(Note(lane: "\(number)", number: number)) }
        try await outbox.reached { $0.entries.contains { $0.failures == 1 } }
        #expect(desk.paths.count == 1)
        desk.time.advance(by: .seconds(1))
        try await desk.received.wait { $0.count == 2 }
        try await outbox.reached { !$0.entries.contains { $0.state == .sending } }
        #expect(desk.paths.count == 2, "one in each wait, however many lanes")
        online.open()
        outbox.networkIsBack()
        try await outbox.isEmpty()
        #expect(Set(desk.paths).count == 50)
        await outbox.close()
    }

    @Test("a refused request stops its lane, which continues when the app resumes it")
    func stop() async throws {
        let allowed = Gate()
        let desk = Desk { path in path == "notes/1" && !allowed.isOpen ? .status(422) : .text(path) }
        let outbox = try await desk.open()
        try await outbox.enqueue(Note(lane: "a", number: 1))
        try await outbox.enqueue(Note(lane: "a", number: 2))
        try await outbox.enqueue(Note(lane: "b", number: 3))
        try await outbox.reached { $0.entries.map(\.state) == [.stopped, .waiting] }
        let refusal = try #require(desk.refusals.all.first)
        #expect(refusal.reason == .failed && refusal.response?.status == 422)
        #expect((refusal.request as? Note)?.number == 1 && refusal.entry.name == "note")
        outbox.networkIsBack()
        allowed.open()
        outbox.resume(lane: "a")
        try await outbox.isEmpty()
        #expect(desk.paths.filter { $0 != "notes/3" } == ["notes/1", "notes/1", "notes/2"])
        await outbox.close()
    }

    @Test("a handler can drop, edit and repeat entries")
    func decisions() async throws {
        let again = Counter()
        let desk = Desk { path in
            switch path {
            case "notes/1", "notes/2": .status(400)
            case "notes/3": again.increment() == 1 ? .status(404) : .text(path)
            default: .text(path)
            }
        }
        let outbox = try await desk.open { refusal in
            switch (refusal.request as? Note)?.number {
            case 1: .drop
            case 2: .edit(Note(number: 20))
            default: .retry()
            }
        }
        for number in 1...4 { try await outbox.enqueue(Note(number: number)) }
        try await outbox.reached { $0.entries.first?.failures == 1 }
        desk.time.advance(by: .seconds(1))
        try await outbox.isEmpty()
        #expect(desk.paths == ["notes/1", "notes/2", "notes/20", "notes/3", "notes/3", "notes/4"])
        #expect(desk.keys.all[1] != desk.keys.all[2], "an edited request is another one")
        #expect(desk.keys.all[3] == desk.keys.all[4])
        await outbox.close()
    }

    @Test("the last draft replaces the first in its place, unless that was sent")
    func drafts() async throws {
        let outbox = try await desk.enqueueOnly()
        let first = try await outbox.enqueue(Draft(text: "a"))
        try await outbox.enqueue(Note(number: 1))
        let second = try await outbox.enqueue(Draft(text: "b"))
        #expect(first == second && outbox.state.entries.count == 2)
        #expect(try await outbox.request(Draft.self, of: first)?.text == "b")
        #expect(try await outbox.request(Note.self, of: first) == nil)
        await outbox.close()

        let gate = Gate()
        let other = Desk { path in
            if path == "draft/c" { try await gate.wait() }
            return .text(path)
        }
        let sending = try await other.open()
        let third = try await sending.enqueue(Draft(text: "c"))
        try await gate.reached()
        let fourth = try await sending.enqueue(Draft(text: "d"))
        let fifth = try await sending.enqueue(Draft(text: "e"))
        #expect(fourth != third && fourth == fifth)
        gate.open()
        try await sending.isEmpty()
        #expect(other.paths == ["draft/c", "draft/e"])
        await sending.close()
    }

    @Test("waiting entries are merged, even after attempts that reached no server")
    func merges() async throws {
        let online = Gate()
        let desk = Desk { path in
            if !online.isOpen { throw ErrandError(.cannotConnect, "no network") }
            return .text(path)
        }
        let outbox = try await desk.open()
        let id = try await outbox.enqueue(AddToCart(count: 1))
        try await outbox.reached { $0.entries.first?.failures == 1 }
        #expect(try await outbox.enqueue(AddToCart(count: 2)) == id)
        online.open()
        outbox.networkIsBack()
        try await outbox.isEmpty()
        #expect(desk.paths.last == "cart/3")
        await outbox.close()
    }

    @Test("an entry that a server may have received isn't merged, even if a later attempt reached no server")
    func unmergeable() async throws {
        let attempts = Counter()
        let desk = Desk { path in
            switch attempts.increment() {
            case 1: throw ErrandError(.connectionLost, "after it was sent")
            case 2: throw ErrandError(.cannotConnect, "no network")
            default: .text(path)
            }
        }
        let outbox = try await desk.open()
        let id = try await outbox.enqueue(AddToCart(count: 1))
        try await outbox.reached { $0.entries.first?.failures == 1 }
        outbox.networkIsBack()
        try await desk.received.wait { $0.count == 2 }
        try await outbox.reached { $0.entries.first?.failures == 1 }
        #expect(try await outbox.enqueue(AddToCart(count: 2)) != id)
        outbox.networkIsBack()
        try await outbox.isEmpty()
        #expect(desk.paths.suffix(2) == ["cart/1", "cart/2"])
        await outbox.close()
    }

    @Test("an entry waits for its dependencies in any lane")
    func dependencies() async throws {
        let gate = Gate()
        let desk = Desk { path in
            if path == "notes/1" { try await gate.wait() }
            return .text(path)
        }
        let outbox = try await desk.open()
        let upload = try await outbox.enqueue(Note(lane: "upload", number: 1))
        try await outbox.enqueue(Note(lane: "post", number: 2), after: upload)
        try await outbox.enqueue(Note(lane: "post", number: 3))
        try await gate.reached()
        #expect(outbox.state.entries.map(\.state) == [.sending, .blocked, .waiting])
        gate.open()
        try await outbox.isEmpty()
        #expect(desk.paths == ["notes/1", "notes/2", "notes/3"])
        await outbox.close()
    }

    @Test("an entry whose dependency is removed is refused")
    func lostDependency() async throws {
        let first = try await desk.enqueueOnly()
        let upload = try await first.enqueue(Note(lane: "upload", number: 1))
        try await first.enqueue(Note(lane: "post", number: 2), after: upload)
        #expect(try await first.remove(upload))
        #expect(try await first.remove(upload) == false)
        await first.close()
        let second = try await desk.open { _ in .drop }
        try await second.isEmpty()
        #expect(desk.refusals.all.map(\.reason) == [.dependencyLost] && desk.paths == [])
        await second.close()
    }

    @Test("an entry that is too old is dropped, unless the handler edits it")
    func age() async throws {
        let first = try await desk.enqueueOnly()
        try await first.enqueue(Note(number: 1, age: .seconds(60)))
        try await first.enqueue(Note(number: 2))
        await first.close()
        desk.time.date += 61
        let second = try await desk.open()
        try await second.isEmpty()
        #expect(desk.refusals.all.map(\.reason) == [.expired] && desk.paths == ["notes/2"])
        await second.close()
    }

    @Test("an unknown type, or a value that can't be decoded, goes to the handler with the stored value")
    func schema() async throws {
        struct NewNote: OutboxRequest {
            typealias Output = Void
            let title: String
            var path: String { "new/\(title)" }
        }
        let first = try await desk.enqueueOnly()
        try await first.enqueue(Note(number: 1))
        try await first.enqueue(Draft(text: "x"))
        await first.close()
        let second = try await desk.open([.type("note", NewNote.self)]) { refusal in
            refusal.reason == .decodingFailed ? .edit(NewNote(title: "made")) : .drop
        }
        try await second.isEmpty()
        #expect(desk.paths == ["new/made"])
        #expect(desk.refusals.all.map(\.reason) == [.decodingFailed, .unknownType])
        let value = try #require(desk.refusals.all.first?.value)
        #expect(try JSONDecoder().decode(Note.self, from: value).number == 1)
        #expect(desk.refusals.all.last?.entry.name == "draft")
        await second.close()
    }

    @Test("the limits for entries and bytes are enforced, and an excess entry is refused with a reason")
    func limits() async throws {
        var options = Desk.exact
        (options.maximumEntries, options.maximumEntryBytes) = (2, 200)
        options.allowsSending = false
        let outbox = try await desk.open(options: options)
        try await outbox.enqueue(Note(number: 1))
        try await outbox.enqueue(Note(number: 2))
        for (request, code) in [
            (Note(number: 3), OutboxError.Code.queueFull), (Note(lane: String(repeating: "a", count: 300)), .tooLarge),
        ] {
            do {
                try await outbox.enqueue(request)
                Issue.record("it was stored")
            } catch let error as OutboxError { #expect(error.code == code) }
        }
        #expect(outbox.state.entries.count == 2)
        await outbox.close()
        do {
            try await outbox.enqueue(Note())
            Issue.record("it was stored")
        } catch let error as OutboxError { #expect(error.code == .closed) }
    }

    @Test("a removed entry is cancelled while it is being sent, and the lane continues")
    func removal() async throws {
        let gate = Gate()
        let desk = Desk { path in
            if path == "notes/1" { try await gate.wait() }
            return .text(path)
        }
        let outbox = try await desk.open()
        let first = try await outbox.enqueue(Note(number: 1))
        try await outbox.enqueue(Note(number: 2))
        try await gate.reached()
        #expect(try await outbox.remove(first))
        try await outbox.isEmpty()
        #expect(desk.delivered.all == ["notes/2"])
        await outbox.close()
    }

    @Test("all entries are removed at once, such as when a user signs out")
    func removalOfAll() async throws {
        let outbox = try await desk.enqueueOnly()
        for number in 0..<5 { try await outbox.enqueue(Note(lane: "\(number % 2)", number: number)) }
        try await outbox.removeAll()
        #expect(outbox.state.entries.isEmpty)
        await outbox.close()
        let again = try await desk.open()
        #expect(again.state.entries.isEmpty && desk.paths == [])
        await again.close()
    }

    @Test("a paused outbox doesn't send, but still accepts entries")
    func pause() async throws {
        let outbox = try await desk.open()
        outbox.pause()
        try await outbox.enqueue(Note(number: 1))
        #expect(outbox.state.isPaused && outbox.state.entries.map(\.state) == [.waiting])
        outbox.resume()
        try await outbox.isEmpty()
        await outbox.close()
    }

    @Test("closing cancels the running delivery, keeps its entry, and allows another outbox to send")
    func close() async throws {
        let gate = Gate()
        let desk = Desk { path in
            try await gate.wait()
            return .text(path)
        }
        let first = try await desk.open()
        try await first.enqueue(Note(number: 1))
        try await gate.reached()
        let second = try await desk.open()
        #expect(first.state.isSender && !second.state.isSender && second.state.entries.count == 1)
        await first.close()
        gate.open()
        desk.time.advance(by: .seconds(1_000_000))
        try await second.isEmpty()
        #expect(desk.paths == ["notes/1", "notes/1"] && Set(desk.keys.all).count == 1)
        await second.close()
    }

    @Test("entries enqueued by another outbox on the directory are sent in order by the sending outbox")
    func twoOutboxes() async throws {
        var options = Desk.exact
        options.checkInterval = .seconds(1)
        let sender = try await desk.open(options: options)
        let other = try await desk.enqueueOnly()
        for number in 0..<10 { try await (number % 2 == 0 ? sender : other).enqueue(Note(number: number)) }
        try await eventually {
            desk.time.advance(by: .seconds(1))
            return desk.paths.count == 10
        }
        try await sender.isEmpty()
        #expect(desk.paths == (0..<10).map { "notes/\($0)" })
        await sender.close()
        await other.close()
    }

    @Test("the agent's accessories observe each delivery, and the entry is a tag of its requests")
    func accessories() async throws {
        let recorder = RecordingAccessory()
        let tags = Log<OutboxEntry.ID?>()
        let failures = Counter()
        let watcher = Watcher { activity, event in
            if case .willStart = event { tags.add(activity.tags[OutboxEntry.self]?.id) }
        }
        let desk = Desk(accessories: [recorder, watcher]) { path in
            failures.increment() == 1 ? .status(503) : .text(path)
        }
        let outbox = try await desk.open()
        let id = try await outbox.enqueue(Note(number: 1))
        try await outbox.reached { $0.entries.first?.failures == 1 }
        desk.time.advance(by: .seconds(1))
        try await outbox.isEmpty()
        await outbox.close()
        try await recorder.waitUntilQuiet()
        #expect(recorder.records().map(\.kind).filter { $0 == .outbox }.count > 0 && recorder.problems() == [])
        #expect(tags.all == [id, id, id, id], "twice a delivery and its request")
        let notes = recorder.records().compactMap { record -> String? in
            if case .note(let note) = record.event { note.message } else { nil }
        }
        #expect(notes.contains { $0.contains("waits") })
    }

    @Test("a delivery starts after the previous delivery has ended, even if a wait ends in the meantime")
    func turns() async throws {
        let (gate, failures) = (Gate(), Counter())
        let opened = Mutex<Outbox?>(nil)
        let watcher = Watcher { activity, event in
            // The delivery has failed but hasn't ended yet.
            guard activity.kind == .outbox, case .didStop = event else { return }
            opened.withLock(\.self)?.networkIsBack()
        }
        let desk = Desk(accessories: [watcher]) { path in
            if failures.increment() == 1 { return .status(503) }
            try await gate.wait()
            return .text(path)
        }
        let outbox = try await desk.open()
        opened.withLock { $0 = outbox }
        try await outbox.enqueue(Note(number: 1))
        try await gate.reached(by: 1)
        try await outbox.enqueue(Note(lane: "other", number: 2))
        try await gate.reached(by: 2)
        #expect(desk.paths == ["notes/1", "notes/1", "notes/2"])
        gate.open()
        try await outbox.isEmpty()
        #expect(desk.paths == ["notes/1", "notes/1", "notes/2"])
        opened.withLock { $0 = nil }
        await outbox.close()
    }

    @Test("an entry with one refused and one possibly successful attempt isn't merged with later entries")
    func refusedOnce() async throws {
        let attempts = Counter()
        let desk = Desk(filters: [Twice()]) { path in
            switch attempts.increment() {
            case 1: throw ErrandError(.transportFailed, "the response is lost")
            case 2: return .status(409)
            default: return .text(path)
            }
        }
        let outbox = try await desk.open { _ in .stop }
        let first = try await outbox.enqueue(AddToCart(count: 1))
        try await outbox.reached { $0.entries.first?.state == .stopped }
        #expect(try await outbox.enqueue(AddToCart(count: 2)) != first)
        outbox.resume(lane: "")
        try await outbox.isEmpty()
        #expect(desk.paths == ["cart/1", "cart/1", "cart/1", "cart/2"])
        await outbox.close()
    }

    @Test("an app's own error isn't mistaken for a change of the user because of its name")
    func ownError() async throws {
        struct Own: CodedError {
            enum Code: Int, ErrorCode {
                case userChanged = 1
                var number: Int { rawValue }
                var description: String { "userChanged" }
            }
            let code = Code.userChanged
            var description: String { "the profile has changed" }
        }
        let desk = Desk(filters: [ClosureFilter { _, _ in throw Own() }])
        let outbox = try await desk.open()
        try await outbox.enqueue(Note(number: 1))
        try await outbox.reached { $0.entries.first?.state == .stopped }
        #expect(desk.refusals.all.map(\.reason) == [.failed])
        await outbox.close()
    }

    private struct Twice: Filter {
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            do { return try await next(exchange) } catch { return try await next(exchange) }
        }
    }

    private struct Watcher: Accessory {
        let notify: @Sendable (Activity, ActivityEvent) -> Void
        init(_ notify: @escaping @Sendable (Activity, ActivityEvent) -> Void) { self.notify = notify }
        func activity(_ activity: Activity, did event: ActivityEvent) { notify(activity, event) }
    }
}
