import Errand
import ErrandOutbox
import ErrandTesting
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Compares a durable enqueue with a bare write and flush on the same disk, and measures how long an outbox with many
/// entries takes to open.
enum OutboxBench {
    private struct Note: OutboxRequest {
        typealias Output = Void
        let number: Int
        var text = String(repeating: "x", count: 200)
        var outboxLane: String { "\(number % 100)" }
    }

    static func run() async throws {
        let folder = TemporaryDirectory()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let outbox = try await opened(at: folder.url.appending(path: "enqueue"))
        let file = open(folder.url.appending(path: "bare").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(file) }
        let bytes = [UInt8](repeating: 1, count: 400)
        var rounds = Rounds()
        for round in 0..<15 {
            await rounds.take("bare write and flush") {
                await microseconds(50) { for _ in 0..<50 { append(bytes, to: file) } }
            }
            try await rounds.take("enqueue") {
                try await microseconds(50) {
                    for number in 0..<50 { try await outbox.enqueue(Note(number: round * 100 + number)) }
                }
            }
            try await rounds.take("enqueue, 64 at once") { try await microseconds(64) { try await fill(outbox, 64) } }
        }
        rounds.reportMinimum("µs", against: "bare write and flush")
        await outbox.close()

        try await starts(in: folder.url)
    }

    /// Measures the time to open an outbox with several numbers of entries, and the memory of the largest one.
    private static func starts(in folder: URL) async throws {
        let counts = [10_000, 5_000, 1_000]
        for count in counts {
            let before = residentBytes()
            let outbox = try await opened(at: folder.appending(path: "\(count)"))
            for _ in 0..<(count / 200) { try await fill(outbox, 200) }
            if count == counts[0] {
                let grown = Double(residentBytes() - before) / Double(1 << 20)
                print("\(Rounds.pad("\(count) entries in memory", 44)) \(Rounds.number(grown)) MiB")
            }
            await outbox.close()
        }
        var (processor, wall) = (Rounds(), Rounds())
        for _ in 0..<7 {
            for count in counts {
                let name = "start with \(count) entries"
                var outbox: Outbox?
                let start = ContinuousClock.now
                try await processor.take("\(name), processor") {
                    try await cpuMicroseconds(1) { outbox = try await opened(at: folder.appending(path: "\(count)")) }
                        / 1000
                }
                await wall.take(name) { (ContinuousClock.now - start) / .milliseconds(1) }
                guard let outbox, outbox.state.entries.count == count else { throw Incomplete() }
                await outbox.close()
            }
        }
        processor.reportMinimum("ms", against: "start with 1000 entries, processor")
        wall.reportMinimum("ms", against: "start with 1000 entries")
    }

    private struct Incomplete: Error {}

    private static func append(_ bytes: [UInt8], to file: Int32) {
        guard write(file, bytes, bytes.count) == bytes.count else { return }
        #if os(Linux)
        fdatasync(file)
        #else
        _ = fcntl(file, F_FULLFSYNC)
        #endif
    }

    private static func opened(at directory: URL) async throws -> Outbox {
        let agent = NetworkAgent(baseURL: "https://example.com", transport: .stub(.text("")))
        var options = OutboxOptions()
        options.allowsSending = false
        options.maximumEntries = 20_000
        return try await agent.outbox(at: directory, sending: [.type("note", Note.self)], options: options)
    }

    private static func fill(_ outbox: Outbox, _ count: Int) async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<count { group.addTask { _ = try await outbox.enqueue(Note(number: number)) } }
            try await group.waitForAll()
        }
    }
}
