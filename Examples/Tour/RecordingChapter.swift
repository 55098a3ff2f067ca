import Errand
import ErrandExampleShop
import ErrandRecording
import ErrandSystemTransport
import ErrandTesting

/// Records requests once, and exports an archive for browser tools, a page and counters.
enum RecordingChapter {
    static func run(_ shop: Shop) async throws {
        Chapter.begin("A recording: what went over the wire, as an archive, a page and counters")
        let recorder = ExchangeRecorder(maximumBodyBytes: 1000)
        let agent = NetworkAgent(baseURL: shop.server.url("v1"), transport: .system, accessories: [recorder])
        _ = try await agent.send(GetText(path: "old?session_token=1234567890"))
        for entry in recorder.harFile().log.entries {
            let path = entry.request.url.split(separator: "/v1").last ?? ""
            Chapter.line(
                "\(entry.request.method) \(path) → \(entry.response.status) \(entry.response.content.text ?? "")")
        }
        let page = recorder.waterfallPage(title: "The shop").html
        let requests = recorder.metrics.hosts.values.reduce(0) { $0 + $1.requests }
        Chapter.line("\(requests) request in the counters, and a page of \(page.utf8.count / 1024) KiB")
        Chapter.end()
    }
}
