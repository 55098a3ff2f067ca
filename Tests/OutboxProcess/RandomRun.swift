import Errand
import ErrandOutbox
import ErrandSystemTransport
import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Random concurrent operations on an outbox, until the process is killed or its parent has ended.
///
/// `errand-outbox-process oracle URL DIRECTORY NAME FIRST [drain]`: NAME distinguishes the processes on a directory,
/// FIRST is the first number. With `drain`, it doesn't enqueue, and ends when everything is sent. It prints a line
/// before and after each operation:
///
/// ```
/// enqueue NUMBER KIND LANE
/// stored NUMBER ENTRY          or: failed NUMBER CODE
/// remove ENTRY
/// limit                        the disk is full for the next operation, and for all that happens meanwhile
/// ```
final class RandomRun: Sendable {
    private static let maximumConcurrent = 6
    private static let output = Mutex(Output())

    private let outbox: Outbox
    private let name: String
    private let log: String
    /// The tests' process, which kills this process. If it was killed itself, this process must end on its own.
    private let parent = getppid()
    private let next: Mutex<Int>
    private let notes = Mutex<[(number: Int, id: OutboxEntry.ID)]>([])

    private init(_ outbox: Outbox, _ directory: URL, name: String, first: Int) {
        (self.outbox, self.name) = (outbox, name)
        next = Mutex(first)
        log = directory.appending(path: "outbox.log").path
    }

    @concurrent static func run(_ arguments: [String]) async throws {
        guard arguments.count >= 4, let first = Int(arguments[3]) else { exit(2) }
        signal(SIGXFSZ, SIG_IGN)
        let directory = URL(filePath: arguments[1], directoryHint: .isDirectory)
        let agent = NetworkAgent(baseURL: arguments[0], transport: .system)
        var options = OutboxOptions(
            maximumConcurrent: maximumConcurrent,
            backoff: Backoff(base: .milliseconds(2), maximumDelay: .milliseconds(20)))
        options.checkInterval = .milliseconds(20)
        let outbox = try await agent.outbox(
            at: directory, sending: [.type("work", RandomWork.self)], options: options, deciding: decide)
        let run = RandomRun(outbox, directory, name: arguments[2], first: first)
        if arguments.last != "drain" {
            for task in 0..<4 { Task { while true { try await run.step(task) } } }
        }
        for await state in outbox.states {
            for entry in state.entries where entry.state == .stopped { outbox.resume(lane: entry.lane) }
            if arguments.last == "drain", state.entries.isEmpty { return await print("empty") }
        }
    }

    /// Returns the decision that the oracle expects.
    private static func decide(_ refusal: OutboxRefusal) -> OutboxDecision {
        guard var work = refusal.request as? RandomWork else { exit(3) }
        work.isEdited = true
        switch (refusal.reason, refusal.response?.status) {
        case (.failed, 409): return .drop
        case (.failed, 422): return .edit(work)
        case (.failed, 423): return .stop
        case (.dependencyLost, _):
            work.after = []
            return .edit(work)
        default: exit(4)
        }
    }

    private func step(_ task: Int) async throws {
        if getppid() != parent { exit(6) }
        if .random(in: 0..<8) == 0 {
            // Limits the enqueued entries to a number that can be sent.
            for await state in outbox.states where state.entries.count < 200 { break }
        }
        let old = notes.withLock { notes in
            notes.isEmpty || .random(in: 0..<10) > 0 ? nil : notes.remove(at: .random(in: notes.indices))
        }
        if let old {
            await Self.print("remove \(old.id)")
            do { try await outbox.remove(old.id) } catch let error as OutboxError where error.code == .noSpace {}
            return
        }
        let (work, dependencies) = newWork(task)
        await Self.print("enqueue \(work.numbers[0]) \(work.kind.rawValue) \(work.lane)")
        do {
            let id = try await enqueue(work, dependencies)
            if work.kind == .note { notes.withLock { $0.append((work.numbers[0], id)) } }
            await Self.print("stored \(work.numbers[0]) \(id)")
        } catch let error as OutboxError {
            await Self.print("failed \(work.numbers[0]) \(error.code)")
        }
    }

    private func enqueue(_ work: RandomWork, _ dependencies: [OutboxEntry.ID]) async throws -> OutboxEntry.ID {
        if Int.random(in: 0..<40) > 0 { return try await outbox.enqueue(work, after: dependencies) }
        await Self.print("limit")
        limitFiles()
        defer { Self.setLimit(.max) }
        return try await outbox.enqueue(work, after: dependencies)
    }

    private func newWork(_ task: Int) -> (RandomWork, after: [OutboxEntry.ID]) {
        let number = next.withLock { next in
            defer { next += 1 }
            return next
        }
        let filling = String(repeating: "x", count: .random(in: 0..<1500))
        switch Int.random(in: 0..<5) {
        case 0: return (RandomWork(kind: .draft, lane: "\(name)-\(task)", numbers: [number], filling: filling), [])
        case 1: return (RandomWork(kind: .cart, lane: "\(name)-\(task)-cart", numbers: [number]), [])
        default:
            let after = notes.withLock { notes in
                (0..<(notes.isEmpty ? 0 : .random(in: 0..<3))).map { _ in notes[.random(in: notes.indices)] }
            }
            let work = RandomWork(
                kind: .note, lane: "\(Int.random(in: 0..<4))", numbers: [number], after: after.map(\.number),
                filling: filling)
            return (work, after.map(\.id))
        }
    }

    // MARK: A disk that is full

    /// Allows files to grow only a little further, so a write may fail midway.
    private func limitFiles() {
        let size = (try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int) ?? 0
        Self.setLimit(rlim_t(max(0, size + .random(in: -1000..<2000))))
    }

    private static func setLimit(_ bytes: rlim_t) {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        #else
        let resource = RLIMIT_FSIZE
        #endif
        getrlimit(resource, &limit)
        limit.rlim_cur = min(bytes, limit.rlim_max)
        setrlimit(resource, &limit)
    }

    /// Prints whole lines in order. The file size limit also affects standard output, so a line waits until the limit
    /// ends, without blocking a thread.
    private static func print(_ line: String) async {
        let end = output.withLock { $0.add("\(line)\n") }
        while !output.withLock({ $0.flush(upTo: end) }) { try? await Task.sleep(for: .milliseconds(1)) }
    }
}

private struct Output: Sendable {
    private let descriptor = FileHandle.standardOutput.fileDescriptor
    private var pending: [UInt8] = []
    private var written = 0

    /// Adds text, and returns the total byte count at which it is completely written.
    mutating func add(_ text: String) -> Int {
        pending += text.utf8
        return written + pending.count
    }

    /// Writes as much as possible, and returns whether that many bytes are written.
    mutating func flush(upTo end: Int) -> Bool {
        while written < end {
            let count = pending.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { return false }
            pending.removeFirst(count)
            written += count
        }
        return true
    }
}
