import Errand
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandURLSessionTransport

@Suite("Chunks for a stream that accepts bytes only while it has room", .endsInTime, .leakChecked)
struct ChunkWriterTests {
    /// A stream with limited room.
    private final class Outlet: Sendable {
        private struct State: Sendable {
            var room = 0
            var bytes = Data()
            var isClosed = false
        }

        private let state = Mutex(State())

        var bytes: Data { state.withLock(\.bytes) }
        func makeRoom(_ count: Int) { state.withLock { $0.room = count } }
        func close() { state.withLock { $0.isClosed = true } }

        func offer(_ bytes: Data) -> ChunkWriter.Acceptance {
            state.withLock { state in
                if state.isClosed { return .isClosed }
                let count = min(state.room, bytes.count)
                if count == 0 { return .isFull }
                state.room -= count
                state.bytes.append(contentsOf: bytes.prefix(count))
                return .took(count)
            }
        }
    }

    private let outlet = Outlet()
    private let queue = DispatchQueue(label: "errand.tests.chunks")
    private let writer: ChunkWriter

    init() { writer = ChunkWriter(on: queue) { [outlet] in outlet.offer($0) } }

    @Test("an upload that the session doesn't read doesn't block a thread, and continues with the stream's next event")
    func noThread() async {
        let data = Data((0..<100).map { UInt8($0) })
        async let isWritten = writer.write(data)
        var rounds = 0
        while outlet.bytes.count < data.count {
            // The queue stays free although the stream is full.
            outlet.makeRoom(7)
            await onQueue { $0.roomIsThere() }
            rounds += 1
            await Task.yield()
        }
        #expect(await isWritten)
        #expect(outlet.bytes == data)
        #expect(rounds >= 15)
    }

    @Test("chunks are written in order, and empty chunks are skipped")
    func order() async {
        outlet.makeRoom(.max)
        for chunk in ["one,", "", "two,", "three"] { #expect(await writer.write(Data(chunk.utf8))) }
        #expect(String(decoding: outlet.bytes, as: UTF8.self) == "one,two,three")
    }

    @Test("a waiting chunk is refused when the stream closes, and so are later chunks", arguments: [true, false])
    func closed(byStream: Bool) async {
        outlet.makeRoom(3)
        async let isWritten = writer.write(Data("four".utf8))
        while outlet.bytes.count < 3 { await Task.yield() }
        if byStream {
            outlet.close()
            await onQueue { $0.roomIsThere() }
        } else {
            writer.close()
        }
        #expect(await !isWritten)
        #expect(await !writer.write(Data("five".utf8)))
        #expect(await !writer.write(Data()))
        #expect(outlet.bytes == Data("fou".utf8))
    }

    private func onQueue(_ work: @escaping @Sendable (ChunkWriter) -> Void) async {
        await withCheckedContinuation { continuation in
            queue.async { [writer] in
                work(writer)
                continuation.resume()
            }
        }
    }
}
