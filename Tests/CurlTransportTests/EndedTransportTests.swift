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

@Suite("What a transport over libcurl leaves in the process", .endsInTime, .leakChecked)
struct EndedTransportTests {
    /// A body that ends only when the test ends it, even if it was cancelled.
    private final class Stubborn: HTTPBodySource {
        private struct State {
            var isEnded = false
            var waiter: CheckedContinuation<Void, Never>?
        }
        private let state = Mutex(State())
        private let pulls = Atomic(0)
        var isWaitedFor: Bool { state.withLock { $0.waiter != nil } }

        func nextChunk() async throws -> Data? {
            if pulls.add(1, ordering: .relaxed).newValue == 1 { return pattern(100) }
            await withCheckedContinuation { continuation in
                let isEnded = state.withLock { state in
                    if !state.isEnded { state.waiter = continuation }
                    return state.isEnded
                }
                if isEnded { continuation.resume() }
            }
            return nil
        }

        func cancel() {}

        func end() {
            let waiter = state.withLock { state in
                state.isEnded = true
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }
    }

    /// A clock that lives as long as the transfer that uses it.
    private final class Clock: TimeSource {
        var now: ContinuousClock.Instant { .now }
        var date: Date { Date() }
        func sleep(until instant: ContinuousClock.Instant) async throws {
            try await Task.sleep(until: instant, clock: .continuous)
        }
    }

    @Test("a body that is still read after the transport's thread has ended keeps no object alive")
    func goesOn() async throws {
        await #expect(processExitsWith: .success) {
            let source = Stubborn()
            let server = try RawServer { peer in
                _ = peer.readHead()
                _ = peer.read(10)
                // Otherwise the transfer may be over before it asks its source for more.
                while !source.isWaitedFor { usleep(1000) }
                // The server responds before it has the whole request, and closes the connection.
                peer.send("HTTP/1.1 413 Too Much\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            }
            weak var clock: Clock?
            func send() async throws {
                let transport = CurlTransport()
                let time = Clock()
                clock = time
                let post = try request(.post, server.url(), body: .stream(HTTPBody(source: source)))
                let response = try await transport.send(post, options: TransportOptions(time: time))
                precondition(response.status == 413)
            }
            try await send()
            try await eventually { threads(named: "errand-curl") == 0 }
            precondition(source.isWaitedFor && clock != nil)
            source.end()
            try await eventually { clock == nil }
        }
    }
}
#endif
