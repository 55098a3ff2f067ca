import Errand
import ErrandJSONValidation
import ErrandStreaming
import ErrandSystemTransport
import ErrandTesting
import ErrandURLSessionTransport
import Foundation
import Synchronization

/// Compares lines, events and JSON values with a bare loop that makes the same values from the same chunks. Then
/// measures the time from an event's last byte to its reader, and the memory for a gigabyte.
enum StreamingBench {
    private struct Row: Codable, Sendable {
        let id: Int
        let name: String
        let active: Bool
        let note: String
    }

    private static let text = chunks(16 << 20) {
        "2026-11-21T20:00:00Z worker[\($0 % 512)] job \($0) finished in \($0 % 977) ms\n"
    }
    private static let events = chunks(16 << 20) {
        "id: \($0)\nevent: delta\ndata: {\"index\":\($0),\"text\":\"a few words of a response\"}\n\n"
    }
    private static let rows = chunks(4 << 20) { row($0) + "\n" }
    private static let array = chunks(16 << 20, "[", "]") { ($0 > 0 ? "," : "") + row($0) }

    private static func row(_ index: Int) -> String {
        "{\"id\":\(index),\"name\":\"User number \(index)\",\"active\":true,\"note\":\"likes \\\"quotes\\\" and [brackets]\"}"
    }

    static func run() async throws {
        try await lines()
        try await serverSentEvents()
        try await jsonLines()
        try await jsonElements()
        try await latency()
        try await gigabyte()
    }

    /// Returns chunks as transports deliver them, with elements that cross the chunk boundaries.
    private static func chunks(
        _ size: Int, _ first: String = "", _ last: String = "", _ element: (Int) -> String
    ) -> [Data] {
        var (bytes, index) = (Data(first.utf8), 0)
        while bytes.count < size {
            bytes.append(contentsOf: element(index).utf8)
            index += 1
        }
        bytes.append(contentsOf: last.utf8)
        return stride(from: 0, to: bytes.count, by: 131_072).map {
            Data(bytes[$0..<min(bytes.count, $0 + 131_072)])
        }
    }

    private static func body(_ chunks: [Data]) -> HTTPBody {
        let left = Mutex(chunks[...])
        return HTTPBody { left.withLock { $0.popFirst() } }
    }

    private static func compare(
        _ chunks: [Data], _ bare: String, _ what: String, _ others: [(String, ([Data]) async throws -> Int)]
    ) async throws {
        let bytes = Double(chunks.reduce(0) { $0 + $1.count })
        var rounds = Rounds()
        var counts: Set<Int> = []
        for _ in 0..<7 {
            for (name, body) in others {
                try await rounds.take(name) {
                    bytes / (try await microseconds(1) { counts.insert(try await body(chunks)) })
                }
            }
        }
        if counts.count != 1 { print("\(what): the counts differ: \(counts)") }
        rounds.report("MB/s", against: bare)
    }

