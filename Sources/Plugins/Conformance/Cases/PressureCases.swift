import Errand
import ErrandEssentials
import ErrandTesting

enum PressureCases {
    static let all: [ConformanceDraft] = [
        ConformanceDraft(.backpressure, "a reader that pauses makes the server pause, and other requests continue") {
            bench in
            let total = 256 << 20
            let gate = Gate()
            // The sockets buffer a few megabytes. If the server can send 64 MiB, other code must have buffered bytes
            // too.
            let endless = TestResponse.repeating(count: total).waiting(for: gate, afterBodyBytes: 64 << 20)
            bench.server.on("/endless", endless)
            let response = try await bench.stream("/endless")
            var iterator = response.body.makeAsyncIterator()
            var count = try await iterator.nextPromptly()?.count ?? 0
            for _ in 0..<20 {
                try await bench.expectWorking(after: "a reader stopped")
                try await Task.sleep(for: .milliseconds(50))
                try bench.equal(gate.arrivals, 0, "the number of servers that sent 64 MiB to a paused reader")
            }
            while gate.arrivals == 0, let chunk = try await iterator.nextPromptly() {
                count += chunk.count
                if count >= 48 << 20 { gate.open() }
            }
            gate.open()
            while let chunk = try await iterator.nextPromptly() { count += chunk.count }
            try bench.equal(count, total, "the number of bytes that the reader received")
        },
        ConformanceDraft(.uploadBackpressure, "a server that doesn't read makes the body's source pause") { bench in
            let gate = Gate()
            bench.server.on("/up", .text("never"), reading: .held(by: gate))
            let source = PiecesSource(Data(count: 128 << 10), [], isEndless: true)
            let stream = RequestBody.stream { HTTPBody(source: source) }
            let task = Task { try await bench.exchange(.post, "/up", body: stream) }
            try await gate.reached()
            var (last, quiet) = (-1, 0)
            while quiet < 20 {
                try await Task.sleep(for: .milliseconds(25))
                let pulled = source.pulled
                (last, quiet) = (pulled, pulled == last ? quiet + 1 : 0)
                try bench.expect(pulled < 64 << 20, "the source to pause", came: "it produced \(pulled) bytes")
            }
            task.cancel()
            try await bench.failure(of: "a cancelled upload", .cancelled) { try await task.value }
            try await bench.expectWorking(after: "an upload whose source had to pause")
        },
        ConformanceDraft(
            .uploadBackpressure, "each piece of a streamed body is sent before the source produces the next"
        ) { bench in
            let (gate, first, received) = (Gate(), Gate(), Watched(Data()))
            let stream = RequestBody.stream { HTTPBody(source: LateSource(gate)) }
            let reading = BodyReading.watched { _, piece in
                received.update { $0.append(piece) }
                if !piece.isEmpty { first.open() }
                return []
            }
            bench.server.on("/up", reading: reading) { _ in .data(received.read { $0 }) }
            let task = Task { try await bench.exchange(.post, "/up", body: stream) }
            defer {
                gate.open()
                task.cancel()
            }
            try await promptly("the first piece of the body, before the second one exists") { try await first.wait() }
            gate.open()
            try bench.equal(try await task.value.text, "first, then second", "the body that the server received")
        },
    ]
}

/// A source of a body in two pieces. Before the second piece, it waits for a gate.
private final class LateSource: HTTPBodySource {
    private let gate: Gate
    private let count = Watched(0)

    init(_ gate: Gate) { self.gate = gate }

    func nextChunk() async throws -> Data? {
        let index = count.update { count in
            defer { count += 1 }
            return count
        }
        if index == 1 { try await gate.wait() }
        return index < 2 ? Data((index == 0 ? "first, " : "then second").utf8) : nil
    }

    func cancel() {}
}
