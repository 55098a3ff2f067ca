public import Errand
public import ErrandEssentials

/// A response of a ``StubTransport``: a status, headers and a body, or an error.
///
/// ```swift
/// .json(#"{"id":7}"#)
/// .status(503).delayed(by: .seconds(2))
/// .chunks([first, second], every: .seconds(1))
/// .failure(ErrandError(.connectionLost, "the cable was pulled"))
/// ```
///
/// Delays pass on the agent's `TimeSource`, and the request's timeout cuts them off.
public struct StubResponse: ScriptedResponse {
    /// The status code.
    public var status: Int
    /// All header fields; the transport doesn't add any.
    public var headers: HTTPHeaders
    var body: Body
    var delay = Duration.zero
    var gate: Gate?
    var events: [TransportEvent] = []

    enum Body: Sendable {
        case data(HTTPBody)
        case chunks([Data], interval: Duration, failure: (any Error)?)
        case stream(length: Int64?, next: @Sendable () async throws -> Data?, cancel: @Sendable () -> Void)
        case failure(any Error)
        case socket(@Sendable (StubSocket) async throws -> Void)
    }

    /// Creates a response from a status, headers and bytes.
    public init(status: Int = 200, headers: HTTPHeaders = [:], body: Data = Data()) {
        self.init(status, headers, .data(HTTPBody(body)))
    }

    init(_ headers: HTTPHeaders, _ conversation: @escaping @Sendable (StubSocket) async throws -> Void) {
        self.init(101, headers, .socket(conversation))
    }

    private init(_ status: Int, _ headers: HTTPHeaders, _ body: Body) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

extension StubResponse {
    /// Returns a redirect. `location` may be relative.
    public static func redirect(to location: String, status: Int = 302) -> StubResponse {
        StubResponse(status: status, headers: [.location: location])
    }

    /// Throws an error of any type instead of responding.
    public static func failure(_ error: any Error) -> StubResponse { StubResponse(0, [:], .failure(error)) }

    /// Streams one chunk for each pull, with a pause before each but the first, then ends, with `failure` if you pass
    /// it.
    public static func chunks(
        _ chunks: [Data], every interval: Duration = .zero, failure: (any Error)? = nil
    ) -> StubResponse {
        StubResponse(200, [:], .chunks(chunks, interval: interval, failure: failure))
    }

    /// Streams the chunks of `next`, until it returns `nil`. `onCancel` runs if the reader cancels.
    public static func stream(
        length: Int64? = nil, onCancel: @escaping @Sendable () -> Void = {},
        next: @escaping @Sendable () async throws -> Data?
    ) -> StubResponse {
        StubResponse(200, [:], .stream(length: length, next: next, cancel: onCancel))
    }
}

extension StubResponse {
    /// Adds a header field, but replaces an existing `Content-Type`.
    public func header(_ name: HTTPHeaderName, _ value: String) -> StubResponse {
        modified { if name == .contentType { $0.headers.set(name, value) } else { $0.headers.add(name, value) } }
    }

    /// Sets the status code.
    public func status(_ status: Int) -> StubResponse { modified { $0.status = status } }

    /// Delays the head, on the agent's clock. Throws `timedOut` if that exceeds the request's timeout.
    public func delayed(by delay: Duration) -> StubResponse { modified { $0.delay = delay } }

    /// Delays the head until the test opens a gate. Throws `timedOut` if that exceeds the request's timeout.
    public func waiting(for gate: Gate) -> StubResponse { modified { $0.gate = gate } }

    /// Reports events before the head, such as progress, a 1xx response or timings.
    public func reporting(_ events: TransportEvent...) -> StubResponse { modified { $0.events += events } }

    private func modified(_ change: (inout StubResponse) -> Void) -> StubResponse {
        var copy = self
        change(&copy)
        return copy
    }
}
