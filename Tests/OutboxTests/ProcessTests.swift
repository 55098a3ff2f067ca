#if os(Linux) || os(macOS)
import Errand
import ErrandEssentials
import ErrandOutbox
import ErrandTesting
import Foundation
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Outboxes of processes", .timeLimit(.minutes(30))) struct ProcessTests {

    @Test("a full disk refuses an entry with a reason, wherever a write ends, and loses none")
    func fullDisk() async throws {
        // In a process of its own, which has the limit that stands for a full disk.
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let desk = Desk()
            let outbox = try await desk.enqueueOnly()
            var ids = [try await outbox.enqueue(Note(number: 1))]
            let size = try Data(contentsOf: desk.log).count
            ids.append(try await outbox.enqueue(Note(number: 2)))
            let record = try Data(contentsOf: desk.log).count - size
            for room in stride(from: 0, to: record, by: 9) {
                let whole = try Data(contentsOf: desk.log)
                limitFiles(to: UInt64(whole.count + room))
                let error = await #expect(throws: OutboxError.self) { try await outbox.enqueue(Note(number: 3)) }
                limitFiles(to: .max)
                #expect(error?.code == .noSpace)
                #expect(try Data(contentsOf: desk.log) == whole)
                if room.isMultiple(of: 2) { ids.append(try await outbox.enqueue(Note(number: 4))) }
            }
            #expect(outbox.state.entries.map(\.id) == ids)
            await outbox.close()
            let again = try await desk.enqueueOnly()
            #expect(again.state.entries.map(\.id) == ids && again.state.damage.isEmpty)
            await again.close()
        }
    }

    @Test("several processes enqueue in one directory, and one of them at a time sends, each entry once")
    func several() async throws {
        let keys = Log<String>()
        let server = try TestServer { request in
            keys.add(request.headers[.idempotencyKey] ?? "")
            return .text("")
        }
        let folder = TemporaryDirectory()
        let program = try Program(built: "errand-outbox-process")
        let arguments = [server.url, folder.url.path, "50", "1"]
        let enqueuer = try program.start(arguments + ["enqueue"])
        let senders = try (0..<2).map { _ in try program.start(arguments) }
        try await keys.wait { $0.count >= 150 }
        for sender in senders { #expect(try await sender.ended().text == "empty\n") }
        enqueuer.signal(SIGKILL)
        #expect(keys.count == 150 && Set(keys.all).count == 150)
    }
}

/// Limits the size of the files that this process writes.
private func limitFiles(to bytes: UInt64) {
    var limit = rlimit()
    #if canImport(Glibc)
    let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
    let resource = RLIMIT_FSIZE
    #endif
    getrlimit(resource, &limit)
    limit.rlim_cur = min(rlim_t(bytes), limit.rlim_max)
    setrlimit(resource, &limit)
}
#endif
