public import Errand
import ErrandEssentials

/// The reason why a request was not sent: thrown by gates and breakers.
///
/// ```swift
/// do { try await agent.send(GetUser(id: 7)) } catch let error as ResilienceError where error.code == .breakerOpen {
///     print(error.host, error.remaining ?? .zero)
/// }
/// ```
public struct ResilienceError: CodedError, Sendable {
    /// The kind of failure; codes may be added.
    public typealias Code = FailureCode<ResilienceError>

    /// The kind of failure.
    public let code: Code
    /// Name and port of the host.
    public let host: String
    /// The time for which the host allows no request; nil if that is not known.
    public let remaining: Duration?
    private let message: String

    init(_ code: Code, host: String, remaining: Duration? = nil, _ message: String) {
        (self.code, self.host, self.remaining, self.message) = (code, host, remaining, message)
    }

    /// Code, host and reason, in one line.
    public var description: String { "\(code): \(host): \(message)" }
}

extension FailureCode<ResilienceError> {
    /// The breaker of the host is open: too many requests to it have failed.
    public static var breakerOpen: Self { Self("breakerOpen", 1) }
    /// The host allows no request before the deadline of the call, or within the maximum wait.
    public static var waitTooLong: Self { Self("waitTooLong", 2) }
    /// The maximum number of requests wait for the host.
    public static var queueFull: Self { Self("queueFull", 3) }
}

extension ResilienceError: RequestFailure {
    /// True: the host may accept the request later. A retry repeats it only if its policy says so, and a cache may
    /// respond with a stale response meanwhile.
    public var isRetryable: Bool { true }
}

extension ResilienceError {
    /// The sentence for people.
    public var failureSentence: FailureSentence { .busy }
}
