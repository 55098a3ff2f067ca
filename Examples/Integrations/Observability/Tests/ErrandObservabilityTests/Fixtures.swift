import CoreMetrics
import Errand
import ErrandObservability
import ErrandSystemTransport
import ErrandTesting
import InMemoryTracing
import MetricsTestKit
import Testing
import Tracing

/// An agent with tracing and metrics over real connections, and everything they recorded.
struct Observed {
    let tracer = InMemoryTracer()
    let metrics = TestMetrics()
    let agent: NetworkAgent

    init(
        _ url: String, filters: [any Filter] = [], propagation: RequestTracing.Propagation = .trustedOrigins,
        transport: any Transport = .system, time: any TimeSource = SystemTimeSource(),
        _ change: (inout AgentConfiguration) -> Void = { _ in }
    ) {
        let tracing = RequestTracing(tracer, propagation: propagation)
        let meters = RequestMetrics(metrics)
        var configuration = AgentConfiguration(baseURL: url)
        change(&configuration)
        configuration.filters = filters + [tracing, meters]
        configuration.accessories = [tracing, meters]
        agent = NetworkAgent(configuration: configuration, transport: transport, time: time)
    }

    /// Sends within a caller's span. Returns that span, and the requests' spans in order.
    func trace(
        _ body: (NetworkAgent) async throws -> Void
    ) async throws -> (caller: FinishedInMemorySpan, requests: [FinishedInMemorySpan]) {
        try await tracer.withSpan("caller") { _ in try await body(agent) }
        let all = tracer.popFinishedSpans().sorted {
            $0.startInstant.nanosecondsSinceEpoch < $1.startInstant.nanosecondsSinceEpoch
        }
        return (try #require(all.first { $0.operationName == "caller" }), all.filter { $0.operationName != "caller" })
    }
}

extension FinishedInMemorySpan {
    /// The attributes as texts, with integers of any width alike.
    var texts: [String: String] {
        var texts: [String: String] = [:]
        attributes.forEach { key, value in
            texts[key] =
                switch value {
                case .string(let text): text
                case .int32(let number): "\(number)"
                case .int64(let number): "\(number)"
                default: "\(value)"
                }
        }
        return texts
    }
}

extension TestTimer {
    var named: [String: String] { Dictionary(uniqueKeysWithValues: dimensions) }
}

struct GetUser: Request {
    typealias Output = String
    var id = 7
    var path: String { "users/\(id)" }
    var tags: Tags { Tags().with(URLTemplate.self, "/users/{id}") }
}
