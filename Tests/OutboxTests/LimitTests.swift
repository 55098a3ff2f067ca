import Errand
import ErrandEssentials
import ErrandOutbox
import ErrandSupport
import ErrandTesting
import Synchronization
import Testing

@Suite("The limits of an outbox", .endsInTime, .leakChecked) struct LimitTests {
    private let desk = Desk()

    /// A request whose waiting instances are joined.
    private struct Line: OutboxRequest {
        typealias Output = Void
        var text = ""
        var method: HTTPMethod { .put }
        var path: String { "line/\(text.count)" }
        var replacementKey: String? { "line" }
        func merging(_ older: Line) -> Line { Line(text: older.text + text) }
    }

    private func open(_ bytes: Int, entryBytes: Int = 1 << 20, isSending: Bool = false) async throws -> Outbox {
        var options = Desk.exact
        options.allowsSending = isSending
        (options.maximumBytes, options.maximumEntryBytes) = (bytes, entryBytes)
        return try await desk.open([.type("draft", Draft.self), .type("line", Line.self)], options: options)
    }

    private func code(_ body: () async throws -> Void) async throws -> OutboxError.Code? {
        do { try await body() } catch let error as OutboxError { return error.code }
        return nil
    }

    @Test(
        "an entry that replaces a smaller entry counts with its own size, and the older entry stays if it doesn't fit")
    func replacement() async throws {
        let outbox = try await open(1000)
        let id = try await outbox.enqueue(Draft(text: "a"))
        let long = String(repeating: "x", count: 1000)
        #expect(try await code { try await outbox.enqueue(Draft(text: long)) } == .queueFull)
        #expect(try await outbox.request(Draft.self, of: id)?.text == "a" && outbox.state.entries.count == 1)
        #expect(try await outbox.enqueue(Draft(text: String(long.prefix(400)))) == id)
        #expect(try await outbox.enqueue(Draft(text: "b")) == id, "a smaller one always fits")
        await outbox.close()
    }

    @Test("merged entries count with the size of the merged request")
    func merged() async throws {
        let outbox = try await open(1000)
        let half = String(repeating: "x", count: 400)
        let id = try await outbox.enqueue(Line(text: half))
        #expect(try await outbox.enqueue(Line(text: half)) == id)
        #expect(try await code { try await outbox.enqueue(Line(text: half)) } == .queueFull)
        #expect(try await outbox.request(Line.self, of: id)?.text.count == 800)
        await outbox.close()
    }

    @Test("a merged request that is larger than an entry may be is refused, and the older entry stays")
    func tooLarge() async throws {
        let outbox = try await open(1 << 20, entryBytes: 500)
        let half = String(repeating: "x", count: 300)
        let id = try await outbox.enqueue(Line(text: half))
        #expect(try await code { try await outbox.enqueue(Line(text: half)) } == .tooLarge)
        #expect(try await outbox.request(Line.self, of: id)?.text == half)
        await outbox.close()
    }

    @Test("entries that are enqueued at the same time don't exceed the limit together")
    func together() async throws {
        let outbox = try await open(1000)
        let text = String(repeating: "x", count: 200)
        let refused = Log<Int>()
        try await withThrowingTaskGroup { group in
            for number in 0..<20 {
                group.addTask {
                    do { try await outbox.enqueue(Draft(text: "\(number)\(text)")) } catch { refused.add(number) }
                    do { try await outbox.enqueue(Line(text: text)) } catch { refused.add(number) }
                }
            }
            try await group.waitForAll()
        }
        #expect(refused.count > 0 && outbox.state.entries.count == 2)
        await outbox.close()
        #expect(try await open(1000).state.entries.count == 2)
    }

    @Test("an edit that doesn't fit stops the lane, and the entry stays as it was")
    func edit() async throws {
        var options = Desk.exact
        options.maximumBytes = 1000
        let desk = Desk { $0 == "draft/a" ? .status(422) : .text($0) }
        let outbox = try await desk.open(options: options) { _ in
            .edit(Draft(text: String(repeating: "x", count: 1000)))
        }
        let id = try await outbox.enqueue(Draft(text: "a"))
        try await outbox.reached { $0.entries.first?.state == .stopped }
        #expect(outbox.state.entries.first?.lastError?.contains("queueFull") == true)
        #expect(try await outbox.request(Draft.self, of: id)?.text == "a" && desk.refusals.count == 1)
        await outbox.close()
    }

    @Test("a dependency that is named many times is stored once")
    func dependencies() async throws {
        let outbox = try await open(2000)
        let id = try await outbox.enqueue(Draft(text: "a"))
        // Otherwise, a few million repetitions would exceed the size that a reader accepts.
        try await outbox.enqueue(Line(text: "b"), after: Array(repeating: id, count: 1000))
        await outbox.close()
        #expect(try Data(contentsOf: desk.log).count < 1000)
    }

    @Test("while another process holds the lock, stored requests can be read, and changes wait for it")
    func locked() async throws {
        let outbox = try await desk.enqueueOnly()
        let id = try await outbox.enqueue(Note(number: 1))
        let lock = try SystemFile(desk.folder.url.appending(path: "outbox.lock").path, [.read, .write])
        let isLocked = lock.tryLock()
        #expect(isLocked)
        let stored = Log<OutboxEntry.ID>()
        let enqueueing = Task { stored.add(try await outbox.enqueue(Note(number: 2))) }
        for _ in 0..<2000 {
            #expect(try await outbox.request(Note.self, of: id)?.number == 1)
            await Task.yield()
        }
        #expect(stored.count == 0 && outbox.state.entries.count == 1)
        lock.unlock()
        try await enqueueing.value
        #expect(stored.count == 1)
        await outbox.close()
    }

    @Test("a change fails if another process holds the lock for ten seconds")
    func busy() async throws {
        let outbox = try await desk.enqueueOnly()
        let lock = try SystemFile(desk.folder.url.appending(path: "outbox.lock").path, [.read, .write])
        let isLocked = lock.tryLock()
        #expect(isLocked)
        let codes = Log<OutboxError.Code?>()
        let enqueueing = Task {
            codes.add(try await code { try await outbox.enqueue(Note(number: 1)) })
        }
        try await eventually {
            desk.time.advance(by: .seconds(1))
            return codes.count == 1
        }
        try await enqueueing.value
        #expect(codes.all == [.busy] && outbox.state.entries.isEmpty)
        lock.unlock()
        try await outbox.enqueue(Note(number: 2))
        await outbox.close()
    }
}
