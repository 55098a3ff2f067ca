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

@Suite("Outboxes of processes", .endsInTime) struct ProcessTests {

    @Test("a full disk refuses an entry with a reason, at any point of a write, and doesn't lose entries")
    func fullDisk() async throws {
        // In a separate process, whose file size limit simulates a full disk.
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

    @Test("an entry sent while the disk is full is sent once, and later ones follow when there is room")
    func sentOnFullDisk() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let log = Log<URL>()
            let desk = Desk { path in
                // The disk is full from the first request on, so its record can't be written.
                if path == "notes/1" { try fill(log.all[0]) }
                return .text(path)
            }
            log.add(desk.log)
            let outbox = try await desk.open()
            let first = try await outbox.enqueue(Note(number: 1))
            // An outbox that is paused before it sends would wait here for good.
            try await eventually { desk.paths == ["notes/1"] }
            outbox.pause()
            try await outbox.reached { $0.entries.first?.lastError != nil }
            #expect(outbox.state.entries.first?.state == .sending)
            outbox.resume()
            for _ in 1...20 { await stayFull(desk, outbox) }
            #expect(desk.paths == ["notes/1"] && desk.delivered.all == ["notes/1"])
            // The entry can't be removed either, but must still not be sent again.
            await #expect(throws: OutboxError.self) { try await outbox.remove(first) }
            desk.agent.cancelAll()
            for _ in 1...3 { await stayFull(desk, outbox) }
            limitFiles(to: .max)
            try await outbox.enqueue(Note(number: 2))
            try await becomesEmpty(desk, outbox)
            #expect(desk.paths == ["notes/1", "notes/2"] && desk.delivered.all == ["notes/1", "notes/2"])
            await outbox.close()
        }
    }

    @Test("entries sent on a full disk are recorded by the end of the outbox, if there is room by then")
    func closedOnFullDisk() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let log = Log<URL>()
            let desk = Desk { path in
                if path == "notes/1" { try fill(log.all[0]) }
                return .text(path)
            }
            log.add(desk.log)
            let outbox = try await desk.open()
            try await outbox.enqueue(Note(number: 1))
            try await outbox.reached { $0.entries.first?.lastError != nil }
            limitFiles(to: .max)
            await outbox.close()
            let again = try await desk.open()
            try await again.enqueue(Note(number: 2))
            try await again.isEmpty()
            #expect(desk.paths == ["notes/1", "notes/2"])
            await again.close()
        }
    }

    @Test("a handler decides once, even while the disk is full")
    func decidedOnFullDisk() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            for isDropped in [true, false] {
                let desk = Desk { $0 == "notes/1" ? .status(422) : .text($0) }
                let outbox = try await desk.open { _ in
                    try? fill(desk.log)
                    return isDropped ? .drop : .edit(Note(number: 7))
                }
                try await outbox.enqueue(Note(number: 1))
                try await outbox.reached { $0.entries.first?.lastError != nil }
                for _ in 1...20 { await stayFull(desk, outbox) }
                #expect(desk.paths == ["notes/1"] && desk.refusals.count == 1)
                limitFiles(to: .max)
                try await outbox.enqueue(Note(number: 2))
                try await becomesEmpty(desk, outbox)
                #expect(desk.paths == (isDropped ? ["notes/1", "notes/2"] : ["notes/1", "notes/7", "notes/2"]))
                #expect(desk.refusals.count == 1)
                await outbox.close()
            }
        }
    }

    @Test("an entry that is found damaged while the disk is full is lost once, and the next one is sent")
    func lostOnFullDisk() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let desk = Desk()
            let outbox = try await desk.open()
            outbox.pause()
            try await outbox.enqueue(Note(number: 1))
            let length = try Data(contentsOf: desk.log).count
            try await outbox.enqueue(Note(number: 2))
            let file = try FileHandle(forWritingTo: desk.log)
            try file.seek(toOffset: UInt64(length - 20))
            try file.write(contentsOf: Data([0x7F]))
            try file.close()
            try fill(desk.log)
            outbox.resume()
            try await outbox.reached { $0.entries.first?.lastError != nil }
            for _ in 1...20 { await stayFull(desk, outbox) }
            #expect(desk.paths == [] && outbox.state.damage.count == 1)
            limitFiles(to: .max)
            try await becomesEmpty(desk, outbox)
            #expect(desk.paths == ["notes/2"] && outbox.state.damage.count == 1)
            await outbox.close()
        }
    }

    @Test("several processes enqueue in one directory, and one at a time sends, each entry once")
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

/// Leaves a file no room to grow: writes to it fail as on a full disk.
private func fill(_ file: URL) throws { limitFiles(to: UInt64(try Data(contentsOf: file).count)) }

/// Ends the wait for another write attempt, which then fails.
private func stayFull(_ desk: Desk, _ outbox: Outbox) async {
    desk.time.advance(by: .seconds(300))
    await #expect(throws: OutboxError.self) { try await outbox.enqueue(Note(lane: "full", number: 99)) }
}

private func becomesEmpty(_ desk: Desk, _ outbox: Outbox) async throws {
    let passing = Task {
        while !Task.isCancelled {
            desk.time.advance(by: .seconds(300))
            try? await Task.sleep(for: .milliseconds(1))
        }
    }
    defer { passing.cancel() }
    try await outbox.isEmpty()
}

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
