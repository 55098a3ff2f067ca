public import Errand

/// Sends a `traceparent` field with each request, to follow it through several services (W3C Trace Context).
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system, filters: [.traceContext(sampling: 0.1)])
/// ```
///
/// A call is a trace, and each of its requests on the wire is a span: attempts and redirects share the trace, but each
/// has its own span. To continue an existing trace, for example in a server that is handling a request, pass its
/// parent:
///
/// ```swift
/// try await agent.send(GetUser(id: 7), options: .trace(incoming))
/// ```
///
/// A request that already has a valid `traceparent` continues that trace. Its `tracestate` is sent along, in valid form
/// and within the limits of ``TraceState``. The fields go to trusted origins only. Each span is a note of the activity,
/// so you can join logs and traces.
public struct TraceContext: Filter {
    /// The share of new traces that are marked as sampled, from 0 to 1.
    public let sampling: Double

    /// Creates a filter. Agents may share it. By default, all new traces are sampled.
    public init(sampling: Double = 1) { self.sampling = sampling.isNaN ? 0 : min(max(0, sampling), 1) }

    /// Runs once per call, to begin the trace, and once per request on the wire.
    public var stages: FilterStages { [.call, .wire] }

    /// `changesRequest`, because the filter adds header fields.
    public var traits: FilterTraits { .changesRequest }

    /// The field, and the share that is sampled.
    public var explanation: String { "adds traceparent, \(Int(sampling * 100)) % sampled" }

    /// Begins a trace, or a span of it.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if exchange.stage == .call {
            let headers = exchange.http.headers
            let own = headers["traceparent"].flatMap(TraceParent.init(parsing:))
            let known = exchange.tags[TraceParentTag.self] ?? own
            exchange.tags[TraceParentTag.self] = known ?? TraceParent(isSampled: Double.random(in: 0..<1) < sampling)
            // A state is only valid together with its own trace.
            if exchange.tags[TraceStateTag.self] == nil, let known, known.traceID == (own ?? known).traceID {
                exchange.tags[TraceStateTag.self] = headers["tracestate"].flatMap(TraceState.init(parsing:))
            }
        } else if let span = exchange.tags[TraceParentTag.self]?.child(), exchange.isTrusted {
            exchange.http.headers["traceparent"] = span.description
            let state = exchange.tags[TraceStateTag.self]?.description ?? ""
            exchange.http.headers["tracestate"] = state.isEmpty ? nil : state
            exchange.note("trace", span.description, details: span)
        } else {
            // Don't send trace fields to other origins, even if they were set by hand.
            exchange.http.headers.remove("traceparent")
            exchange.http.headers.remove("tracestate")
        }
        return try await next(exchange)
    }
}

/// The trace that a call continues.
public enum TraceParentTag: TagKey {
    /// Defaults to `nil`: the call begins a trace.
    public static var defaultValue: TraceParent? { nil }
}

/// The trace's vendor-specific state.
public enum TraceStateTag: TagKey {
    /// Defaults to `nil`: the state is read from the request's own field, if there is one.
    public static var defaultValue: TraceState? { nil }
}

extension CallOptions {
    /// Creates options that only set a trace.
    public static func trace(_ parent: TraceParent?, state: TraceState? = nil) -> CallOptions {
        CallOptions().trace(parent, state: state)
    }

    /// Returns the options with a trace for the call to continue, and its state. With `nil`, the call begins a trace.
    public func trace(_ parent: TraceParent?, state: TraceState? = nil) -> CallOptions {
        var options = self
        options.tags[TraceParentTag.self] = parent
        options.tags[TraceStateTag.self] = state
        return options
    }
}

extension Filter where Self == TraceContext {
    /// `filters: [.traceContext]`
    public static var traceContext: TraceContext { TraceContext() }

    /// `filters: [.traceContext(sampling: 0.1)]`
    public static func traceContext(sampling: Double) -> TraceContext { TraceContext(sampling: sampling) }
}
