import Errand
import ErrandEssentials
import ErrandSupport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandOutbox

@Suite("The file of an outbox", .endsInTime, .leakChecked) struct LogTests {
    private let desk = Desk()

    /// Opens a log with these bytes. Returns the note numbers by entry, and the reported damage.
    private func read(_ bytes: Data) async throws -> (notes: [UInt64: Int], damage: [OutboxDamage]) {
        let folder = TemporaryDirectory()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        try bytes.write(to: folder.url.appending(path: "outbox.log"))
        var options = Desk.exact
        options.allowsSending = false
        let outbox = try await desk.agent.outbox(
            at: folder.url, sending: [.type("note", Note.self), .type("draft", Draft.self)], options: options,
            time: desk.time)
        var notes: [UInt64: Int] = [:]
        let state = outbox.state
        for entry in state.entries {
            notes[entry.id.rawValue] = try await outbox.request(Note.self, of: entry.id)?.number
        }
        // The next note is stored and found again, whatever was damaged.
        let id = try await outbox.enqueue(Note(number: 77))
        await outbox.close()
        let again = try await desk.agent.outbox(
            at: folder.url, sending: [.type("note", Note.self)], options: options, time: desk.time)
        #expect(try await again.request(Note.self, of: id)?.number == 77)
        await again.close()
        return (notes, state.damage)
    }

    /// Returns a log of five notes, the second of which was removed.
    private func sample() async throws -> Data {
        let outbox = try await desk.enqueueOnly()
        for number in 1...5 { try await outbox.enqueue(Note(lane: "\(number)", number: number)) }
        try await outbox.remove(OutboxEntry.ID(rawValue: 2))
        await outbox.close()
        return try Data(contentsOf: desk.log)
    }

    @Test("a damaged byte loses a single entry, which is reported")
    func damagedBytes() async throws {
        let bytes = try await sample()
        let whole: [UInt64: Int] = [1: 1, 3: 3, 4: 4, 5: 5]
        let stride = ProcessInfo.processInfo.environment["ERRAND_LONG_TESTS"] == nil ? 13 : 1
        for offset in Swift.stride(from: Int.random(in: 0..<stride), to: bytes.count, by: stride) {
            // A different format version doesn't count as damage.
            if offset == OutboxFormat.prefix.count - 1 { continue }
            var damaged = bytes
            damaged[offset] ^= UInt8.random(in: 1...255)
            let (notes, damage) = try await read(damaged)
            let missing = whole.filter { notes[$0.key] == nil }.count
            #expect(missing <= 1 && notes.allSatisfy { whole[$0.key] == $0.value }, "byte \(offset): \(notes)")
            #expect(!damage.isEmpty, "byte \(offset) is not reported")
        }
    }

    @Test("a damaged byte in the record of a sent entry doesn't block later entries")
    func damagedAfterSending() async throws {
        let desk = Desk { $0 == "notes/2" ? .status(503) : .text($0) }
        let outbox = try await desk.open()
        outbox.pause()
        // Two records of one entry: the second content replaces the first.
        try await outbox.enqueue(Draft(text: "a"))
        let first = try await outbox.enqueue(Draft(text: "b"))
        let end = try Data(contentsOf: desk.log).count
        try await outbox.enqueue(Note(lane: "other", number: 2), after: first)
        outbox.resume()
        try await outbox.reached { $0.entries.count == 1 && $0.entries[0].failures == 1 }
        await outbox.close()
        let bytes = try Data(contentsOf: desk.log)
        let stride = ProcessInfo.processInfo.environment["ERRAND_LONG_TESTS"] == nil ? 11 : 1
        for offset in Swift.stride(from: Int.random(in: 8..<8 + stride), to: end, by: stride) {
            let desk = Desk()
            var damaged = bytes
            damaged[offset] ^= UInt8.random(in: 1...255)
            try FileManager.default.createDirectory(at: desk.folder.url, withIntermediateDirectories: true)
            try damaged.write(to: desk.log)
            let outbox = try await desk.open()
            try await outbox.reached { $0.entries.isEmpty || $0.entries[0].state == .stopped }
            #expect(desk.paths == ["notes/2"] && desk.refusals.count == 0, "byte \(offset)")
            #expect(!outbox.state.damage.isEmpty, "byte \(offset) is not reported")
            await outbox.close()
        }
    }

    @Test("an entry that is lost before it was sent still blocks the entries that depend on it")
    func damagedBeforeSending() async throws {
        let outbox = try await desk.enqueueOnly()
        let first = try await outbox.enqueue(Note(lane: "a", number: 1))
        let end = try Data(contentsOf: desk.log).count
        try await outbox.enqueue(Note(lane: "b", number: 2), after: first)
        await outbox.close()
        var bytes = try Data(contentsOf: desk.log)
        bytes[end - 20] ^= 0x55
        try bytes.write(to: desk.log)
        let again = try await desk.open()
        try await again.reached { $0.entries.map(\.state) == [.stopped] }
        #expect(desk.paths == [] && desk.refusals.all.map(\.reason) == [.dependencyLost])
        await again.close()
    }

