import Errand
import ErrandBatch
import ErrandCache
import ErrandChain
import ErrandCurlTransport
import ErrandLoadingIndicatorLog
import ErrandTesting
import Foundation

/// Everything that can be seen of a few requests: a spinner, a log above it, an archive and a waterfall.
///
/// `swift run errand-watch [DIRECTORY]` talks to a server in the process; with a directory it writes `errand.har` and
/// `errand.html` there.
@main
struct Watch {
    struct Get: CacheableRequest {
        typealias Output = String
        let path: String
        var cachePolicy: CachePolicy { .timed(.seconds(60)) }
        var label: String? { String(path.prefix { $0 != "?" }) }
    }

    static func main() async throws {
        let server = try Self.server()
        let (spinner, waterfall, archive) = (TerminalSpinner(), WaterfallRecorder(), HARRecorder(bodiesUpTo: 1000))
        let log = RequestLog(.line, to: ClosureSink { spinner.print($0.line) })
        let metrics = NetworkMetrics()
        let indicator = LoadingIndicator(spinner, label: "Opening the shop…", delay: .milliseconds(50))
        let agent = NetworkAgent(
            baseURL: server.url("v1"), transport: .curl, filters: [.cache(.memory())],
            accessories: [indicator, log, waterfall, archive, metrics])
        let shelves = try await agent.send(
            Chain("open the shop") { steps in
                _ = try await steps.send(Get(path: "session?token=1234567890"))
                let (first, _, _) = try await steps.send(
                    Batch(Get(path: "apples"), Get(path: "pears"), Get(path: "old-prices"), label: "shelves"))
                return try await steps.send(Get(path: "\(first.value)")).value
            })
        _ = try? await agent.send(Get(path: "nothing"))
        _ = try await agent.send(Get(path: "pears"))
        await log.flush()
        print("the shop has \(shelves)")
        for (host, counts) in metrics.hosts {
            let half = counts.percentile(50).map { Int($0 / .milliseconds(1)) } ?? 0
            print("\(host): \(counts.requests) requests, \(counts.failed) failed, half of them within \(half) ms")
        }
        guard let directory = CommandLine.arguments.dropFirst().first.map({ URL(filePath: $0) }) else { return }
        try archive.encoded().write(to: directory.appending(path: "errand.har"))
        let page = waterfall.html(title: "Opening the shop")
        try page.write(to: directory.appending(path: "errand.html"), atomically: true, encoding: .utf8)
        print("errand.har and errand.html are in \(directory.path)")
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
