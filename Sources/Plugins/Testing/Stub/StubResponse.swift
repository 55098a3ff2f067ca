public import Errand
public import ErrandEssentials

/// The response of a ``StubTransport``: a status, headers and a body, or a failure, at once or later.
///
/// ```swift
/// .json(#"{"id":7}"#)
/// .status(503).delayed(by: .seconds(2))
/// .chunks([first, second], every: .seconds(1))
/// .failure(ErrandError(.connectionLost, "the cable was pulled"))
/// ```
///
/// Delays pass on the agent's `TimeSource`, and are cut off by the request's timeout like with a real transport.
public struct StubResponse: ScriptedResponse {
    /// The status.
    public var status: Int
    /// The header fields; none are added.
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

    /// A response of any status, headers and bytes.
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
    /// A redirect; `location` may be relative.
    public static func redirect(to location: String, status: Int = 302) -> StubResponse {
        StubResponse(status: status, headers: [.location: location])
    }

    /// No response, but an error of any type.
    public static func failure(_ error: any Error) -> StubResponse { StubResponse(0, [:], .failure(error)) }

    /// A stream of these chunks, one for each pull, with a pause before each but the first; an error may end it.
    public static func chunks(
        _ chunks: [Data], every interval: Duration = .zero, failure: (any Error)? = nil
    ) -> StubResponse {
        StubResponse(200, [:], .chunks(chunks, interval: interval, failure: failure))
    }

    /// A stream that calls a closure for each chunk, nil at the end. `onCancel` runs when the reader cancels.
    public static func stream(
        length: Int64? = nil, onCancel: @escaping @Sendable () -> Void = {},
        next: @escaping @Sendable () async throws -> Data?
    ) -> StubResponse {
        StubResponse(200, [:], .stream(length: length, next: next, cancel: onCancel))
    }
}

extension StubResponse {
    /// With one more field; those of the same name stay, but a `Content-Type` is replaced.
    public func header(_ name: HTTPHeaderName, _ value: String) -> StubResponse {
        modified { if name == .contentType { $0.headers.set(name, value) } else { $0.headers.add(name, value) } }
    }

    /// With another status.
    public func status(_ status: Int) -> StubResponse { modified { $0.status = status } }

    /// Delays the head by this time, on the agent's clock; `timedOut` is thrown if that is longer than the timeout.
    public func delayed(by delay: Duration) -> StubResponse { modified { $0.delay = delay } }

    /// Delays the head until a test opens the gate; `timedOut` is thrown if that takes longer than the timeout.
    public func waiting(for gate: Gate) -> StubResponse { modified { $0.gate = gate } }

    /// Reports these events before the head: progress, a 1xx response, timings.
    public func reporting(_ events: TransportEvent...) -> StubResponse { modified { $0.events += events } }

    private func modified(_ change: (inout StubResponse) -> Void) -> StubResponse {
        var copy = self
        change(&copy)
        return copy
    }
}