    /// A careful version by hand: finds each LF with the C library's search and carries the remainder over.
    private static func splitLines(_ chunks: [Data], _ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        var rest: [UInt8] = []
        for chunk in chunks {
            try chunk.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                var start = 0
                while start < bytes.count, let found = memchr(base + start, 0x0A, bytes.count - start) {
                    let end = UnsafeRawPointer(found) - base
                    let line = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                    if rest.isEmpty {
                        try body(line)
                    } else {
                        rest.append(contentsOf: line)
                        try rest.withUnsafeBytes(body)
                        rest = []
                    }
                    start = end + 1
                }
                rest.append(contentsOf: bytes[start...])
            }
        }
    }

    private static func starts(_ line: UnsafeRawBufferPointer, _ field: StaticString) -> Bool {
        guard let base = line.baseAddress, line.count > field.utf8CodeUnitCount else { return false }
        return memcmp(base, field.utf8Start, field.utf8CodeUnitCount) == 0
    }

    private static func lines() async throws {
        try await compare(
            text, "lines, bare loop", "lines",
            [
                (
                    "lines, bare loop",
                    { chunks in
                        var count = 0
                        Self.splitLines(chunks) { count += String(decoding: $0, as: UTF8.self).utf8.count > 0 ? 1 : 0 }
                        return count
                    }
                ),
                (
                    "lines",
                    { chunks in
                        var count = 0
                        for try await line in Self.body(chunks).lines() { count += line.utf8.count > 0 ? 1 : 0 }
                        return count
                    }
                ),
            ])
    }

    private static func serverSentEvents() async throws {
        try await compare(
            events, "events, bare loop", "events",
            [
                (
                    "events, bare loop",
                    { chunks in
                        var (count, id, name, data) = (0, "", "", "")
                        Self.splitLines(chunks) { line in
                            if line.isEmpty {
                                count += data.utf8.count > 0 && name.utf8.count == 5 && id.utf8.count > 0 ? 1 : 0
                                (name, data) = ("", "")
                            } else if starts(line, "data: ") {
                                data = String(decoding: UnsafeRawBufferPointer(rebasing: line[6...]), as: UTF8.self)
                            } else if starts(line, "event: ") {
                                name = String(decoding: UnsafeRawBufferPointer(rebasing: line[7...]), as: UTF8.self)
                            } else if starts(line, "id: ") {
                                id = String(decoding: UnsafeRawBufferPointer(rebasing: line[4...]), as: UTF8.self)
                            }
                        }
                        return count
                    }
                ),
                (
                    "events",
                    { chunks in
                        var count = 0
                        for try await event in Self.body(chunks).events() {
                            count +=
                                event.data.utf8.count > 0 && event.name.utf8.count == 5 && event.id.utf8.count > 0
                                ? 1 : 0
                        }
                        return count
                    }
                ),
            ])
    }

    private static func jsonLines() async throws {
        try await compare(
            rows, "JSON lines, bare loop", "JSON lines",
            [
                (
                    "JSON lines, bare loop",
                    { chunks in
                        let decoder = JSONDecoder()
                        var count = 0
                        try Self.splitLines(chunks) {
                            count += try decoder.decode(Row.self, from: Data($0)).active ? 1 : 0
                        }
                        return count
                    }
                ),
                (
                    "JSON lines",
                    { chunks in
                        var count = 0
                        for try await row in Self.body(chunks).jsonLines(of: Row.self) { count += row.active ? 1 : 0 }
                        return count
                    }
                ),
            ])
    }

    private static func jsonElements() async throws {
        let whole = array.reduce(into: Data()) { $0.append($1) }
        try await compare(
            array, "the validator's lexer, whole array", "JSON elements",
            [
                (
                    "the validator's lexer, whole array",
                    { _ in
                        try JSONShape.any.validate(whole)
                        return 0
                    }
                ),
                (
                    "JSON elements, as bytes",
                    { chunks in
                        for try await _ in Self.body(chunks).jsonElements(of: Data.self) {}
                        return 0
                    }
                ),
            ])
    }

    /// Measures from just before the server writes an event until its reader has it, one event at a time.
    private static func latency() async throws {
        for (name, transport) in [("libcurl", .system as any Transport), ("URLSession", .urlSession as any Transport)] {
            let count = 2000
            let feed = try ClockFeed(events: count)
            let agent = NetworkAgent(baseURL: "http://127.0.0.1:\(feed.port)", transport: transport)
            var times: [Double] = []
            for try await event in agent.events(Call(.get, "feed"), EventOptions()) {
                guard let sent = UInt64(event.data) else { continue }
                times.append(Double(ClockFeed.now - sent) / 1e6)
            }
            let sorted = times.sorted()
            guard sorted.count == count else {
                print("\(name): \(sorted.count) of \(count) events")
                continue
            }
            let text = [count / 2, count * 99 / 100, count - 1].map { Rounds.number(sorted[$0]) }.joined()
            print("\(Rounds.pad("an event to its reader, \(name)", 44))\(text) ms: median, p99, longest")
        }
    }

    private static func gigabyte() async throws {
        let server = try TestServer()
        let unit = Data(
            String(
                repeating: "a line of some eighty bytes, which is what the lines of many logs have about\n", count: 800
            ).utf8)
        let total = 1 << 30
        server.on("/log", .repeating(unit, count: total))
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let before = residentBytes()
        var (count, most) = (0, 0)
        let time = try await microseconds(1) {
            for try await _ in agent.lines(Call(.get, "log")) {
                count += 1
                if count % 1_000_000 == 0 {
                    most = max(most, residentBytes())
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
        }
        print(
            "\(Rounds.pad("1 GiB of lines over a socket", 44)) \(Rounds.number(Double(total) / time)) MB/s, \(count) lines, \(Rounds.number(Double(max(0, most - before)) / 1024)) KiB more memory"
        )
    }
}
