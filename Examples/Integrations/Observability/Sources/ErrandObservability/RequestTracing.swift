public import Errand
public import Tracing

/// Creates a span for each request on the wire, by OpenTelemetry's semantic conventions for HTTP clients.
///
/// ```swift
/// let tracing = RequestTracing()
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system, filters: [.retry, .breaker, tracing],
///     accessories: [tracing])
/// ```
///
/// As a filter, it runs right before the transport. Put it last, after gates and breakers, so spans don't include their
/// waits and rejections. Each attempt, redirect and hedge is a span of the kind `CLIENT` and a child of the caller's
/// span. The call itself doesn't get a span. As an accessory, it adds the event `errand.cache.hit` to the caller's span
/// when a stored response is used, instead of creating a span.
///
/// A span ends when the body is in memory, or with a stream's head. Its name is the method, followed by the request's
/// ``Errand/URLTemplate`` if there is one. Statuses of 400 and above and failures are errors; cancellations aren't. The
/// attributes are set right after the span starts, because the tracing API can't take them earlier.
public struct RequestTracing: Filter, Accessory {
    /// Selects the requests that carry the trace's context.
    public enum Propagation: Sendable {
        /// Requests to the agent's base URLs and trusted origins. The default.
        case trustedOrigins
        /// All requests, including requests to other parties' servers.
        case everywhere
        /// No requests.
        case off
    }

    private let tracer: (any Tracer)?
    private let propagation: Propagation
    private let redaction: Redaction
    private let knownMethods: Set<String>

    /// - Parameters:
    ///   - tracer: creates the spans and writes the context into header fields. Defaults to `nil`, which uses the
    ///     current one of `InstrumentationSystem` when a request is sent.
    ///   - propagation: the requests that carry the context.
    ///   - redaction: the masking rules for `url.full`.
    ///   - knownMethods: the methods to record by name. Defaults to the methods of RFC 9110 and PATCH. Any other is
    ///     `_OTHER`.
    public init(
        _ tracer: (any Tracer)? = nil, propagation: Propagation = .trustedOrigins, redaction: Redaction = Redaction(),
        knownMethods: Set<String>? = nil
    ) {
        (self.tracer, self.propagation, self.redaction) = (tracer, propagation, redaction)
        self.knownMethods = knownMethods ?? RequestFacts.knownMethods
    }

    /// Runs at ``Errand/FilterStages/wire``.
    public var stages: FilterStages { .wire }

    /// `changesRequest`, because the filter adds header fields.
    public var traits: FilterTraits { .changesRequest }

    /// The requests that carry the context.
    public var explanation: String {
        switch propagation {
        case .trustedOrigins: "a span for each request, its context sent to trusted origins"
        case .everywhere: "a span for each request, its context sent everywhere"
        case .off: "a span for each request, its context sent nowhere"
        }
    }

    /// Sends the request within a span.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let span = begin(&exchange)
        do {
            let response = try await next(exchange)
            end(span, RequestEnd(response))
            return response
        } catch {
            end(span, RequestEnd(error))
            throw error
        }
    }

    /// Adds an event to the caller's span when a stored response is used.
    public func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .willStop(.success(let response?)) = event, response.source.isStored,
            let context = InstrumentationContext.current
        else { return }
        let tracer = tracer ?? InstrumentationSystem.tracer
        tracer.noteHit(of: response.source, activity.tags[URLTemplate.self], in: context)
    }

    // MARK: The span

    private func begin(_ exchange: inout Exchange) -> any Span {
        let tracer = tracer ?? InstrumentationSystem.tracer
        let facts = RequestFacts(exchange, knownMethods: knownMethods)
        let method = facts.originalMethod == nil ? facts.method : "HTTP"
        let span: any Span = tracer.startSpan(facts.template.map { "\(method) \($0)" } ?? method, ofKind: .client)
        if span.isRecording {
            let resends = exchange.transferCount
            let url = maskedURL(of: exchange.http)
            span.updateAttributes { attributes in
                attributes["http.request.method"] = facts.method
                attributes["server.address"] = facts.address
                attributes["server.port"] = facts.port
                attributes["url.full"] = url
                if let original = facts.originalMethod { attributes["http.request.method_original"] = original }
                if let template = facts.template { attributes["url.template"] = template }
                if resends > 0 { attributes["http.request.resend_count"] = resends }
            }
        }
        let isPropagated =
            switch propagation {
            case .trustedOrigins: exchange.isTrusted
            case .everywhere: true
            case .off: false
            }
        if isPropagated { tracer.inject(span.context, into: &exchange.http.headers, using: HeaderInjector()) }
        return span
    }

    private func end(_ span: any Span, _ end: RequestEnd) {
        if span.isRecording {
            span.updateAttributes { attributes in
                if let status = end.status { attributes["http.response.status_code"] = status }
                if let version = end.version { attributes["network.protocol.version"] = version }
                if let type = end.errorType { attributes["error.type"] = type }
            }
            // The status is self-explanatory, and a failure's name contains no secrets.
            if let type = end.errorType {
                span.setStatus(SpanStatus(code: .error, message: end.status.map(String.init) == type ? nil : type))
            }
        }
        span.end()
    }

    /// The URL, with secrets masked as the conventions specify. A URL can't contain Errand's mask itself, because the
    /// mask isn't ASCII.
    private func maskedURL(of request: HTTPRequest) -> String {
        let text = request.urlText
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else { return text }
        var redactor = Redactor(redaction)
        return redactor.url(text).replacing(Redaction.mask, with: "REDACTED")
    }
}

extension Tracer {
    /// Adds the event to the context's span, if the span is still running.
    fileprivate func noteHit(of source: ResponseSource, _ template: String?, in context: InstrumentationContext) {
        guard let span = activeSpan(identifiedBy: context) else { return }
        var attributes: SpanAttributes = ["errand.response.source": .string(source.name)]
        if let age = source.age { attributes["errand.response.age"] = age.components.seconds }
        if let template { attributes["url.template"] = template }
        span.addEvent(SpanEvent(name: "errand.cache.hit", attributes: attributes))
    }
}

/// Writes a trace's context into header fields.
struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into headers: inout HTTPHeaders) {
        let field = HTTPHeaders.Field(HTTPHeaderName(key), value)
        // Baggage comes from the app. Skip values that no field may contain, or the request would fail.
        guard field.name.isValid, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return }
        headers.set(field.name, value)
    }
}
