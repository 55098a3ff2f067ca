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

@Suite("Cancellation of transfers over libcurl", .endsInTime, .leakChecked)
struct CancellationTests {
    enum Stage: CaseIterable { case beforeStart, connecting, beforeHead, midBody, waitingForConnection, whileSending }

    @Test("a transfer can be cancelled at every stage, which closes its connection", arguments: Stage.allCases)
    func stages(stage: Stage) async throws {
        let reached = Log<Bool>()
        let ended = Log<Bool>()
        let server = try RawServer { peer in
            guard peer.readHead() != nil else { return }
            if stage == .midBody { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc") }
            if stage == .whileSending { _ = peer.readChunked() }
            reached.add(true)
            _ = peer.drain()
            ended.add(true)
        }
        var configuration = CurlConfiguration()
        if stage == .waitingForConnection { configuration.maximumConnectionsPerHost = 1 }
        let transport = CurlTransport(configuration)
        // 192.0.2.0/24 is reserved for documentation: connecting gets no answer or an unreachable network.
        let url = stage == .connecting ? "http://192.0.2.1/" : server.url()
        let feed = Feed([pattern(10)], ends: false)
        let body: RequestBody = stage == .whileSending ? .stream(HTTPBody(source: feed)) : .none
        let request = try request(body.isNone ? .get : .post, url, body: body)
        let blocker = stage == .waitingForConnection ? Task { try await transport.send(request, options: .of()) } : nil
        if blocker != nil { try await eventually { !reached.all.isEmpty } }
        let task = Task {
            if stage == .beforeStart { while !Task.isCancelled { await Task.yield() } }
            return try await transport.send(request, options: .of())
        }
        switch stage {
        case .beforeHead, .midBody: try await eventually { !reached.all.isEmpty }
        case .whileSending: try await eventually { feed.pulls == 2 }
        case .beforeStart, .connecting, .waitingForConnection: break
        }
        task.cancel()
        let result = await task.result
        let error = #expect(throws: ErrandError.self) { try result.get() }
        if stage != .connecting { #expect(error?.code == .cancelled, "\(stage)") }
        blocker?.cancel()
        if stage == .whileSending { try await eventually { feed.isCancelled } }
        if stage == .midBody || stage == .beforeHead { try await eventually { !ended.all.isEmpty } }
    }

    @Test("a cancellation after the end has no effect")
    func afterEnd() async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
        }
        let transport = CurlTransport()
        let request = try request(.get, server.url())
        let task = Task { try await transport.send(request, options: .of()) }
        let response = try await task.value
        task.cancel()
        #expect(response.data == "ok".utf8.asData)
        #expect(try await transport.send(request, options: .of()).status == 200)
        #expect(server.accepted == 1)
    }

    @Test("cancelling requests as they end doesn't harm the requests that use their connection next")
    func atTheEnd() async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }
        }
        var configuration = CurlConfiguration()
        configuration.maximumConnectionsPerHost = 1
        let transport = CurlTransport(configuration)
        let request = try request(.get, server.url())
        for round in 0..<300 {
            let first = Task { try await transport.send(request, options: .of()).status }
            let second = Task { try await transport.send(request, options: .of()).status }
            if round % 3 == 0 { _ = try? await first.value }
            for _ in 0..<round { await Task.yield() }
            first.cancel()
            #expect(try await second.value == 200)
            _ = await first.result
        }
    }

    @Test("a cancellation in a name lookup takes effect at once")
    func lookup() async throws {
        let transport = CurlTransport()
        let request = try request(.get, "http://name-that-is-looked-up.invalid/")
        for _ in 0..<20 {
            let task = Task { try await transport.send(request, options: .of()) }
            await Task.yield()
            task.cancel()
            let result = await task.result
            #expect(throws: ErrandError.self) { try result.get() }
        }
    }

    /// The number of cancellations. Set `ERRAND_CANCELS` in the environment to change it.
    private static let cancels = getenv("ERRAND_CANCELS").flatMap { Int(String(cString: $0)) } ?? 2000

    @Test("random cancellations end every transfer once, leak no descriptor, and leave the transport usable")
    func random() async throws {
        await #expect(processExitsWith: .success) {
            let server = try RawServer { peer in
                while let head = peer.readHead() {
                    if head.hasPrefix("POST") { guard peer.readChunked() != nil else { return } }
                    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n")
                    guard peer.send([UInt8](repeating: 1, count: 300_000)) else { return }
                }
            }
            let before = openSockets()
            try await Self.cancelAtRandom(Self.cancels, CurlTransport(), server.url())
            try await eventually { openSockets() <= before }
        }
    }

    private static func cancelAtRandom(_ cancels: Int, _ transport: CurlTransport, _ url: String) async throws {
        let outcomes = Log<Bool>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<20 {
                group.addTask {
                    for count in 0..<cancels / 20 {
                        let kind = (lane + count) % 3
                        let body: RequestBody = kind == 2 ? .stream(HTTPBody(source: Feed([pattern(5000)]))) : .none
                        let request = try request(kind == 2 ? .post : .get, url, body: body)
                        let task = Task {
                            let response = try await transport.send(request, options: .of(kind == 1 ? .stream : .data))
                            return try await response.body.collect(upTo: 1 << 20).count
                        }
                        if count % 4 != 0 { try await Task.sleep(for: .microseconds(Int.random(in: 0...3000))) }
                        task.cancel()
                        switch await task.result {
                        case .success(let size):
                            precondition(size == 300_000)
                            outcomes.add(true)
                        case .failure(let error):
                            precondition((error as? ErrandError)?.code == .cancelled, "\(error)")
                            outcomes.add(false)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        precondition(outcomes.all.count == cancels / 20 * 20 && outcomes.all.contains(false))
        let response = try await transport.send(try request(.get, url), options: .of())
        precondition(response.data.count == 300_000)
    }
}

func openSockets() -> Int { openDescriptors().count { $0.hasPrefix("socket:") } }

/// The targets of this process's descriptors, such as "socket:[4711]" or "anon_inode:[eventpoll]".
func openDescriptors() -> [String] {
    guard let directory = opendir("/proc/self/fd") else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        var target = [CChar](repeating: 0, count: 256)
        let count = withUnsafePointer(to: &entry.pointee.d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                readlinkat(dirfd(directory), name, &target, target.count)
            }
        }
        if count > 0 { names.append(String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)) }
    }
    return names
}
#endif
