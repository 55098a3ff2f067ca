#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Timeouts over libcurl", .endsInTime, .leakChecked)
struct TimeoutTests {
    enum Silence: CaseIterable { case noResponse, halfHead, midBody, midStream, whileSending }

    @Test("a silence longer than the timeout ends the transfer, in milliseconds", arguments: Silence.allCases)
    func silence(silence: Silence) async throws {
        let gaveUp = Steps()
        let server = try RawServer { peer in
            guard peer.readHead() != nil else { return }
            switch silence {
            case .noResponse: break
            case .halfHead: peer.send("HTTP/1.1 200 OK\r\nContent-")
            case .midBody, .midStream: peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
            case .whileSending:
                // Doesn't read until the client has cancelled, so the buffers fill up.
                return gaveUp.wait()
            }
            _ = peer.drain()
        }
        let transport = CurlTransport()
        let body: RequestBody = silence == .whileSending ? .data(pattern(50 << 20)) : .none
        let request = try request(body.isNone ? .get : .post, server.url(), body: body)
        let delivery = silence == .midStream ? BodyDelivery.stream : .data
        let error = try await failure {
            let response = try await transport.send(request, options: .of(delivery, timeout: .milliseconds(80)))
            return try await response.body.collect(upTo: 100)
        }
        gaveUp.go()
        #expect(error.code == .timedOut)
        #expect(error.isRetryable)
    }

    @Test("limits of any length and sign do not trap", arguments: [1, -1])
    func endless(sign: Int) async throws {
        // Almost the longest duration.
        let limit = (Duration.seconds(Int64.max) * 18 + .seconds(4_120_486_797_083_267_000)) * sign
        let server = try RawServer { peer in
            while peer.readHead() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
        }
        var configuration = CurlConfiguration()
        (configuration.keepAliveTime, configuration.connectTimeout) = (limit, limit)
        var connections = 0
        for time in [SystemTimeSource(), ManualTimeSource()] as [any TimeSource] {
            let options = TransportOptions(timeout: limit, time: time)
            let transport = CurlTransport(configuration)
            for _ in 0..<2 {
                let response = try? await transport.send(try request(.get, server.url()), options: options)
                #expect(sign < 0 || response?.status == 200)
            }
            connections += 1
            // The second request reused the connection of the first.
            #expect(sign < 0 || server.accepted == connections)
        }
    }

    @Test("a silence ends the transfer even if the time source doesn't sleep")
    func sleepless() async throws {
        /// A clock that advances but can't sleep.
        struct Sleepless: TimeSource {
            struct Failure: Error {}

            var now: ContinuousClock.Instant { .now }
            var date: Date { Date() }

            func sleep(until instant: ContinuousClock.Instant) async throws { throw Failure() }
        }
        let server = try RawServer { peer in
            _ = peer.readHead()
            _ = peer.drain()
        }
        let (request, codes) = (try request(.get, server.url()), Log<ErrandError.Code>())
        let sending = Task {
            let options = TransportOptions(timeout: .milliseconds(80), time: Sleepless())
            codes.add(try await failure { try await CurlTransport().send(request, options: options) }.code)
        }
        defer { sending.cancel() }
        try await eventually { codes.all == [.timedOut] }
    }

    @Test("a slow response that never falls silent is not ended")
    func slow() async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n")
            for _ in 0..<24 {
                usleep(500_000)
                peer.send("x")
            }
        }
        let response = try await CurlTransport().send(
            try request(.get, server.url()), options: .of(timeout: .seconds(10)))
        #expect(response.data.count == 24)
    }

    @Test("a slow reader doesn't count as the server's silence")
    func slowReader() async throws {
        let server = try RawServer.sending(bytes: 20 << 20)
        let response = try await CurlTransport().send(
            try request(.get, server.url()), options: .of(.stream, timeout: .seconds(10)))
        try await Task.sleep(for: .seconds(12))
        #expect(try await response.body.collect(upTo: 20 << 20).count == 20 << 20)
    }

    @Test("bytes that wait for the reader don't count as the server's silence", arguments: [true, false])
    func busyReader(usesSystemClock: Bool) async throws {
        let goesOn = Steps()
        let server = try RawServer { peer in
            _ = peer.readHead()
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc")
            goesOn.wait()
            peer.send("d")
            _ = peer.drain()
        }
        let clock = StoppedClock()
        let (request, timeout) = (try request(.get, server.url()), Duration.seconds(4))
        let time: any TimeSource = usesSystemClock ? SystemTimeSource() : clock
        let options = TransportOptions(timeout: timeout, delivery: .stream, time: time)
        let response = try await CurlTransport().send(request, options: options)
        if usesSystemClock {
            try await Task.sleep(for: timeout + .seconds(1))
        } else {
            for _ in 0..<3 {
                try await eventually { clock.sleepers > 0 }
                clock.advance(by: timeout)
            }
        }
        goesOn.go()
        #expect(try await response.body.collect(upTo: 10) == Data("abcd".utf8))
    }

    @Test("a wait for a free connection is not the server's silence")
    func queue() async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                sleep(4)
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        var configuration = CurlConfiguration()
        configuration.maximumConnectionsPerHost = 1
        let transport = CurlTransport(configuration)
        let request = try request(.get, server.url())
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask { try await transport.send(request, options: .of(timeout: .seconds(10))).status }
            }
            for try await status in group { #expect(status == 200) }
        }
        #expect(server.accepted == 1)
    }

    @Test("the caller's own time source decides about silence")
    func ownClock() async throws {
        let server = try RawServer { peer in
            _ = peer.readHead()
            _ = peer.drain()
        }
        let clock = StoppedClock()
        let transport = CurlTransport()
        let request = try request(.get, server.url())
        let options = TransportOptions(timeout: .seconds(3600), time: clock)
        let task = Task { try await transport.send(request, options: options) }
        try await eventually { clock.sleepers > 0 && server.accepted > 0 }
        var isOver = false
        while !isOver {
            clock.advance(by: .seconds(3601))
            try await Task.sleep(for: .milliseconds(5))
            isOver = clock.sleepers == 0
        }
        let result = await task.result
        let error = #expect(throws: ErrandError.self) { try result.get() }
        #expect(error?.code == .timedOut)
    }
}

private final class StoppedClock: TimeSource {
    private struct State {
        var now = ContinuousClock.now
        var waiting: [Int: (ContinuousClock.Instant, CheckedContinuation<Void, any Error>)] = [:]
        var next = 0
    }
    private let state = Mutex(State())

    var now: ContinuousClock.Instant { state.withLock { $0.now } }
    var date: Date { Date(timeIntervalSince1970: 0) }
    var sleepers: Int { state.withLock { $0.waiting.count } }

    func sleep(until instant: ContinuousClock.Instant) async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isDue = state.withLock { state in
                    // Check only once: with a cancellation in between, the continuation would be resumed twice.
                    let isDue = instant <= state.now || Task.isCancelled
                    if !isDue { state.waiting[id] = (instant, continuation) }
                    return isDue
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.1.resume(throwing: CancellationError())
        }
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.waiting.filter { $0.value.0 <= state.now }
            for key in due.keys { state.waiting[key] = nil }
            return due.values.map(\.1)
        }
        for continuation in due { continuation.resume() }
    }
}
#endif
