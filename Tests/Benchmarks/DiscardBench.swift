#if os(Linux)
import CErrandBareCurl
import Errand
import ErrandCurlTransport
import Foundation

/// Counts the bytes of a large body and drops them, compared with libcurl from C: the minimum processor time and wall
/// time of rounds in turn, the slowest round, and context switches.
enum DiscardBench {
    static func run() async throws {
        let server = try await BenchServer.start()
        guard let size = server.large, let url = URL(string: server.url + "/large") else { return print("needs nginx") }
        let transport = CurlTransport()
        let (bare, name) = ("libcurl from C, 1 GB discarded", "CurlTransport, 1 GB discarded")
        var (costs, times) = (Rounds(), Rounds())
        var switches = Double.infinity
        var longest = 0.0
        func take(_ name: String, _ body: () async throws -> Void) async throws -> Double {
            let start = ContinuousClock.now
            try await costs.take(name) { try await WireCostBench.cost(1000, body) }
            let time = (ContinuousClock.now - start) / .milliseconds(1)
            await times.take(name) { time }
            return time
        }
        for _ in 0..<15 {
            _ = try await take(bare) { try WireBench.check(bare_curl_discard(url.absoluteString, 256 << 10)) }
            let before = bare_voluntary_switches()
            let time = try await take(name) {
                let options = TransportOptions(delivery: .stream)
                var received = 0
                for try await chunk in try await transport.send(HTTPRequest(.get, url), options: options).body {
                    received += chunk.count
                }
                try WireBench.check(received == size ? 0 : -3)
            }
            longest = max(longest, time)
            switches = min(switches, Double(bare_voluntary_switches() - before))
        }
        costs.reportMinimum("CPU ms", against: bare)
        times.report("ms", against: bare)
        print("\(Rounds.pad("the longest round", 44)) \(Rounds.number(longest)) ms")
        print("\(Rounds.pad("switches of threads for it", 44)) \(Rounds.number(switches))")
        withExtendedLifetime(server) {}
    }
}
#else
enum DiscardBench {
    static func run() async throws { print("on Linux only") }
}
#endif
