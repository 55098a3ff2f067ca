#if os(Linux) || os(macOS)
import Errand
import ErrandSupport
import ErrandTesting
import ErrandTransfers
import Foundation
import Synchronization
import Testing

@testable import ErrandResumableDownload

@Suite("Many downloads and few files", .endsInTime, .leakChecked) struct SlotTests {
    @Test(
        "the requested number of downloads succeeds in a process that can open few files",
        arguments: [(300, 256), (1000, 1024), (40, 64)])
    func limited(count: Int, limit: Int) async throws {
        let folder = try Folder()
        let server = try TestServer()
        let film = bytes(20_000)
        server.on("/*", .ranges(film, etag: "\"1\""))
        let ended = try await run(limit, server.url, folder.url.path, "\(count)")
        #expect(ended.hasPrefix("\(count) files, "), "\(ended)")
        #expect(!ended.contains(" 0 waited"), "\(ended)")
        #expect(folder.names.count == count)
        for name in folder.names { #expect(try folder.data(name) == film) }
    }

    @Test("a download waits, and reports that, while the process has no free file descriptors")
    func full() async throws {
        let folder = try Folder()
        let server = try TestServer()
        server.on("/*", .ranges(bytes(20_000), etag: "\"1\""))
        #expect(try await run(128, server.url, folder.url.path, "1", "full").hasPrefix("1 files, 1 waited"))
        #expect(folder.names == ["0"])
    }

    @Test("waiting requests proceed in the order of their arrival, and a cancelled request leaves at once")
    func fair() async throws {
        let budget = DescriptorBudget { 4 }
        let log = OrderLog()
        let gate = Gate()
        @Sendable func start(_ number: Int, weight: Int) -> Task<Void, any Error> {
            Task {
                try await budget.withDescriptors(for: weight) {
                } _: {
                    log.order.withLock { $0.append(number) }
                    if number == 0 { try await gate.wait() }
                }
            }
        }
        let first = start(0, weight: 3)
        try await eventually { log.order.withLock { $0.count } == 1 }
        // The second is too large for the free slots. The third would fit, but must wait for its turn.
        var waiting: [Task<Void, any Error>] = []
        for (number, weight) in [(1, 4), (2, 1), (3, 2), (4, 9)] {
            waiting.append(start(number, weight: weight))
            try await eventually { budget.waiting == number }
        }
        waiting[1].cancel()
        #expect((await waiting[1].result).isFailure)
        #expect(budget.waiting == 3 && log.order.withLock { $0 } == [0])
        gate.open()
        _ = try await first.value
        for task in [waiting[0], waiting[2], waiting[3]] { _ = try await task.value }
        #expect(log.order.withLock { $0 } == [0, 1, 3, 4] && budget.waiting == 0)
    }

    @Test("a download within a download doesn't wait for itself, and a cancelled task doesn't get a place")
    func nested() async throws {
        let budget = DescriptorBudget { 3 }
        try await budget.withDescriptors(for: 3) {
        } _: {
            try await budget.withDescriptors(for: 3) {
                Issue.record("waited")
            } _: {
            }
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await budget.withDescriptors(for: 3) {
            } _: {
            }
        }
        #expect((await task.result).isFailure)
        #expect(DescriptorBudget.capacity(limit: 0) == 6 && DescriptorBudget.capacity(limit: 256) == 128)
        #expect(DescriptorBudget.capacity(limit: .max) == 4096)
    }

    /// Runs the program with a limit on open files, and returns its output.
    private func run(_ limit: Int, _ arguments: String...) async throws -> String {
        let program = try Program(built: "errand-download-process").path
        let files = try Folder()
        try Data().write(to: files.file("output"))
        let (end, ending) = AsyncStream<Void>.makeStream()
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", "ulimit -n \(limit); exec \"$@\"", "errand", program] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: files.file("output"))
        process.terminationHandler = { _ in ending.finish() }
        try process.run()
        for await _ in end {}
        return String(decoding: try files.data("output"), as: UTF8.self)
    }
}

private final class OrderLog: Sendable {
    let order = Mutex<[Int]>([])
}
#endif