    @Test(
        "a number that leaves no room for a later number counts as damage", arguments: [OutboxFormat.Kind.next, .put])
    func hugeNumber(kind: OutboxFormat.Kind) async throws {
        var bytes = OutboxFormat.prefix
        OutboxFormat.add(kind, id: .max, payload: kind == .put ? [0] : [], to: &bytes)
        let (notes, damage) = try await read(Data(bytes))
        #expect(notes.isEmpty && damage.count == 1)
    }

    @Test(
        "large entry numbers leave room for later entries, which can be read again, even from a rewritten log",
        arguments: [OutboxFormat.Kind.next, .put])
    func greatNumber(kind: OutboxFormat.Kind) async throws {
        var bytes = OutboxFormat.prefix
        let id = OutboxFormat.maximumID
        let planted = StoredEntry(
            id: id, name: "note", lane: "", key: UUID(), enqueued: desk.time.date, expiry: nil, replacementKey: nil,
            dependencies: [])
        OutboxFormat.add(kind, id: id, payload: kind == .put ? planted.payload(Data("{}".utf8)) : [], to: &bytes)
        try FileManager.default.createDirectory(
            at: desk.log.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: desk.log)
        var ids: [OutboxEntry.ID] = []
        for number in 1...3 {
            let outbox = try await desk.enqueueOnly()
            ids.append(try await outbox.enqueue(Note(number: number)))
            await outbox.close()
        }
        #expect(ids == ids.sorted() && ids[0].rawValue >= id && Set(ids).count == 3)
        // The log is rewritten, because most of it is obsolete by now.
        for _ in 0..<4 {
            let outbox = try await desk.enqueueOnly()
            let large = try await outbox.enqueue(Draft(text: String(repeating: "x", count: 500_000)))
            try await outbox.remove(large)
            await outbox.close()
        }
        #expect(try Data(contentsOf: desk.log).count < 1 << 20)
        let outbox = try await desk.enqueueOnly()
        for (number, id) in zip(1..., ids) { #expect(try await outbox.request(Note.self, of: id)?.number == number) }
        #expect(outbox.state.entries.count == (kind == .put ? 4 : 3) && outbox.state.damage.isEmpty)
        await outbox.close()
    }

    @Test(
        "a log that has run out of numbers refuses new entries, and keeps its entries when it is rewritten",
        arguments: 0...2
    )
    func usedUp(room: Int) async throws {
        var outbox = try await desk.enqueueOnly()
        let first = try await outbox.enqueue(Note(number: 1))
        var large: [OutboxEntry.ID] = []
        for _ in 0..<3 { large.append(try await outbox.enqueue(Draft(text: String(repeating: "x", count: 500_000)))) }
        await outbox.close()
        var bytes = [UInt8](try Data(contentsOf: desk.log))
        OutboxFormat.add(.next, id: OutboxFormat.maximumNext - UInt64(room), to: &bytes)
        try Data(bytes).write(to: desk.log)
        var notes = [first: 1]
        outbox = try await desk.enqueueOnly()
        for number in 2..<2 + room { notes[try await outbox.enqueue(Note(number: number))] = number }
        await #expect(throws: OutboxError.self) { try await outbox.enqueue(Note(number: 9)) }
        for id in large { try await outbox.remove(id) }
        await outbox.close()
        #expect(try Data(contentsOf: desk.log).count < 1 << 20)
        outbox = try await desk.enqueueOnly()
        await #expect(throws: OutboxError.self) { try await outbox.enqueue(Note(number: 9)) }
        #expect(outbox.state.entries.count == notes.count && outbox.state.damage.isEmpty)
        for (id, number) in notes { #expect(try await outbox.request(Note.self, of: id)?.number == number) }
        await outbox.close()
    }

    @Test("an entry never gets the last possible number")
    func lastNumber() {
        for (number, isRead) in [(OutboxFormat.maximumNext - 1, true), (OutboxFormat.maximumNext, false)] {
            var bytes: [UInt8] = []
            OutboxFormat.add(.put, id: number, payload: [0], to: &bytes)
            let head = bytes.withSpan { OutboxFormat.head($0, at: 0, next: number) }
            #expect((head != nil) == isRead)
        }
    }

    @Test("an entry that is damaged while the outbox is open is lost and reported, and the next one is sent")
    func damagedMeanwhile() async throws {
        let outbox = try await desk.open()
        outbox.pause()
        let first = try await outbox.enqueue(Note(number: 1))
        let length = try Data(contentsOf: desk.log).count
        try await outbox.enqueue(Note(number: 2))
        let file = try FileHandle(forWritingTo: desk.log)
        try file.seek(toOffset: UInt64(length - 20))
        try file.write(contentsOf: Data([0x7F]))
        try file.close()
        outbox.resume()
        try await outbox.isEmpty()
        #expect(desk.paths == ["notes/2"] && outbox.state.damage.map(\.entry) == [first])
        await outbox.close()
    }

    @Test("a log that ends early, as after a crash, keeps all complete entries")
    func torn() async throws {
        let outbox = try await desk.enqueueOnly()
        var ends: [Int] = [OutboxFormat.prefix.count]
        for number in 1...3 {
            try await outbox.enqueue(Note(number: number))
            ends.append(try Data(contentsOf: desk.log).count)
        }
        await outbox.close()
        let bytes = try Data(contentsOf: desk.log)
        for length in Swift.stride(from: 0, through: bytes.count, by: 7) {
            let (notes, _) = try await read(bytes.prefix(length))
            let complete = ends.filter { $0 <= length }.count - 1
            #expect(notes.count == max(0, complete), "\(length) bytes")
        }
    }

    @Test("if a crash truncates a replacement, the older, acknowledged entry remains")
    func tornReplacement() async throws {
        let outbox = try await desk.enqueueOnly()
        let id = try await outbox.enqueue(Draft(text: "first"))
        let first = try Data(contentsOf: desk.log).count
        try await outbox.enqueue(Draft(text: "second"))
        await outbox.close()
        let bytes = try Data(contentsOf: desk.log)
        for length in first..<bytes.count {
            try bytes.prefix(length).write(to: desk.log)
            let outbox = try await desk.enqueueOnly()
            #expect(try await outbox.request(Draft.self, of: id)?.text == "first", "\(length)")
            await outbox.close()
        }
    }

    @Test("a log of another version is refused and not changed")
    func version() async throws {
        var bytes = try await sample()
        bytes[OutboxFormat.prefix.count - 1] = UInt8(ascii: "2")
        try bytes.write(to: desk.log)
        do {
            _ = try await desk.open()
            Issue.record("it was opened")
        } catch let error as OutboxError { #expect(error.code == .unknownFormat) }
        #expect(try Data(contentsOf: desk.log) == bytes)
    }

    @Test("while another file replaces the log, entries don't count as damaged, and all return with the log")
    func replaced() async throws {
        let outbox = try await desk.enqueueOnly()
        let id = try await outbox.enqueue(Note(number: 1))
        let aside = desk.folder.url.appending(path: "aside")
        try FileManager.default.moveItem(at: desk.log, to: aside)
        try (Data("ERRANDO2".utf8) + Data(repeating: 7, count: 1000)).write(to: desk.log)
        let refused = await #expect(throws: OutboxError.self) { try await outbox.enqueue(Note(number: 2)) }
        #expect(refused?.code == .unknownFormat)
        let unread = await #expect(throws: OutboxError.self) { try await outbox.request(Note.self, of: id) }
        #expect(unread?.code == .fileFailed)
        try FileManager.default.removeItem(at: desk.log)
        try FileManager.default.moveItem(at: aside, to: desk.log)
        let next = try await outbox.enqueue(Note(number: 2))
        #expect(try await outbox.request(Note.self, of: id)?.number == 1)
        #expect(outbox.state.entries.map(\.id) == [id, next] && outbox.state.damage.isEmpty)
        await outbox.close()
    }

    @Test("links and pipes in place of the files are refused immediately", arguments: ["outbox.log", "outbox.lock"])
    func planted(name: String) async throws {
        try FileManager.default.createDirectory(at: desk.folder.url, withIntermediateDirectories: true)
        let victim = desk.folder.url.appending(path: "victim")
        try Data("precious".utf8).write(to: victim)
        let place = desk.folder.url.appending(path: name)
        for plant in [
            { try FileManager.default.createSymbolicLink(at: place, withDestinationURL: victim) },
            { try FileManager.default.linkItem(at: victim, to: place) }, { #expect(mkfifo(place.path, 0o600) == 0) },
        ] {
            try plant()
            do {
                _ = try await desk.open()
                Issue.record("it was opened")
            } catch let error as OutboxError { #expect(error.code == .fileFailed) }
            try FileManager.default.removeItem(at: place)
        }
        #expect(try Data(contentsOf: victim) == Data("precious".utf8))
    }

    @Test("only the owner can read the files, which don't contain headers")
    func secrets() async throws {
        struct Secret: OutboxRequest {
            typealias Output = Void
            var number = 1
            var headers: HTTPHeaders { ["Authorization": "Bearer hunter2"] }
        }
        var options = Desk.exact
        options.allowsSending = false
        let outbox = try await desk.open([.type("secret", Secret.self)], options: options)
        try await outbox.enqueue(Secret())
        await outbox.close()
        let bytes = try Data(contentsOf: desk.log)
        #expect(!String(decoding: bytes, as: UTF8.self).contains("hunter2"))
        let permissions = try FileManager.default.attributesOfItem(atPath: desk.log.path)[.posixPermissions]
        #expect(permissions as? Int == 0o600)
    }

    @Test("a log whose entries are all removed is rewritten, and other processes continue with it")
    func rewriting() async throws {
        let other = try await desk.enqueueOnly()
        let outbox = try await desk.enqueueOnly()
        let text = String(repeating: "x", count: 40_000)
        let note = try await outbox.enqueue(Note(number: 7))
        let draft = try await outbox.enqueue(Draft(text: "0"))
        try await outbox.remove(outbox.enqueue(Note(number: 8)))
        for number in 1...100 { try await outbox.enqueue(Draft(text: "\(text)\(number)")) }
        #expect(try Data(contentsOf: desk.log).count < 3 << 20, "4 MB were written")
        #expect(try await other.enqueue(Draft(text: "1")) == draft)
        #expect(other.state.entries.map(\.id) == [note, draft] && other.state.damage.isEmpty)
        #expect(try await other.request(Note.self, of: note)?.number == 7)
        #expect(try await outbox.request(Draft.self, of: draft)?.text == "\(text)100")
        #expect(try await other.enqueue(Note()).rawValue == 4, "no number is used twice")
        #expect(try await outbox.enqueue(Draft(text: "2")) == draft)
        await outbox.close()
        await other.close()
    }

    @Test("while another process rewrites the log, entries are sent once and a stopped lane stays stopped")
    func rewritingMeanwhile() async throws {
        let gate = Gate()
        let desk = Desk { path in
            if path == "notes/1" { try await gate.wait() }
            return path == "notes/2" ? .status(400) : .text(path)
        }
        let outbox = try await desk.open()
        try await outbox.enqueue(Note(lane: "a", number: 1))
        try await outbox.enqueue(Note(lane: "b", number: 2))
        try await outbox.reached { $0.entries.map(\.state) == [.sending, .stopped] }
        let other = try await desk.enqueueOnly()
        let draft = try await other.enqueue(Draft(text: "0"))
        for _ in 0..<100 { try await other.enqueue(Draft(text: String(repeating: "x", count: 40_000))) }
        try await other.remove(draft)
        #expect(try Data(contentsOf: desk.log).count < 3 << 20, "4 MB were written")
        try await outbox.enqueue(Note(lane: "c", number: 3))
        #expect(outbox.state.entries.prefix(2).map(\.state) == [.sending, .stopped])
        gate.open()
        try await outbox.reached { $0.entries.map(\.state) == [.stopped] }
        #expect(desk.paths.sorted() == ["notes/1", "notes/2", "notes/3"])
        await outbox.close()
        await other.close()
    }

    @Test("when the log is rewritten, a damaged entry is reported and doesn't get another entry's content")
    func rewritingDamaged() async throws {
        let outbox = try await desk.open()
        outbox.pause()
        func rewrite() async throws {
            let large = Draft(text: String(repeating: "x", count: 1_000_000))
            for _ in 0..<2 { try await outbox.remove(outbox.enqueue(large)) }
            #expect(try Data(contentsOf: desk.log).count < 1 << 20)
        }
        var notes: [OutboxEntry.ID] = []
        for number in 1...3 { notes.append(try await outbox.enqueue(Note(number: number))) }
        // From here on, the notes come first in the log. All of them have the same length, so the third note takes the
        // place of the second one.
        try await rewrite()
        let bytes = try Data(contentsOf: desk.log)
        let start = try #require(bytes.range(of: Data(#""number":2"#.utf8))).lowerBound
        let file = try FileHandle(forWritingTo: desk.log)
        try file.seek(toOffset: UInt64(start))
        try file.write(contentsOf: Data([0x7F]))
        try file.close()
        try await rewrite()
        outbox.resume()
        try await outbox.isEmpty()
        #expect(desk.paths == ["notes/1", "notes/3"] && outbox.state.damage.map(\.entry) == [notes[1]])
        await outbox.close()
    }

    @Test("the temporary file of a process that was killed is removed when the log is rewritten")
    func abandoned() async throws {
        let outbox = try await desk.enqueueOnly()
        let left = desk.folder.url.appending(path: ".errand-1-1.partial")
        try Data("left".utf8).write(to: left)
        try SystemFile(left.path, [.write]).setTimes(1_500_000_000_000_000_000)
        let large = Draft(text: String(repeating: "x", count: 1_000_000))
        for _ in 0..<2 { try await outbox.remove(outbox.enqueue(large)) }
        #expect(try Data(contentsOf: desk.log).count < 1 << 20)
        #expect(!FileManager.default.fileExists(atPath: left.path))
        await outbox.close()
    }
}
