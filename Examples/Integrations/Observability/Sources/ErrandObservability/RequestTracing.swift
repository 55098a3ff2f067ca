public import Errand
public import Tracing

/// Makes a span of each request on the wire, by OpenTelemetry's semantic conventions for HTTP clients.
///
/// ```swift
/// let tracing = RequestTracing()
/// let agent = NetworkAgent(
///     baseURL: "https://api.example.com", transport: .system, filters: [.retry, .breaker, tracing],
///     accessories: [tracing])
/// ```
///
/// As a filter it stands before the transport: put it last, behind gates and breakers, whose refusals and waits are none of the
/// server's. Each attempt, each redirect and each hedge is a span of the kind `CLIENT`, a child of the caller's; there is none
/// around the call. As an accessory it adds an event `errand.cache.hit` to the caller's span where a response was stored: that
/// makes no span.
///
/// A span ends when the body is in memory, or with the head of a stream. Its name is the method, and the ``Errand/URLTemplate``
/// where the request has one. A status from 400 on and a failure are errors, a cancellation is none. The attributes are set
/// right after the span has begun, since the tracing API takes none before.
public struct RequestTracing: Filter, Accessory {
    /// Which requests carry the context of the trace.
    public enum Propagation: Sendable {
        /// Those to the agent's base URLs and trusted origins. The default.
        case trustedOrigins
        /// All, those to the servers of others included.
        case everywhere
        /// None.
        case off
    }

    private let tracer: (any Tracer)?
    private let propagation: Propagation
    private let redaction: Redaction
    private let knownMethods: Set<String>

    /// - Parameters:
    ///   - tracer: makes the spans and writes the context into header fields; nil, the default, for the one that
    ///     `InstrumentationSystem` has when a request is sent.
    ///   - propagation: which requests carry the context.
    ///   - redaction: the rules for what is masked in `url.full`.
    ///   - knownMethods: the methods that are recorded by name; those of RFC 9110 and PATCH by default. Any other is `_OTHER`.
    public init(
        _ tracer: (any Tracer)? = nil, propagation: Propagation = .trustedOrigins, redaction: Redaction = Redaction(),
        knownMethods: Set<String>? = nil
    ) {
        (self.tracer, self.propagation, self.redaction) = (tracer, propagation, redaction)
        self.knownMethods = knownMethods ?? RequestFacts.knownMethods
    }

    /// ``Errand/FilterStages/wire``
    public var stages: FilterStages { .wire }

    /// It adds fields.
    public var traits: FilterTraits { .changesRequest }

    /// Which requests carry the context.
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

    /// Adds an event to the span of the caller when a stored response has been used.
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
            // A status says it all; the name of a failure is no secret.
            if let type = end.errorType {
                span.setStatus(SpanStatus(code: .error, message: end.status.map(String.init) == type ? nil : type))
            }
        }
        span.end()
    }

    /// The URL with the conventions' word in the place of secrets. A URL contains no mask of its own: that is not ASCII.
    private func maskedURL(of request: HTTPRequest) -> String {
        let text = request.urlText
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else { return text }
        var redactor = Redactor(redaction)
        return redactor.url(text).replacing(Redaction.mask, with: "REDACTED")
    }
}

extension Tracer {
    /// Adds the event to the span that the context belongs to, where it still runs.
    fileprivate func noteHit(of source: ResponseSource, _ template: String?, in context: InstrumentationContext) {
        guard let span = activeSpan(identifiedBy: context) else { return }
        var attributes: SpanAttributes = ["errand.response.source": .string(source.name)]
        if let age = source.age { attributes["errand.response.age"] = age.components.seconds }
        if let template { attributes["url.template"] = template }
        span.addEvent(SpanEvent(name: "errand.cache.hit", attributes: attributes))
    }
}

/// Writes the context of a trace into header fields.
struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into headers: inout HTTPHeaders) {
        let field = HTTPHeaders.Field(HTTPHeaderName(key), value)
        // Baggage is the app's: what no field may contain is left out, or the request would fail.
        guard field.name.isValid, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return }
        headers.set(field.name, value)
    }
}
