public import Errand
import ErrandEssentials

/// The error that gates and breakers throw if they don't send a request.
///
/// ```swift
/// do { try await agent.send(GetUser(id: 7)) } catch let error as ResilienceError where error.code == .breakerOpen {
///     print(error.host, error.remaining ?? .zero)
/// }
/// ```
public struct ResilienceError: CodedError, Sendable {
    /// The kind of failure. New codes may be added.
    public typealias Code = FailureCode<ResilienceError>

    /// The kind of failure.
    public let code: Code
    /// The name and port of the host.
    public let host: String
    /// The time until the host allows requests again, or nil if unknown.
    public let remaining: Duration?
    private let message: String

    init(_ code: Code, host: String, remaining: Duration? = nil, _ message: String) {
        (self.code, self.host, self.remaining, self.message) = (code, host, remaining, message)
    }

    /// The code, host and reason on one line.
    public var description: String { "\(code): \(host): \(message)" }
}

extension FailureCode<ResilienceError> {
    /// The host's breaker is open, because too many requests to it have failed.
    public static var breakerOpen: Self { Self("breakerOpen", 1) }
    /// The host doesn't allow the request before the deadline of the call or within the maximum wait.
    public static var waitTooLong: Self { Self("waitTooLong", 2) }
    /// Too many requests already wait for the host.
    public static var queueFull: Self { Self("queueFull", 3) }
}

extension ResilienceError: RequestFailure {
    /// True, because the host may accept the request later. Caches can use a stale response in the meantime. A retry
    /// repeats the request only if its policy includes this error.
    public var isRetryable: Bool { true }
}

extension ResilienceError {
    /// The sentence shown to people.
    public var failureSentence: FailureSentence { .busy }
}
