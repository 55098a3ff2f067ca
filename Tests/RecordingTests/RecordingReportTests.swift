import Errand
import ErrandRecording
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

/// Entries that other recorders got wrong. Tests/Lessons.md has the reports.
@Suite("Entries that other recorders got wrong", .endsInTime, .leakChecked)
struct RecordingReportTests {
    private func entries(_ recorder: ExchangeRecorder) throws -> [HARFile.Entry] {
        try JSONDecoder().decode(HARFile.self, from: recorder.harFile().encoded()).log.entries
    }

    @Test("a request that is cancelled isn't recorded as running: it has its end, its time and its outcome")
    func cancelled() async throws {
        let (time, gate) = (ManualTimeSource(), Gate())
        let recorder = ExchangeRecorder(maximumBodyBytes: 100, time: time)
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("ok").waiting(for: gate)), accessories: [recorder], time: time)
        let handle = agent.start(Get())
        try await gate.reached()
        time.advance(by: .seconds(3))
        handle.cancel()
        _ = await handle.result
        let recording = recorder.recording
        #expect(recording.exchanges.map(\.outcome) == [.cancelled])
        #expect(recording.activities.map(\.outcome) == [.cancelled])
        #expect(recording.exchanges.map(\.duration) == [.seconds(3)])
        let entry = try #require(try entries(recorder).first)
        #expect(entry.time == 3000 && entry.response.status == 0 && entry.comment == "Get, cancelled")
        #expect(recorder.waterfallPage(title: "x").html.contains("cancelled"))
    }

    @Test(
        "a body that is empty although the response names a coding is recorded as empty",
        arguments: ["gzip", "deflate", "br"])
    func emptyCoded(coding: String) async throws {
        let server = try TestServer()
        server.on("/text", TestResponse(headers: ["Content-Encoding": coding, "Content-Type": "text/html"]))
        server.on("/head", .text("unused").header("Content-Encoding", coding))
        let recorder = ExchangeRecorder(maximumBodyBytes: 1000)
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [recorder])
        #expect(try await agent.send(Call<Data>(.get, "text")).value.isEmpty)
        _ = try await agent.send(Call<Data>(.head, "head"))
        for entry in try entries(recorder) {
            #expect(entry.response.status == 200 && entry.response.content.size == 0)
            #expect(entry.response.content.text ?? "" == "" && entry.response.content.comment == nil)
        }
    }

    @Test("the size of a body is the number of its bytes, whether the server announced it or not")
    func sizes() async throws {
        let server = try TestServer()
        let text = String(repeating: "0123456789", count: 1000)
        server.on("/length", .text(text))
        server.on("/chunks", .text(text).chunked())
        server.on("/close", .text(text).untilClose())
        let recorder = ExchangeRecorder(maximumBodyBytes: 100)
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [recorder])
        for path in ["length", "chunks", "close"] { _ = try await agent.send(Get(path: path)) }
        let entries = try entries(recorder)
        #expect(entries.map(\.response.content.size) == [10_000, 10_000, 10_000])
        #expect(entries.allSatisfy { $0.response.bodySize >= 10_000 })
        #expect(entries.allSatisfy { $0.response.content.comment == "the first 100 of 10000 bytes" })
    }

    @Test(
        "no size in an archive is negative, except for -1, whatever the transport has counted",
        arguments: [0, 1, 40, 1_000, 1_100, -1, Int64.max])
    func counted(received: Int64) async throws {
        var timings = TransferTimings()
        timings.bytesReceived = received
        let bodies = [
            StubResponse.text(String(repeating: "a", count: 1_000)), .status(204), .status(304),
            .failure(ErrandError(.connectionLost, "lost")),
        ]
        for body in bodies {
            let recorder = ExchangeRecorder(maximumBodyBytes: 2000)
            let stub = body.reporting(.timings(timings))
            let agent = NetworkAgent(baseURL: base, transport: .stub(stub), accessories: [recorder])
            _ = try? await agent.send(Post(body: .text("sent")))
            let entry = try #require(try entries(recorder).first)
            let (request, response) = (entry.request, entry.response)
            #expect(request.bodySize == 4 && request.headersSize >= -1)
            #expect(response.bodySize >= -1 && response.headersSize >= -1 && response.content.size >= 0)
            #expect(response.content.compression ?? 0 >= 0, "\(response.content.compression ?? 0)")
        }
    }

    @Test("times are right although the device's date is set back while the request runs")
    func dateSetBack() async throws {
        let (time, gate) = (ManualTimeSource(), Gate())
        let recorder = ExchangeRecorder(time: time)
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("ok").waiting(for: gate)), accessories: [recorder], time: time)
        let date = time.date
        let handle = agent.start(Get())
        try await gate.reached()
        time.date -= 3600
        time.advance(by: .seconds(2))
        gate.open()
        _ = try await handle.value
        let exchange = try #require(recorder.recording.exchanges.first)
        #expect(exchange.duration == .seconds(2) && exchange.offset == .zero && exchange.date == date)
        let entry = try #require(try entries(recorder).first)
        #expect(entry.time == 2000 && entry.timings.wait >= 0 && entry.timings.receive >= 0)
    }

    @Test("a recorder that the agent and the call both have records each request once")
    func givenTwice() async throws {
        let recorder = ExchangeRecorder(maximumBodyBytes: 100)
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("ok")), accessories: [recorder])
        _ = try await agent.send(Get(), options: CallOptions(accessories: [recorder]))
        #expect(recorder.recording.exchanges.count == 1 && recorder.recording.activities.count == 1)
        #expect(recorder.recording.exchanges.map(\.response?.body.text) == ["ok"])
        #expect(try entries(recorder).count == 1)
    }

    /// Returns a gzip member of stored blocks, without its end.
    private static func gzip(_ data: Data) -> Data {
        var result = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF])
        for start in stride(from: 0, to: data.count, by: 65_535) {
            let block = data.dropFirst(start).prefix(65_535)
            let size = UInt16(block.count)
            result += [0] + [size, ~size].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } + block
        }
        return result
    }

    @Test("a compressed stream of which the app reads only the beginning is recorded without an error")
    func partlyReadCoded() async throws {
        struct Stream: Request {
            typealias Output = HTTPBody
            var path = "text"
        }
        let server = try TestServer()
        let text = Data((0..<200_000).flatMap { "line \($0)\n".utf8 })
        server.on("/text", .data(Self.gzip(text), contentType: "text/plain").header("Content-Encoding", "gzip"))
        let recorder = ExchangeRecorder(maximumBodyBytes: 1 << 20)
        let agent = NetworkAgent(baseURL: server.url, transport: .system, accessories: [recorder])
        do {
            var chunks = try await agent.send(Stream()).value.makeAsyncIterator()
            let first = try #require(try await chunks.next())
            #expect(text.starts(with: first) && first.count < text.count)
        }
        try await eventually { recorder.recording.exchanges.first?.outcome != nil }
        let entry = try #require(try entries(recorder).first)
        #expect(entry.response.status == 200 && entry.response.content.text ?? "" == "")
    }
}
