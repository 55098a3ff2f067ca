import Errand
import ErrandEssentials
import ErrandOutbox
import ErrandSupport
import ErrandTesting
import Synchronization
import Testing

@Suite("The limits of an outbox", .endsInTime, .leakChecked) struct LimitTests {
    private let desk = Desk()

    private func code(_ body: () async throws -> Void) async throws -> OutboxError.Code? {
        do { try await body() } catch let error as OutboxError { return error.code }
        return nil
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
