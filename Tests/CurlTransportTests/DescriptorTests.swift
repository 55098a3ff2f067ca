#if os(Linux)
import Errand
import Testing

@testable import ErrandCurlTransport

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Each test runs in a separate process with its own descriptor limit. The servers are in the process that runs the
/// tests.
@Suite("A process without descriptors, over libcurl", .endsInTime, .leakChecked)
struct DescriptorTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private static func server() throws -> RawServer {
        try RawServer { peer in while peer.readHead() != nil { peer.send(ok) } }
    }

    /// Leaves the process room for only `count` more descriptors. libdispatch crashes the process if it has no
    /// descriptor for its timer, and may create the timer on another thread; so this waits until the timer exists.
    static func leave(_ count: Int) async throws {
        repeat { try await Task.sleep(for: .milliseconds(1)) } while !hasTimer
        var next = open("/dev/null", O_RDONLY | O_CLOEXEC)
        close(next)
        next += Int32(count)
        var limit = rlimit(rlim_cur: rlim_t(next), rlim_max: rlim_t(next))
        setrlimit(__rlimit_resource_t(7), &limit)
    }

    private static var hasTimer: Bool {
        (0..<256).contains { descriptor in
            var target = [CChar](repeating: 0, count: 64)
            let count = readlink("/proc/self/fd/\(descriptor)", &target, target.count)
            return String(decoding: target.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
                .contains("timerfd")
        }
    }

    /// Takes all remaining descriptors. Call the returned closure to release them.
    static func takeAll() -> () -> Void {
        var taken: [Int32] = []
        while true {
            let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
            if descriptor < 0 { break }
            taken.append(descriptor)
        }
        return { [taken] in for descriptor in taken { close(descriptor) } }
    }

    @Test("300 cold requests with room for 40 connections all succeed")
    func cold() async throws {
        let server = try Self.server()
        await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [port = Int(server.port) as Int] in
            var configuration = CurlConfiguration()
            configuration.maximumConnectionsPerHost = 256
            let transport = CurlTransport(configuration)
            try await Self.leave(40)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<300 {
                    group.addTask {
                        let request = try request(.get, "http://127.0.0.1:\(port)/")
                        return try await transport.send(request, options: .of(timeout: .seconds(60))).status
                    }
                }
                for try await status in group { precondition(status == 200) }
            }
        }
        #expect(server.accepted > 0)
    }

    @Test("unused connections make room for needed ones")
    func idle() async throws {
        let servers = try (0..<60).map { _ in try Self.server() }
        await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [ports = servers.map { Int($0.port) } as [Int]] in
            let transport = CurlTransport()
            try await Self.leave(24)
            for port in ports {
                let request = try request(.get, "http://127.0.0.1:\(port)/")
                let response = try await transport.send(request, options: .of(timeout: .seconds(30)))
                precondition(response.status == 200)
            }
        }
        withExtendedLifetime(servers) {}
    }

    @Test("a transport that is made and used without descriptors waits for them, and works afterwards")
    func library() async throws {
        let server = try Self.server()
        await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [port = Int(server.port) as Int] in
            try await Self.leave(100)
            let giveBack = Self.takeAll()
            let transport = CurlTransport()
            let request = try request(.get, "http://127.0.0.1:\(port)/")
            do {
                _ = try await transport.send(request, options: .of(timeout: .milliseconds(50)))
                preconditionFailure("a response without a descriptor")
            } catch let error as ErrandError {
                precondition(error.code == .timedOut && error.isRetryable, error.description)
            }
            async let waiting = transport.send(request, options: .of(timeout: .seconds(60)))
            await Task.yield()
            giveBack()
            let status = try await waiting.status
            precondition(status == 200)
            precondition(ContentCoding.accepted.contains("gzip"))
        }
    }

    @Test("a connection without a descriptor waits no longer than the timeout, and can be cancelled")
    func bounded() async throws {
        let server = try Self.server()
        await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            [port = Int(server.port) as Int] in
            let transport = CurlTransport()
            let first = try request(.get, "http://127.0.0.1:\(port)/")
            let status = try await transport.send(first, options: .of()).status
            precondition(status == 200)
            try await Self.leave(100)
            let giveBack = Self.takeAll()
            let other = try request(.get, "http://127.0.0.2:\(port)/")
            do {
                _ = try await transport.send(other, options: .of(timeout: .milliseconds(50)))
                preconditionFailure("a response without a descriptor")
            } catch let error as ErrandError {
                precondition(error.code == .timedOut, error.description)
            }
            let task = Task { try await transport.send(other, options: .of(timeout: .seconds(60))) }
            task.cancel()
            do {
                _ = try await task.value
                preconditionFailure("a response without a descriptor")
            } catch let error as ErrandError {
                precondition(error.code == .cancelled, error.description)
            }
            giveBack()
            let third = try await transport.send(first, options: .of())
            precondition(third.status == 200)
        }
    }
}
#endif
