import Errand
import ErrandOutbox
import ErrandSystemTransport
import Foundation

/// Runs an outbox until the process is killed; for tests.
///
/// `errand-outbox-process URL DIRECTORY COUNT LANES [enqueue]` enqueues COUNT notes, sequentially within each lane,
/// prints the number of each acknowledged note, and then waits. With `enqueue`, it doesn't send them.
///
/// `errand-outbox-process oracle …`: see ``RandomRun``.
@main
struct OutboxProcess {
    struct Note: OutboxRequest {
        typealias Output = Void
        let lane: Int
        let number: Int
        var method: HTTPMethod { .post }
        var path: String { "notes/\(lane)" }
        var body: RequestBody { .text("\(number)") }
        var outboxLane: String { "\(lane)" }
    }

    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 5 else { exit(2) }
        if arguments[1] == "oracle" { return try await RandomRun.run(Array(arguments.dropFirst(2))) }
        guard let count = Int(arguments[3]), let lanes = Int(arguments[4]) else { exit(2) }
        try await run(arguments[1], arguments[2], count, lanes, sends: arguments.count == 5)
    }

    @concurrent static func run(_ url: String, _ directory: String, _ count: Int, _ lanes: Int, sends: Bool)
        async throws
    {
        let agent = NetworkAgent(baseURL: url, transport: .system)
        var options = OutboxOptions(maximumConcurrent: 3, backoff: Backoff(base: .milliseconds(5)))
        options.allowsSending = sends
        options.checkInterval = .milliseconds(20)
        let outbox = try await agent.outbox(
            at: URL(filePath: directory, directoryHint: .isDirectory), sending: [.type("note", Note.self)],
            options: options)
        try await withThrowingTaskGroup { group in
            for lane in 0..<lanes {
                group.addTask {
                    for number in 0..<count { try await outbox.enqueue(Note(lane: lane, number: number)) }
                }
            }
            try await group.waitForAll()
        }
        for await state in outbox.states where state.entries.isEmpty && sends { break }
        FileHandle.standardOutput.write(Data("empty\n".utf8))
    }
}
