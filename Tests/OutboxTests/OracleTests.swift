#if os(Linux) || os(macOS)
import Errand
import ErrandEssentials
import ErrandTesting
import Foundation
import Testing

/// Two processes change outboxes in one directory at random and are killed at any moment; the oracle compares the
/// outcome with what they reported. `ERRAND_LONG_TESTS=1` runs 100,000 operations.
@Suite("An outbox against an oracle", .timeLimit(.minutes(60))) struct OracleTests {
    private static let isLong = ProcessInfo.processInfo.environment["ERRAND_LONG_TESTS"] != nil

    @Test(
        "two processes that are killed repeatedly don't lose, repeat or reorder entries, even on a full disk"
    )
    func processes() async throws {
        let oracle = OutboxOracle()
        let server = try TestServer { oracle.respond(to: $0) }
        let folder = TemporaryDirectory()
        let program = try Program(built: "errand-outbox-process")
        var first = 0
        while oracle.operationCount < (Self.isLong ? 100_000 : 400) {
            var children: [RunningProgram] = []
            for name in ["a", "b"] {
                children.append(try program.start(["oracle", server.url, folder.url.path, name, "\(first)"]))
                first += 1_000_000
            }
            let goal = oracle.arrivalCount + .random(in: 0..<(Self.isLong ? 300 : 60))
            try await eventually { oracle.arrivalCount >= goal || children.contains(where: \.hasEnded) }
            for child in children.shuffled() {
                // Sleeps instead of yielding: the processes use the cores meanwhile, and yields would take minutes on
                // a busy machine.
                try await Task.sleep(for: .microseconds(.random(in: 0..<20_000)))
                child.signal(SIGKILL)
                let output = try await child.ended()
                try #require(output.wasKilled && output.status == SIGKILL, "\(output)")
                oracle.read(output.text)
            }
        }
        let last = try await program.run(
            ["oracle", server.url, folder.url.path, "c", "\(first)", "drain"], limit: .seconds(400))
        #expect(last.status == 0, "\(last)")
        let problems = oracle.problems()
        #expect(problems.isEmpty, "\(problems.count), such as \(problems.prefix(20).joined(separator: "\n"))")
        #expect(oracle.workCount > 0)
        if Self.isLong { print(oracle.summary) }
    }
}
#endif
