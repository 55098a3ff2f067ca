import ErrandHTTP
import Foundation
import Synchronization
import Testing

@Suite("Bodies", .leakChecked) struct BodyTests {
    final class Source: HTTPBodySource {
        private let chunks: Mutex<[Data]>
        let cancels = Atomic(0)
        let pulls = Atomic(0)
        init(_ chunks: [String]) { self.chunks = Mutex(chunks.map { Data($0.utf8) }) }
        func nextChunk() async throws -> Data? {
            pulls.add(1, ordering: .relaxed)
            return chunks.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }
        func cancel() { cancels.add(1, ordering: .relaxed) }
        var cancelCount: Int { cancels.load(ordering: .relaxed) }
    }

    @Test("a stream is pulled chunk by chunk, and empty chunks are skipped")
    func pulling() async throws {
        let source = Source(["a", "", "bc"])
        var iterator = HTTPBody(length: 3, source: source).makeAsyncIterator()
        #expect(source.pulls.load(ordering: .relaxed) == 0)
        #expect(try await iterator.next() == Data("a".utf8))
        #expect(source.pulls.load(ordering: .relaxed) == 1)
        #expect(try await iterator.next() == Data("bc".utf8))
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(source.cancelCount == 0)
    }

    @Test("a stream has a single reader, data any number of readers")
    func readers() async throws {
        let body = HTTPBody(source: Source(["a"]))
        #expect(try await body.collect(upTo: 9) == Data("a".utf8))
        #expect(await code { try await body.collect(upTo: 9) } == .bodyAlreadyRead)
        let data = HTTPBody(Data("a".utf8))
        for _ in 0..<3 { #expect(try await data.collect(upTo: 9) == Data("a".utf8)) }
    }

    @Test("releasing an unfinished stream cancels it once, and a finished stream isn't cancelled")
    func release() async throws {
        let source = Source(["a", "b"])
        do {
            var iterator = HTTPBody(source: source).makeAsyncIterator()
            _ = try await iterator.next()
            #expect(source.cancelCount == 0)
        }
        #expect(source.cancelCount == 1)
        let unread = Source(["a"])
        do { _ = HTTPBody(source: unread) }
        #expect(unread.cancelCount == 1)
    }

    @Test("a cancelled stream throws instead of ending")
    func givingUp() async throws {
        let source = Source(["a", "b"])
        let body = HTTPBody(source: source)
        var iterator = body.makeAsyncIterator()
        _ = try await iterator.next()
        body.cancel()
        body.cancel()
        #expect(await code { try await iterator.next() } == .cancelled)
        #expect(source.cancelCount == 1)
    }

    /// Waits for a chunk that never comes, and ends without an error when it's stopped, as `AsyncStream` does.
    final class Waiting: HTTPBodySource {
        private let (chunks, feed) = AsyncStream<Data>.makeStream()
        let cancels = Atomic(0)
        let pulls = Atomic(0)
        func nextChunk() async throws -> Data? {
            if pulls.add(1, ordering: .relaxed).newValue == 1 { return Data("ab".utf8) }
            for await chunk in chunks { return chunk }
            return nil
        }
        func cancel() {
            cancels.add(1, ordering: .relaxed)
            feed.finish()
        }
    }

    @Test(
        "a stream throws if it's cancelled while its source waits, although the source then ends without an error",
        arguments: [true, false], [nil, 9] as [Int64?])
    func endedByCancellation(isTaskCancelled: Bool, length: Int64?) async throws {
        let source = Waiting()
        let body = HTTPBody(length: length, source: source)
        let reading = Task { try await body.collect(upTo: 9) }
        while source.pulls.load(ordering: .relaxed) < 2 { await Task.yield() }
        if isTaskCancelled { reading.cancel() } else { body.cancel() }
        #expect(await code { try await reading.value } == .cancelled)
        #expect(await code { try await body.nextChunk() } == .cancelled)
        #expect(source.cancels.load(ordering: .relaxed) == 1)
    }

    @Test("a stream that has delivered its whole length is complete, even if its reader is cancelled")
    func completeThenCancelled() async throws {
        let reading = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await HTTPBody(length: 3, source: Source(["ab", "c"])).collect(upTo: 9)
        }
        reading.cancel()
        #expect(try await reading.value == Data("abc".utf8))
    }

    @Test(
        "a stream keeps its length or throws",
        arguments: [(2, ErrandError.Code.invalidResponse), (4, .truncated)] as [(Int64, ErrandError.Code)])
    func length(announced: Int64, expected: ErrandError.Code) async {
        let source = Source(["ab", "c"])
        #expect(await code { try await HTTPBody(length: announced, source: source).collect(upTo: 9) } == expected)
    }

    @Test("collecting stops at the limit, before the first byte if the length is known")
    func limit() async {
        let known = Source(["abc"])
        #expect(await code { try await HTTPBody(length: 3, source: known).collect(upTo: 2) } == .bodyTooLarge)
        #expect(known.pulls.load(ordering: .relaxed) == 0 && known.cancelCount == 1)
        let unknown = Source(["ab", "c", "d", "e"])
        #expect(await code { try await HTTPBody(source: unknown).collect(upTo: 2) } == .bodyTooLarge)
        #expect(unknown.pulls.load(ordering: .relaxed) == 2 && unknown.cancelCount == 1)
    }

    @Test("a body that can be sent once is never sent empty the second time")
    func once() async throws {
        let body = RequestBody.stream(HTTPBody(length: 1, source: Source(["a"])))
        #expect(body.length == 1 && !body.isReplayable)
        #expect(try await body.open().collect(upTo: 9) == Data("a".utf8))
        #expect(await code { try body.open() } == .bodyNotReplayable)
        let again = RequestBody.stream(length: 1) { HTTPBody(source: Source(["a"])) }
        for _ in 0..<2 { #expect(try await again.open().collect(upTo: 9) == Data("a".utf8)) }
    }

    @Test("a file that is a pipe, a device or a directory is refused at once")
    func irregularFile() async throws {
        let folder = URL.temporaryDirectory.appending(path: "body-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (pipe, link) = (folder.appending(path: "pipe"), folder.appending(path: "link"))
        #expect(mkfifo(pipe.path, 0o600) == 0 && symlink("pipe", link.path) == 0)
        for file in [pipe, link, folder, URL(filePath: "/dev/zero")] {
            #expect(await code { try await HTTPBody(file: file).collect(upTo: 9) } == .fileFailed)
            #expect(await code { try await RequestBody.file(file).open().collect(upTo: 9) } == .fileFailed)
        }
    }

    @Test("a file is read in pieces, to its end")
    func file() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "errand-\(UInt64.random(in: 0 ... .max))")
        let data = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0 / 256) })
        try data.write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        var pieces: [Int] = []
        var all = Data()
        for try await chunk in HTTPBody(file: url, length: 600_000) {
            pieces.append(chunk.count)
            all += chunk
        }
        #expect(all == data && pieces == [256 << 10, 256 << 10, 600_000 - (512 << 10)])
        try data.prefix(10).write(to: url)
        #expect(await code { try await HTTPBody(file: url, length: 600_000).collect(upTo: 1 << 20) } == .truncated)
    }
}
