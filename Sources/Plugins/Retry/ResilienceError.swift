public import Errand
import ErrandEssentials

/// Why a request was not sent, or an attempt ended: thrown by gates, breakers and attempt timeouts.
///
/// ```swift
/// do { try await agent.send(GetUser(id: 7)) } catch let error as ResilienceError where error.code == .breakerOpen {
///     print(error.host, error.remaining ?? .zero)
/// }
/// ```
public struct ResilienceError: CodedError, Sendable {
    /// The kind of failure; codes may be added.
    public struct Code: ErrorCode {
        /// The name of the code.
        public let description: String
        /// A number that never changes, from 1.
        public let number: Int

        init(_ description: String, _ number: Int) {
            (self.description, self.number) = (description, number)
        }

        /// The breaker of the host is open: too many requests to it have failed.
        public static let breakerOpen = Code("breakerOpen", 1)
        /// The host allows no request before the deadline of the call, or before the longest wait is over.
        public static let waitTooLong = Code("waitTooLong", 2)
        /// As many requests wait for the host as may.
        public static let queueFull = Code("queueFull", 3)
    }

    /// The kind of failure.
    public let code: Code
    /// Name and port of the host.
    public let host: String
    /// How long the host allows no request; nil where that is not known.
    public let remaining: Duration?
    private let message: String

    init(_ code: Code, host: String, remaining: Duration? = nil, _ message: String) {
        (self.code, self.host, self.remaining, self.message) = (code, host, remaining, message)
    }

    /// Code, host and reason, in one line.
    public var description: String { "\(code): \(host): \(message)" }
}
