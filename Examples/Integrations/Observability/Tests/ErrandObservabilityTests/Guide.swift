// The code in docs/integrations.md, so it's known to compile.
import Errand
import ErrandLoadingIndicatorLog
import ErrandObservability
import ErrandRetry
import ErrandSystemTransport
import Logging

private func observe() {
    let tracing = RequestTracing()
    let metrics = RequestMetrics()
    let log = RequestLog(to: LoggerSink(Logger(label: "http")))
    let agent = NetworkAgent(
        baseURL: "https://api.example.com", transport: .system,
        filters: [.standardResilience, tracing, metrics],
        accessories: [tracing, metrics, log])
    _ = agent
}

struct GetOrder: Request {
    typealias Output = String
    let id: Int
    var path: String { "orders/\(id)" }
    var tags: Tags { Tags().with(URLTemplate.self, "/orders/{id}") }
}
