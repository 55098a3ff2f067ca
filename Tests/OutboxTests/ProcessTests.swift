#if os(Linux) || os(macOS)
import Errand
import ErrandEssentials
import ErrandOutbox
import ErrandTesting
import Foundation
import Testing

/// Outboxes of other processes, which are killed at any moment.
@Suite("Outboxes of processes", .timeLimit(.minutes(10))) struct ProcessTests {
    private let folder = TemporaryDirectory()
    private let received = Log<Arrival>()

    private struct Arrival {
        let lane: String
        let number: Int
        let key: String
    }

    /// A server that now and then refuses to work; it counts what it has worked on.
    private func server(failing: Bool) throws -> TestServer {
        let (received, random) = (received, SharedGenerator(seed: 7))
        return try TestServer { request in
            if failing, random.below(10) == 0 { return .status(503) }
            received.add(
                Arrival(
                    lane: String(request.path.dropFirst("/notes/".count)), number: Int(request.text) ?? -1,
                    key: request.headers[.idempotencyKey] ?? ""))
            // The work is done, and the client does not learn of it.
            if failing, random.below(10) == 0 { return .text("").closing(afterBytes: 0) }
            return .text("")
        }
    }

    /// What arrived, each key once, is in the order of its lane; what arrived again is the same. (A request of a killed
    /// process may lie in the server for a while.)
    private func check(acknowledged: Set<String>) {
        var last: [String: Arrival] = [:]
        var first: [String: Arrival] = [:]
        for arrival in received.all {
            if let same = first[arrival.key] {
                #expect(same.number == arrival.number && same.lane == arrival.lane)
                continue
            }
            first[arrival.key] = arrival
            if let before = last[arrival.lane] { #expect(arrival.number > before.number, "\(arrival) after \(before)") }
            last[arrival.lane] = arrival
        }
        let seen = Set(first.values.map { "\($0.lane) \($0.number)" })
        #expect(acknowledged.isSubset(of: seen), "\(acknowledged.subtracting(seen).count) are lost")
    }

    private func acknowledged(_ output: Program.Output) -> Set<String> {
        Set(output.text.split(separator: "\n").map(String.init).filter { $0.contains(" ") })
    }

    @Test("killed at any moment, again and again: what was acknowledged arrives, in its order")
    func kills() async throws {
        let server = try server(failing: true)
        let program = try Program(built: "errand-outbox-process")
        var random = SeededGenerator(seed: UInt64.random(in: 0 ... .max))
        var all: Set<String> = []
        let rounds = ProcessInfo.processInfo.environment["ERRAND_LONG_TESTS"] == nil ? 12 : 200
        for _ in 0..<rounds {
            let before = received.count
            let child = try program.start([server.url, folder.url.path, "500", "3"])
            try await eventually { received.count > before || child.hasEnded }
            for _ in 0..<random.below(3000) { await Task.yield() }
            child.signal(SIGKILL)
            all.formUnion(acknowledged(try await child.ended()))
        }
        let last = try await program.run([server.url, folder.url.path, "1", "3"], limit: .seconds(400))
        #expect(last.text.hasSuffix("empty\n"), "\(last)")
        all.formUnion(acknowledged(last))
        check(acknowledged: all)
    }

    @Test("several processes enqueue in one directory, and one of them sends all of it")
    func several() async throws {
        let server = try server(failing: false)
        let program = try Program(built: "errand-outbox-process")
        let children = try (0..<2).map { _ in
            try program.start([server.url, folder.url.path, "50", "1", "enqueue"])
        }
        let sender = try program.start([server.url, folder.url.path, "50", "1"])
        try await received.wait { $0.count >= 150 }
        for child in children { child.signal(SIGKILL) }
        let output = try await sender.ended()
        #expect(output.text.hasSuffix("empty\n"))
        #expect(received.count == 150 && Set(received.all.map(\.key)).count == 150)
    }
}
#endif
