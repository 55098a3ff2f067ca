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

/// Slow user code must delay only its own request.
@Suite("User code within the transport over libcurl", .endsInTime, .serialized, .leakChecked)
struct UserCodeTests {
    /// Blocks the first thread that arrives, like an accessory that writes to a slow disk.
    private final class Barrier: Sendable {
        private struct State {
            var isOpen = false
            var arrivals = 0
        }
        private let state = Mutex(State())
        var arrivals: Int { state.withLock { $0.arrivals } }
        func open() { state.withLock { $0.isOpen = true } }
        func stop() {
            let isFirst = state.withLock { state in
                state.arrivals += 1
                return state.arrivals == 1
            }
            // This blocks one of the few threads that run tasks. The time limit turns a deadlock into a failure.
            let bound = ContinuousClock.now + .seconds(200)
            while isFirst, !state.withLock({ $0.isOpen }) {
                if ContinuousClock.now > bound {
                    Issue.record("a request waited for code of another one's user")
                    return open()
                }
                usleep(1000)
            }
        }
    }

    private final class Blocking: Accessory {
        let barrier: Barrier
        let kinds = Log<String>()
        let stopsAt: String
        init(_ barrier: Barrier, at kind: String) { (self.barrier, stopsAt) = (barrier, kind) }

        func activity(_ activity: Activity, did event: ActivityEvent) {
            guard activity.request?.path == "slow", case .transport(let event) = event else { return }
            let kind =
                switch event {
                case .progress: "progress"
                case .informational: "informational"
                case .trailers: "trailers"
                case .waitingForConnectivity: "waiting"
                case .timings: "timings"
                }
            kinds.add(kind)
            if kind == stopsAt { barrier.stop() }
        }
    }

    private struct Get: Request { var path: String }

