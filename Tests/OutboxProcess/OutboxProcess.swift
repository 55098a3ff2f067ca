import Errand
import ErrandOutbox
import ErrandSystemTransport
import Foundation

/// A process with an outbox, until it is killed; for tests.
///
/// `errand-outbox-process URL DIRECTORY COUNT LANES [enqueue]`: enqueues that many notes, one after the other in each lane, and
/// prints the number of each that was acknowledged; then it waits. With `enqueue` it sends nothing.
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
        guard arguments.count >= 5, let count = Int(arguments[3]), let lanes = Int(arguments[4]) else { exit(2) }
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
        // Numbers go on where an earlier process was killed.
        let start = Int(Date().timeIntervalSince1970 * 1e6)
        try await withThrowingTaskGroup { group in
            for lane in 0..<lanes {
                group.addTask {
                    for number in 0..<count {
                        let note = Note(lane: lane, number: start + number)
                        try await outbox.enqueue(note)
                        acknowledge("\(lane) \(note.number)\n")
                    }
                }
            }
            try await group.waitForAll()
        }
        acknowledge("done\n")
        for await state in outbox.states where state.entries.isEmpty && sends { break }
        acknowledge("empty\n")
    }

    /// In one call of the system: a kill leaves no half of a line.
    static func acknowledge(_ line: String) {
        FileHandle.standardOutput.write(Data(line.utf8))
    }
}
