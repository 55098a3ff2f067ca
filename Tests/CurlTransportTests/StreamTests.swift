#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Streamed responses over libcurl", .endsInTime, .leakChecked)
struct StreamTests {
    /// The MiB that the system's buffers for a connection may hold, which grow with the reader's speed, and 4 of the
    /// transport's.
    private static let buffers: Int = {
        let largest = ["rmem", "wmem"].map { name in
            let data = try? Data(contentsOf: URL(filePath: "/proc/sys/net/ipv4/tcp_\(name)"))
            let numbers = String(decoding: data ?? Data(), as: UTF8.self).split { $0 == "\t" || $0 == "\n" }
            return numbers.last.flatMap { Int($0) } ?? 16 << 20
        }
        return (largest.reduce(0, +) >> 20) + 4
    }()

    @Test("a large body arrives whole, in chunks of a reasonable size")
    func large() async throws {
        let block = pattern(1 << 20)
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(64 << 20)\r\n\r\n")
                for _ in 0..<64 { peer.send(Array(block)) }
            }
        }
        let response = try await CurlTransport().send(try request(.get, server.url()), options: .of(.stream))
        var rest = Data()
        var count = 0
        var chunks = 0
        for try await chunk in response.body {
            rest += chunk
            chunks += 1
            while rest.count >= block.count {
                #expect(rest.prefix(block.count) == block)
                rest = Data(rest.dropFirst(block.count))
                count += block.count
            }
        }
        #expect(rest.isEmpty)
        #expect(count == 64 << 20)
        #expect(chunks < 4096, "no more than one for 16 KiB")
    }

    @Test("arrived bytes are delivered at once, however few they are")
    func prompt() async throws {
        let steps = Steps()
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
            for text in ["abc", "def", "ghi"] {
                peer.send(text)
                steps.wait()
            }
        }
        let response = try await CurlTransport().send(try request(.get, server.url()), options: .of(.stream))
        var iterator = response.body.makeAsyncIterator()
        for text in ["abc", "def", "ghi"] {
            #expect(try await iterator.next() == text.utf8.asData)
            steps.go()
        }
        #expect(try await iterator.next() == nil)
    }

    @Test("a reader that stops holds back the sender, and another transfer continues")
    func backpressure() async throws {
        let sent = Log<Int>()
        let server = try RawServer { peer in
            guard let head = peer.readHead() else { return }
            if head.hasPrefix("GET /small") {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                return
            }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(200 << 20)\r\n\r\n")
            let block = [UInt8](repeating: 7, count: 1 << 20)
            for count in 0..<200 {
                guard peer.send(block) else { return }
                sent.add(count)
            }
        }
        let transport = CurlTransport()
        let response = try await transport.send(try request(.get, server.url()), options: .of(.stream))
        var seen = -1
        while sent.all.count != seen {
            seen = sent.all.count
            try await Task.sleep(for: .milliseconds(300))
        }
        #expect(seen <= Self.buffers, "MiB in the sockets' buffers, of 200")
        #expect(try await transport.send(try request(.get, server.url("/small")), options: .of()).status == 200)
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        #expect(count == 200 << 20)
    }

    @Test("a reader that was faster than the sender holds it back whenever it stops")
    func stops() async throws {
        let sent = Log<Int>()
        let server = try RawServer { peer in
            guard peer.readHead() != nil else { return }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(200 << 20)\r\n\r\n")
            let block = [UInt8](repeating: 7, count: 1 << 20)
            for count in 0..<200 {
                guard peer.send(block) else { return }
                sent.add(count)
            }
        }
        let response = try await CurlTransport().send(try request(.get, server.url()), options: .of(.stream))
        var iterator = response.body.makeAsyncIterator()
        var count = 0
        for stop in [40 << 20, 80 << 20, 120 << 20] {
            while count < stop { count += try #require(await iterator.next()).count }
            var seen = -1
            while sent.all.count != seen {
                seen = sent.all.count
                try await Task.sleep(for: .milliseconds(300))
            }
            #expect(seen - stop >> 20 <= Self.buffers, "MiB in buffers")
        }
        while let chunk = try await iterator.next() { count += chunk.count }
        #expect(count == 200 << 20)
    }

    @Test("a response that fills its buffer in one step on a reused connection keeps all bytes while its reader waits")
    func pausedAtOnce() async throws {
        let film = pattern(2 << 20)
        let (gate, sent) = (Steps(), Log<Int>())
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                if !head.contains(" /first ") { continue }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                // The server sends the next response before libcurl reads for the first time, and after libcurl has
                // chosen the connection.
                gate.wait()
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(film.count)\r\n\r\n")
                for start in stride(from: 0, to: film.count, by: 64 << 10) {
                    peer.send(Array(film[start..<start + (64 << 10)]))
                    sent.add(start)
                }
            }
        }
        let other = try RawServer { peer in
            while peer.readHead() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
        }
        let transport = CurlTransport()
        _ = try await transport.send(try request(.get, server.url("/first")), options: .of())
        let time = AnnouncedTime {
            gate.go()
            for _ in 0..<2000 where sent.all.count < 10 { usleep(1000) }
        }
        let options = TransportOptions(timeout: .seconds(120), delivery: .stream, time: time)
        let response = try await transport.send(try request(.get, server.url("/second")), options: options)
        for _ in 0..<3 { _ = try await transport.send(try request(.get, other.url()), options: .of()) }
        #expect(try await response.body.collect(upTo: film.count) == film)
        #expect(time.isAnnounced)
    }

    @Test("a connection whose reader waits longer than the idle time isn't closed as idle")
    func pausedForLong() async throws {
        let film = pattern(32 << 20)
        let (sent, ended) = (Log<Int>(), Log<Bool>())
        let server = try RawServer { peer in
            guard let head = peer.readHead() else { return }
            if head.contains(" /small ") {
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                _ = peer.drain()
                return ended.add(true)
            }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(film.count)\r\n\r\n")
            for start in stride(from: 0, to: film.count, by: 1 << 20) {
                peer.send(Array(film[start..<start + (1 << 20)]))
                sent.add(start)
            }
        }
        var configuration = CurlConfiguration()
        configuration.keepAliveTime = .milliseconds(200)
        let transport = CurlTransport(configuration)
        let response = try await transport.send(try request(.get, server.url()), options: .of(.stream))
        try await eventually { !sent.all.isEmpty }
        _ = try await transport.send(try request(.get, server.url("/small")), options: .of())
        // The idle connection is closed, but the older, paused connection stays open.
        try await eventually { !ended.all.isEmpty }
        #expect(try await response.body.collect(upTo: film.count) == film)
    }

    @Test("a released transport lets a body that is being read finish, then closes everything")
    func transportGone() async throws {
        let ended = Log<Bool>()
        let gate = Steps()
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")
            gate.wait()
            peer.send("def")
            _ = peer.drain()
            ended.add(true)
        }
        var response: HTTPResponse? = try await CurlTransport().send(
            try request(.get, server.url()), options: .of(.stream))
        gate.go()
        #expect(try await response?.body.collect(upTo: 10) == "abcdef".utf8.asData)
        response = nil
        try await eventually { !ended.all.isEmpty }
    }

    @Test("a body that is no longer read ends its transfer, and no connection replaces its own")
    func abandoned() async throws {
        let ended = Log<Bool>()
        let server = try RawServer { peer in
            guard peer.readHead()?.hasPrefix("GET /last") == false else { return }
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 40)\r\n\r\n")
            while peer.send([UInt8](repeating: 0, count: 1 << 20)) {}
            ended.add(true)
        }
        let transport = CurlTransport()
        var response: HTTPResponse? = try await transport.send(try request(.get, server.url()), options: .of(.stream))
        #expect(response?.status == 200)
        response = nil
        try await eventually { !ended.all.isEmpty }
        // Connections are accepted in order: a connection in place of the abandoned one would come before this one.
        _ = try? await CurlTransport().send(try request(.get, server.url("/last")), options: .of())
        #expect(server.accepted == 2)
    }

    @Test("a second reader is rejected, and a reader stops when its task is cancelled")
    func readers() async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            _ = peer.drain()
        }
        let response = try await CurlTransport().send(try request(.get, server.url()), options: .of(.stream))
        let got = Log<Int>()
        let reader = Task {
            for try await chunk in response.body { got.add(chunk.count) }
        }
        try await eventually { !got.all.isEmpty }
        let error = try await failure { try await response.body.collect(upTo: 10) }
        #expect(error.code == .bodyAlreadyRead)
        reader.cancel()
        let result = await reader.result
        #expect(throws: ErrandError.self) { try result.get() }
    }

    @Test("a truncated body delivers the bytes that arrived, then an error", arguments: [true, false])
    func truncated(isChunked: Bool) async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\n\(isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 10")\r\n\r\n")
            peer.send(isChunked ? "a\r\nabc" : "abc")
        }
        let response = try await CurlTransport().send(try request(.get, server.url()), options: .of(.stream))
        var got = Data()
        let error = try await failure {
            for try await chunk in response.body { got += chunk }
        }
        #expect(got == "abc".utf8.asData)
        #expect(error.code == .truncated)
    }

    @Test("a large truncated body delivers the bytes before the error")
    func largeTruncated() async throws {
        let film = pattern(3 << 20)
        for _ in 0..<20 {
            let count = Int.random(in: 1..<film.count)
            let server = try RawServer { peer in
                _ = peer.readHead()
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(film.count)\r\n\r\n")
                peer.send(Array(film[..<count]))
            }
            let response = try await CurlTransport().send(try request(.get, server.url()), options: .of(.stream))
            var got = Data()
            let error = try await failure {
                for try await chunk in response.body { got += chunk }
            }
            #expect(got == film[..<count] && error.code == .truncated)
        }
    }

    @Test("cancelling a reader at any point of a large body ends the reader and its transfer")
    func cancelledWhileMuchArrives() async throws {
        let ended = Counter()
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 40)\r\n\r\n")
            while peer.send([UInt8](repeating: 0, count: 1 << 20)) {}
            ended.increment()
        }
        let transport = CurlTransport()
        for round in 1...30 {
            let response = try await transport.send(try request(.get, server.url()), options: .of(.stream))
            let (count, goal) = (Counter(), Int.random(in: 0..<64))
            let reader = Task {
                for try await _ in response.body { count.increment() }
            }
            try await eventually { count.value >= goal }
            reader.cancel()
            let result = await reader.result
            #expect(throws: ErrandError.self) { try result.get() }
            try await eventually { ended.value == round }
        }
    }
}

/// The system's time. Its first caller, which is the transport just before it sends, runs a closure.
private final class AnnouncedTime: TimeSource {
    private let first: @Sendable () -> Void
    private let announced = Atomic(false)

    init(_ first: @escaping @Sendable () -> Void) { self.first = first }

    var isAnnounced: Bool { announced.load(ordering: .acquiring) }

    var now: ContinuousClock.Instant {
        if !announced.exchange(true, ordering: .acquiringAndReleasing) { first() }
        return .now
    }

    var date: Date { Date() }

    func sleep(until instant: ContinuousClock.Instant) async throws {
        try await Task.sleep(until: instant, clock: .continuous)
    }
}

/// Lets one thread through for each `go`.
final class Steps: Sendable {
    private let count = Atomic(0)
    private let taken = Atomic(0)

    func go() { count.add(1, ordering: .releasing) }

    func wait() {
        let mine = taken.add(1, ordering: .relaxed).newValue
        while count.load(ordering: .acquiring) < mine { usleep(500) }
    }
}
#endif