    private static func server() throws -> RawServer {
        try RawServer { peer in
            while let head = peer.readHead() {
                if head.contains("/slow") {
                    peer.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")
                    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40000\r\n")
                    peer.send([UInt8](repeating: 1, count: 0x40000))
                    peer.send("\r\n0\r\nX-Sum: 1\r\n\r\n")
                } else {
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }
    }

    @Test(
        "an accessory that blocks in a transport event doesn't delay other requests",
        arguments: ["informational", "progress", "trailers", "timings"])
    func accessory(kind: String) async throws {
        let server = try Self.server()
        let barrier = Barrier()
        let accessory = Blocking(barrier, at: kind)
        let agent = NetworkAgent(baseURL: server.url(), transport: CurlTransport(), accessories: [accessory])
        _ = try await agent.send(Get(path: "warm"))
        let slow = Task { try await agent.send(Get(path: "slow")).value.count }
        try await eventually { barrier.arrivals > 0 }
        for _ in 0..<3 { #expect(try await agent.send(Get(path: "fast")).value == "ok".utf8.asData) }
        barrier.open()
        #expect(try await slow.value == 0x40000)
        // The events arrive complete and in order.
        let kinds = accessory.kinds.all.filter { $0 != "progress" }
        #expect(kinds == ["informational", "trailers", "timings"])
    }

    private final class BlockingTime: TimeSource {
        let barrier: Barrier
        private let isArmed = Atomic(false)
        init(_ barrier: Barrier) { self.barrier = barrier }
        func arm() { isArmed.store(true, ordering: .relaxed) }
        var now: ContinuousClock.Instant {
            if isArmed.load(ordering: .relaxed) { barrier.stop() }
            return .now
        }
        var date: Date { Date() }
        func sleep(until instant: ContinuousClock.Instant) async throws {
            try await Task.sleep(until: instant, clock: .continuous)
        }
    }

    @Test("a time source that blocks doesn't delay other requests")
    func time() async throws {
        let server = try Self.server()
        let barrier = Barrier()
        let time = BlockingTime(barrier)
        let transport = CurlTransport()
        let request = try request(.get, server.url("/fast"))
        _ = try await transport.send(request, options: .of())
        time.arm()
        let slow = Task { try await transport.send(request, options: TransportOptions(time: time)) }
        try await eventually { barrier.arrivals > 0 }
        for _ in 0..<3 { #expect(try await transport.send(request, options: .of()).status == 200) }
        barrier.open()
        #expect(try await slow.value.status == 200)
    }

    /// A body source whose cancellation is slow.
    private final class Stubborn: HTTPBodySource {
        let barrier: Barrier
        let feed = Feed([pattern(100)], ends: false)
        init(_ barrier: Barrier) { self.barrier = barrier }
        func nextChunk() async throws -> Data? { try await feed.nextChunk() }
        func cancel() {
            barrier.stop()
            feed.cancel()
        }
    }

    @Test("a body whose cancellation blocks doesn't delay another request")
    func source() async throws {
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                let status = head.hasPrefix("POST") ? "413 Too Much" : "200 OK"
                peer.send("HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nok")
                if head.hasPrefix("POST") { return }
            }
        }
        let barrier = Barrier()
        let transport = CurlTransport()
        let get = try request(.get, server.url())
        _ = try await transport.send(get, options: .of())
        let post = try request(.post, server.url(), body: .stream(HTTPBody(source: Stubborn(barrier))))
        let slow = Task { try await transport.send(post, options: .of()) }
        try await eventually { barrier.arrivals > 0 }
        for _ in 0..<3 { #expect(try await transport.send(get, options: .of()).status == 200) }
        barrier.open()
        _ = await slow.result
    }

    /// Blocks when the task that waits for a response is resumed.
    private final class StoppingExecutor: TaskExecutor {
        let barrier: Barrier
        private let isArmed = Atomic(false)
        init(_ barrier: Barrier) { self.barrier = barrier }
        func arm() { isArmed.store(true, ordering: .releasing) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            if isArmed.load(ordering: .acquiring) { barrier.stop() }
            RawServer.thread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    @Test(
        "an executor that stops when a response resumes its task doesn't delay other requests",
        .enabled(if: Offer.runsOnAnyThread, "this libcurl runs on the transport's thread only"))
    func executor() async throws {
        let barrier = Barrier()
        let executor = StoppingExecutor(barrier)
        let seen = Log<String>()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                let path = String(head.split(separator: " ")[1])
                seen.add(path)
                if path == "/slow" { executor.arm() }
                peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let transport = CurlTransport()
        let (slow, fast) = (try request(.get, server.url("/slow")), try request(.get, server.url("/fast")))
        // If the response arrives before the task waits for it, the executor isn't used.
        let first = Task(executorPreference: executor) {
            var status = 0
            repeat { status = try await transport.send(slow, options: .of()).status } while barrier.arrivals == 0
            return status
        }
        try await eventually { barrier.arrivals > 0 }
        let second = Task { try await transport.send(fast, options: .of()).status }
        try await eventually { seen.all.contains("/fast") || server.accepted == 2 }
        barrier.open()
        #expect(try await first.value == 200)
        #expect(try await second.value == 200)
    }

    /// A body source whose deallocation is slow.
    private final class Clinging: HTTPBodySource {
        let barrier: Barrier
        init(_ barrier: Barrier) { self.barrier = barrier }
        deinit { barrier.stop() }
        func nextChunk() async throws -> Data? { pattern(10) }
        func cancel() {}
    }

    @Test(
        "releasing a body's source doesn't prevent other requests from being sent",
        .enabled(if: Offer.runsOnAnyThread, "this libcurl runs on the transport's thread only"))
    func end() async throws {
        let barrier = Barrier()
        let seen = Log<String>()
        let server = try RawServer { peer in
            while let head = peer.readHead() {
                seen.add(String(head.split(separator: " ")[1]))
                if head.hasPrefix("GET") { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
            }
        }
        let transport = CurlTransport()
        let fast = try request(.get, server.url("/fast"))
        let slow = Task {
            let body = RequestBody.stream(HTTPBody(source: Clinging(barrier)))
            return try await transport.send(try request(.post, server.url("/slow"), body: body), options: .of()).status
        }
        try await eventually { seen.all.contains("/slow") }
        slow.cancel()
        try await eventually { barrier.arrivals > 0 }
        let second = Task { try await transport.send(fast, options: .of()).status }
        // The connection is opened by the thread that starts the request.
        try await eventually { server.accepted == 2 }
        barrier.open()
        #expect(try await second.value == 200)
        _ = await slow.result
    }
}
#endif
