import Errand
import ErrandBatch
import ErrandCache
import ErrandChain
import ErrandInspector
import ErrandLoadingIndicatorLog
import ErrandRecording
import ErrandSystemTransport
import ErrandTesting
import Foundation

/// Observes a few requests with a spinner, a log above it, an archive and a waterfall.
struct Watch {
    struct Get: CacheableRequest {
        typealias Output = String
        let path: String
        var cachePolicy: CachePolicy { .timed(.seconds(60)) }
        var label: String? { String(path.prefix { $0 != "?" }) }
    }

    let spinner = TerminalSpinner()
    private let recorder = ExchangeRecorder(maximumBodyBytes: 1000)
    private let inspector = TrafficInspector()

    /// Sends the requests again and again, to be watched in a browser.
    func inspect() async throws {
        try inspector.start()
        while true {
            // The page's tools can fail any request.
            do { try await run() } catch let error as ErrandError where !error.isCancelled {}
            try await Task.sleep(for: .seconds(3))
        }
    }

    /// Sends the requests. The spinner is gone when it returns or throws.
    func run() async throws {
        let server = try Self.server()
        let log = RequestLog(.line, to: ClosureSink { [spinner] in spinner.print($0.line) })
        let indicator = LoadingIndicator(spinner, label: "Opening the shop…", delay: .milliseconds(50))
        let agent = NetworkAgent(
            baseURL: server.url("v1"), transport: .system, filters: [.cache(.memory())] + inspector.filters,
            accessories: [indicator, log, recorder, inspector])
        inspector.explainRequests(of: agent)
        let shelves: Result<String, any Error>
        do { shelves = .success(try await open(agent)) } catch { shelves = .failure(error) }
        await log.flush()
        await indicator.finish()
        print("the shop has \(try shelves.get())")
        for (host, counts) in recorder.metrics.hosts {
            let half = counts.percentile(50).map { Int($0 / .milliseconds(1)) } ?? 0
            print("\(host): \(counts.requests) requests, \(counts.failed) failed, half of them within \(half) ms")
        }
    }

    private func open(_ agent: NetworkAgent) async throws -> String {
        let shelves = try await agent.run(
            Chain("open the shop") { steps in
                _ = try await steps.send(Get(path: "session?token=1234567890"))
                let (first, _, _) = try await steps.run(
                    Batch(Get(path: "apples"), Get(path: "pears"), Get(path: "old-prices"), label: "shelves"))
                return try await steps.send(Get(path: "\(first.value)")).value
            })
        do { _ = try await agent.send(Get(path: "nothing")) } catch let error as ErrandError where !error.isCancelled {
            // This failure is expected, because the item is sold out. The log shows it.
        }
        _ = try await agent.send(Get(path: "pears"))
        return shelves
    }

    /// Writes the archive and the waterfall.
    func write(to directory: URL) throws {
        try recorder.harFile().encoded().write(to: directory.appending(path: "errand.har"))
        let page = recorder.waterfallPage(title: "Opening the shop")
        try page.html.write(to: directory.appending(path: "errand.html"), atomically: true, encoding: .utf8)
    }

    private static func server() throws -> TestServer {
        let server = try TestServer()
        for (name, text, milliseconds) in [
            ("session", "welcome", 60), ("apples", "plums", 90), ("pears", "three", 140), ("prices", "low", 50),
            ("plums", "plums, and more", 80),
        ] { server.on(.get, "/v1/\(name)", .text(text).delayed(by: .milliseconds(milliseconds))) }
        server.on(.get, "/v1/old-prices", .redirect(to: "/v1/prices"))
        server.on(.get, "/v1/nothing", .text("sold out", status: 404))
        return server
    }
}
