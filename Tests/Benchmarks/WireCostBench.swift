#if os(Linux)
import CErrandBareCurl
import Errand
import ErrandCurlTransport
import ErrandTesting
import Foundation

/// Compares requests over libcurl with libcurl from C with the same headers: processor time, rate, context switches,
/// and memory.
enum WireCostBench {
    private struct Get: Request { let path = "kilobyte" }
    private struct Post: Request {
        let path = "post"
        let method = HTTPMethod.post
        let body = RequestBody.data(Data(count: 1024))
    }

    private static let requests = 6400

    static func run() async throws {
        let server = try await BenchServer.start()
        let transport = CurlTransport()
        for lanes in [1, 64] {
            try await get(server, transport, lanes)
            try await post(server, transport, lanes)
        }
        try await switches(server)
        try await memory()
        withExtendedLifetime(server) {}
    }

    static func cost(_ count: Int, _ body: () async throws -> Void) async rethrows -> Double {
        let start = WireBench.processorTime()
        try await body()
        return (WireBench.processorTime() - start) * 1e6 / Double(count)
    }

    private static func get(_ server: BenchServer, _ transport: CurlTransport, _ lanes: Int) async throws {
        let text = server.url + "/kilobyte"
        guard let url = URL(string: text) else { return }
        let agent = NetworkAgent(baseURL: server.url, transport: transport)
        let request = HTTPRequest(.get, url)
        let (bare, more) = ("libcurl from C, GET 1 KB, \(lanes) at once", "the same, an agent's headers")
        var rounds = SendRounds(requests)
        for _ in 0..<9 {
            try await rounds.take(bare) {
                try WireBench.check(BareCurl.send(text, lanes: lanes, count: requests))
            }
            try await rounds.take("CurlTransport") {
                try await WireBench.load(lanes, requests) {
                    _ = try await transport.send(request, options: TransportOptions())
                }
            }
            try await rounds.take(more) {
                try WireBench.check(
                    BareCurl.send(text, headers: BareCurl.agentHeaders, lanes: lanes, count: requests))
            }
            try await rounds.take("an agent") {
                try await WireBench.load(lanes, requests) { _ = try await agent.send(Get()) }
            }
        }
        rounds.report(against: bare)
        let ratio = rounds.ratio("an agent", to: more)
        print("\(Rounds.pad("an agent, of its yardstick", 44)) \(Rounds.number(ratio))")
    }

    private static func post(_ server: BenchServer, _ transport: CurlTransport, _ lanes: Int) async throws {
        let text = server.url + "/post"
        guard let url = URL(string: text) else { return }
        let agent = NetworkAgent(baseURL: server.url, transport: transport)
        let request = HTTPRequest(.post, url, body: Post().body)
        let bare = "libcurl from C, POST 1 KB, \(lanes) at once"
        var rounds = SendRounds(requests)
        for _ in 0..<9 {
            try await rounds.take(bare) {
                try WireBench.check(
                    BareCurl.send(text, headers: BareCurl.agentHeaders, body: 1024, lanes: lanes, count: requests))
            }
            try await rounds.take("CurlTransport") {
                try await WireBench.load(lanes, requests) {
                    _ = try await transport.send(request, options: TransportOptions())
                }
            }
            try await rounds.take("an agent") {
                try await WireBench.load(lanes, requests) { _ = try await agent.send(Post()) }
            }
        }
        rounds.report(against: bare)
    }

    /// Counts the voluntary context switches per request, one request at a time, with the server on a separate core:
    /// once for a client that starts with one core, and once for a client that's confined to one core although Swift's
    /// pool has more threads.
    private static func switches(_ server: BenchServer) async throws {
        guard let process = server.process, sysconf(Int32(_SC_NPROCESSORS_ONLN)) > 1 else { return }
        pin(process, to: [1])
        let alone = Double(try outputOnOneCore([clientName, server.url])) ?? .nan
        print("\(Rounds.pad("switches of threads a request, an agent", 44)) \(Rounds.number(alone))")
        pin(0, to: [0])
        defer {
            let all = Set(0..<Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
            pin(process, to: all)
            pin(0, to: all)
        }
        let least = try await switchesOfAgent(at: server.url)
        print("\(Rounds.pad("the same with a pool of several threads", 44)) \(Rounds.number(least))")
    }

    /// The first argument that runs this program as the client of ``switches(_:)``. The second one is the server's URL.
    static let clientName = "client-on-one-core"

    static func runClient(at url: String) async throws { print(try await switchesOfAgent(at: url)) }

    private static func switchesOfAgent(at url: String) async throws -> Double {
        let agent = NetworkAgent(baseURL: url, transport: CurlTransport())
        var least = Double.infinity
        for _ in 0..<5 {
            let before = bare_voluntary_switches()
            for _ in 0..<2000 { _ = try await agent.send(Get()) }
            least = min(least, Double(bare_voluntary_switches() - before) / 2000)
        }
        return least
    }

    private static func outputOnOneCore(_ arguments: [String]) throws -> String {
        let (program, output) = (Process(), Pipe())
        program.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        program.arguments = arguments
        program.standardOutput = output
        do {
            // A child inherits the cores of the thread that starts it.
            bare_pin_thread(0, 1)
            defer { bare_pin_thread(0, .max) }
            try program.run()
        }
        let text = output.fileHandleForReading.readDataToEndOfFile()
        program.waitUntilExit()
        return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func pin(_ process: pid_t, to cores: Set<Int>) {
        let mask = cores.filter { $0 < 64 }.reduce(UInt(0)) { $0 | 1 << UInt($1) }
        let folder = "/proc/\(process == 0 ? getpid() : process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for thread in threads.compactMap({ Int32($0) }) { bare_pin_thread(thread, mask) }
    }

    private static func memory() async throws {
        let server = try TestServer()
        server.on(.get, "/kilobyte", .text("late").delayed(by: .seconds(3600)))
        let count = 10_000
        for name in ["CurlTransport", "an agent"] {
            let transport = CurlTransport()
            let agent = NetworkAgent(baseURL: server.url, transport: transport)
            guard let url = URL(string: server.url + "/kilobyte") else { return }
            let before = residentBytes()
            let tasks = (0..<count).map { _ in
                Task {
                    if name == "an agent" {
                        _ = try await agent.send(Get())
                    } else {
                        _ = try await transport.send(
                            HTTPRequest(.get, url), options: TransportOptions(timeout: .seconds(3600)))
                    }
                }
            }
            try await Task.sleep(for: .seconds(2))
            let each = Double(residentBytes() - before) / Double(count) / 1024
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
            print("\(Rounds.pad("10,000 requests at once, \(name)", 44)) \(Rounds.number(each)) KiB each")
        }
    }
}
#else
enum WireCostBench {
    static let clientName = "client-on-one-core"
    static func run() async throws { print("on Linux only") }
    static func runClient(at url: String) async throws { try await run() }
}
#endif
