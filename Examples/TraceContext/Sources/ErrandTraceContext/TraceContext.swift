public import Errand

/// Sends a `traceparent` field with each request, so that its way through several services can be followed (W3C Trace
/// Context).
///
/// ```swift
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system, filters: [.traceContext(sampling: 0.1)])
/// ```
///
/// A call is a trace, and each request on the wire a span of it: attempts and redirects share the trace and differ in the
/// span. A call that belongs to a trace already, such as one of a server's that serves a request itself, continues it:
///
/// ```swift
/// try await agent.send(GetUser(id: 7), options: .trace(incoming))
/// ```
///
/// A request with a valid `traceparent` of its own continues that one, and its `tracestate` goes along, in valid form and
/// within the limits of ``TraceState``. The fields go to trusted origins only, and each span is a note of the activity, so
/// that logs and traces can be joined.
public struct TraceContext: Filter {
    /// The share of new traces that are marked as sampled, from 0 to 1.
    public let sampling: Double

    /// Makes a filter; agents may share it. All new traces are sampled by default.
    public init(sampling: Double = 1) { self.sampling = sampling.isNaN ? 0 : min(max(0, sampling), 1) }

    /// Once for a call, where the trace begins, and for each request on the wire.
    public var stages: FilterStages { [.call, .wire] }

    /// It adds a field.
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
            // Without the trace that it belongs to a state means nothing.
            if exchange.tags[TraceStateTag.self] == nil, let known, known.traceID == (own ?? known).traceID {
                exchange.tags[TraceStateTag.self] = headers["tracestate"].flatMap(TraceState.init(parsing:))
            }
        } else if let span = exchange.tags[TraceParentTag.self]?.child(), exchange.isTrusted {
            exchange.http.headers["traceparent"] = span.description
            let state = exchange.tags[TraceStateTag.self]?.description ?? ""
            exchange.http.headers["tracestate"] = state.isEmpty ? nil : state
            exchange.note("trace", span.description, details: span)
        } else {
            // Another origin gets neither the field nor what was set by hand.
            exchange.http.headers.remove("traceparent")
            exchange.http.headers.remove("tracestate")
        }
        return try await next(exchange)
    }
}

/// The trace that a call belongs to; nil by default.
public enum TraceParentTag: TagKey {
    /// Nil: the call begins a trace.
    public static var defaultValue: TraceParent? { nil }
}

/// What systems keep of the trace that a call belongs to; nil by default.
public enum TraceStateTag: TagKey {
    /// Nil: that of the request's own field, where it has one.
    public static var defaultValue: TraceState? { nil }
}

extension CallOptions {
    /// Options with a trace and nothing else.
    public static func trace(_ parent: TraceParent?, state: TraceState? = nil) -> CallOptions {
        CallOptions().trace(parent, state: state)
    }

    /// The same options with a trace that the call continues, and with its state; with nil it begins one.
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
