#if os(Linux)
import CErrandBareCurl
import Errand
import ErrandCurlTransport
import ErrandURLSessionTransport
import Foundation
import FoundationNetworking

/// Measures 1 KB responses over kept connections, a large body that's dropped, and a reader that stops. Compares Errand
/// with libcurl driven directly from C, which is the lower bound, and with URLSession in its default configuration.
enum WireBench {
    private struct Get: Request { let path = "kilobyte" }

    static func run() async throws {
        let server = try await BenchServer.start()
        print("the server: \(server.name)")
        try await small(server)
        if let size = server.large { try await large(server, size) }
        withExtendedLifetime(server) {}
    }

    private static func small(_ server: BenchServer) async throws {
        let text = server.url + "/kilobyte"
        guard let url = URL(string: text) else { return }
        let curl = CurlTransport()
        let loader = URLSessionTransport()
        let agent = NetworkAgent(baseURL: server.url, transport: curl)
        let session = URLSession(configuration: .default)
        let request = HTTPRequest(.get, url)
        @Sendable func send(_ transport: some Transport) async throws {
            let response = try await transport.send(request, options: TransportOptions())
            _ = try await response.body.collect(upTo: 4096)
        }
        for lanes in [1, 64] {
            var (rates, costs) = (Rounds(), Rounds())
            let (bare, base) = ("libcurl bare from C, \(lanes) at a time", "URLSession.default, \(lanes) at a time")
            func take(_ name: String, _ count: Int, _ body: () async throws -> Void) async throws {
                let cpu = processorTime()
                try await rates.take(name) { 1e6 / (try await microseconds(count, body)) }
                await costs.take(name) { (processorTime() - cpu) * 1e6 / Double(count) }
            }
            for _ in 0..<5 {
                try await take(bare, 12_800) { try check(BareCurl.send(text, lanes: lanes, count: 12_800)) }
                try await take("CurlTransport, \(lanes) at a time", 12_800) {
                    try await load(lanes, 12_800) { try await send(curl) }
                }
                try await take("CurlTransport in an agent, \(lanes) at a time", 12_800) {
                    try await load(lanes, 12_800) { _ = try await agent.send(Get()) }
                }
                try await take(base, 1920) { try await load(lanes, 1920) { try await get(url, session) } }
                try await take("URLSessionTransport, \(lanes) at a time", 1920) {
                    try await load(lanes, 1920) { try await send(loader) }
                }
            }
            rates.report("req/s", against: base)
            rates.report("req/s", against: bare)
            costs.report("CPU µs a request", against: bare)
        }
        session.invalidateAndCancel()
    }

    private static func large(_ server: BenchServer, _ size: Int) async throws {
        let text = server.url + "/large"
        guard let url = URL(string: text) else { return }
        let curl = CurlTransport()
        var rounds = Rounds()
        func rate(_ body: () async throws -> Void) async throws -> Double {
            Double(size) / (try await microseconds(1, body))
        }
        for _ in 0..<3 {
            try await rounds.take("1 GB dropped by libcurl bare, 256 KiB buffer") {
                try await rate { try check(bare_curl_discard(text, 256 << 10)) }
            }
            try await rounds.take("1 GB dropped by CurlTransport") {
                try await rate {
                    let options = TransportOptions(delivery: .stream)
                    let response = try await curl.send(HTTPRequest(.get, url), options: options)
                    var received = 0
                    for try await chunk in response.body { received += chunk.count }
                    try check(received == size ? 0 : -3)
                }
            }
        }
        rounds.report("MB/s", against: "1 GB dropped by libcurl bare, 256 KiB buffer")
        try await stoppedReader(curl, HTTPRequest(.get, url))
        try await cancellation(curl, HTTPRequest(.get, url))
    }

    /// Measures from `cancel()` to the error, in the middle of a body, with ten other transfers running.
    private static func cancellation(_ transport: CurlTransport, _ request: HTTPRequest) async throws {
        let times = try await withThrowingTaskGroup(of: [Double].self) { group in
            for _ in 0..<10 {
                group.addTask {
                    var times: [Double] = []
                    for _ in 0..<200 {
                        let (events, begun) = AsyncStream.makeStream(of: Void.self)
                        let task = Task {
                            let options = TransportOptions(delivery: .stream)
                            for try await _ in try await transport.send(request, options: options).body {
                                begun.yield()
                            }
                        }
                        for await _ in events { break }
                        let start = ContinuousClock.now
                        task.cancel()
                        _ = await task.result
                        times.append((ContinuousClock.now - start) / .milliseconds(1))
                    }
                    return times
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }.sorted()
        }
        for part in [50, 99] {
            let value = times[times.count * part / 100]
            print("\(Rounds.pad("a cancellation is reported, \(part) of 100 within", 44)) \(Rounds.number(value)) ms")
        }
    }

    /// Measures a reader that takes one chunk and stops, while another transfer uses the same transport: the memory
    /// growth until it settles.
    private static func stoppedReader(_ transport: CurlTransport, _ request: HTTPRequest) async throws {
        let before = residentBytes()
        let response = try await transport.send(request, options: TransportOptions(delivery: .stream))
        var chunks = response.body.makeAsyncIterator()
        _ = try await chunks.next()
        try await Task.sleep(for: .seconds(1))
        let held = Double(max(0, residentBytes() - before)) / 1024
        print("\(Rounds.pad("held for a reader that stopped for 1 s", 44)) \(Rounds.number(held)) KiB")
        response.body.cancel()
    }

    static func load(_ lanes: Int, _ count: Int, _ one: @escaping @Sendable () async throws -> Void)
        async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<lanes { group.addTask { for _ in 0..<count / lanes { try await one() } } }
            try await group.waitForAll()
        }
    }

    struct Failure: Error { let code: Int32 }

    static func check(_ code: Int32) throws {
        if code != 0 { throw Failure(code: code) }
    }

    /// Uses the completion handler because the async method can hang the process on Linux.
    private static func get(_ url: URL, _ session: URLSession) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            session.dataTask(with: url) { data, _, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }.resume()
        }
    }

    /// Seconds of processor time that this process has used, without the time of a server in a separate process.
    static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
#else
enum WireBench {
    static func run() async throws { print("on Linux only") }
}
#endif
