import ErrandMessageSyntax

/// A request's failure. It contains a code to switch over, a sentence for users in `localizedDescription`, the request,
/// and the response.
///
/// ```swift
/// do { try await agent.send(GetUser(id: 7)) } catch let error as ErrandError where error.code == .unacceptableStatus {
///     print(error.response?.status, try error.response?.json(APIError.self))
/// }
/// ```
///
/// Later versions may add codes. Plugins throw their own error types. Descriptions never contain header values, bodies
/// or the values of query items.
public struct ErrandError: Error, Sendable {
    /// The type of the codes.
    public typealias Code = FailureCode<ErrandError>

    /// The kind of failure. Stable and of low cardinality, so it's suitable for metrics.
    public var code: Code
    /// A sentence that states what was expected and what happened instead.
    public var message: String
    /// The response, if any, with a copy of up to `maximumErrorBodyBytes` of its body.
    public var response: HTTPResponse?
    /// The request as it was built, or `nil` if building it failed.
    public var request: HTTPRequest?
    /// The failed activity, or `nil` if no activity had started.
    public var activity: ActivityID?
    /// The error that caused this one, such as a `DecodingError`.
    public var underlying: (any Error)?

    /// Creates an error. Core adds the request, and the response if there is one.
    public init(_ code: Code, _ message: String, response: HTTPResponse? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.response = response
        self.underlying = underlying
    }

    /// Whether the call was cancelled, which isn't a failure.
    public var isCancelled: Bool { code == .cancelled }

    /// Whether the same request may succeed later: the network failed, or the status is in ``StatusCodes/retryable``.
    /// Before you send the request again, also check that sending it twice is safe.
    public var isRetryable: Bool {
        if code == .unacceptableStatus { return response.map { StatusCodes.retryable.contains($0.status) } ?? false }
        return Set.retryable.contains(code)
    }
}

extension Set<ErrandError.Code> {
    /// The network failures after which the same request may succeed later.
    ///
    /// | code | why a retry may help |
    /// |---|---|
    /// | `timedOut` | the server or the network may be overloaded for a moment |
    /// | `cannotConnect` | the server may be restarting, or the device may be changing its network |
    /// | `connectionLost` | the server may have closed an idle connection; a retry opens another connection |
    /// | `nameLookupFailed` | the resolver is often unreachable while the device changes its network |
    /// | `truncated` | the connection ended too early; the whole response may arrive over another connection |
    ///
    /// Other codes aren't in the set:
    ///
    /// - `insecureConnection`: a certificate that isn't trusted stays untrusted, and a retry might meet an attacker
    ///   again.
    /// - `invalidResponse`, `redirectFailed`, `bodyTooLarge`, `decodingFailed`, and codes of checks: the server
    ///   answered, and most servers answer the same request in the same way.
    /// - `invalidURL`, `invalidRequest`, `encodingFailed`, `bodyNotReplayable` and `fileFailed`: the failure is in the
    ///   request, or on the device.
    /// - `cancelled`, `deadlineExceeded` and `activityEnded`: the caller doesn't wait for a response any longer.
    public static let retryable: Self = [.timedOut, .cannotConnect, .connectionLost, .nameLookupFailed, .truncated]
}

extension FailureCode<ErrandError> {
    /// The base URL, the path or the final URL is invalid.
    public static var invalidURL: Self { Self("invalidURL", 1) }
    /// The method, a header, or the combination of body and parameters can't be sent.
    public static var invalidRequest: Self { Self("invalidRequest", 2) }
    /// The body or the parameters couldn't be encoded, or the source of a streamed body failed.
    public static var encodingFailed: Self { Self("encodingFailed", 3) }
    /// The body must be sent again but can be read only once.
    public static var bodyNotReplayable: Self { Self("bodyNotReplayable", 4) }
    /// A file couldn't be read or written.
    public static var fileFailed: Self { Self("fileFailed", 5) }
    /// The call was cancelled by its task, its handle, an accessory or its agent.
    public static var cancelled: Self { Self("cancelled", 6) }
    /// The request sent or received no bytes for longer than its timeout.
    public static var timedOut: Self { Self("timedOut", 7) }
    /// The call's deadline passed.
    public static var deadlineExceeded: Self { Self("deadlineExceeded", 8) }
    /// The host name couldn't be resolved. An earlier request of the call may have reached a server.
    public static var nameLookupFailed: Self { Self("nameLookupFailed", 9) }
    /// The request in the error couldn't be sent, because a connection couldn't be made. If the call was redirected, an
    /// earlier request has reached a server.
    public static var cannotConnect: Self { Self("cannotConnect", 10) }
    /// The connection was lost while it was in use.
    public static var connectionLost: Self { Self("connectionLost", 11) }
    /// The secure connection was refused: an untrusted, expired or wrong certificate, a wrong pin, or no common TLS
    /// version.
    public static var insecureConnection: Self { Self("insecureConnection", 12) }
    /// The response isn't valid HTTP, or its fields contradict each other.
    public static var invalidResponse: Self { Self("invalidResponse", 13) }
    /// The response's body ended before its announced length.
    public static var truncated: Self { Self("truncated", 14) }
    /// The response's body is longer than the limit.
    public static var bodyTooLarge: Self { Self("bodyTooLarge", 15) }
    /// A streamed body was read a second time.
    public static var bodyAlreadyRead: Self { Self("bodyAlreadyRead", 16) }
    /// A redirect wasn't followed: there were too many, it had no valid location, or it led from https to http.
    public static var redirectFailed: Self { Self("redirectFailed", 17) }
    /// The response's status isn't one of the request's `acceptableStatuses`.
    public static var unacceptableStatus: Self { Self("unacceptableStatus", 18) }
    /// The response's content type isn't one of the request's `acceptableContentTypes`.
    public static var unacceptableContentType: Self { Self("unacceptableContentType", 19) }
    /// A check of the request or a filter rejected the response. The check's error is in `underlying`.
    public static var checkFailed: Self { Self("checkFailed", 20) }
    /// The response's body couldn't be decoded as `Output`.
    public static var decodingFailed: Self { Self("decodingFailed", 21) }
    /// A filter called `next` after its call had ended.
    public static var activityEnded: Self { Self("activityEnded", 22) }
    /// The transport can't work on this system, for example because a library is missing.
    public static var transportUnavailable: Self { Self("transportUnavailable", 23) }
    /// The transport failed for a reason without a specific code.
    public static var transportFailed: Self { Self("transportFailed", 24) }
    /// The request would be sent as another user than earlier requests of the same operation, so it isn't sent.
    public static var userChanged: Self { Self("userChanged", 25) }
}

extension ErrandError: CustomStringConvertible, CustomDebugStringConvertible {
    /// One line with the code, the request and the message. Secrets are masked, and control characters escaped.
    public var description: String {
        let message = ControlCharacters.escaped(message)
        return [code.description, request?.description, message].compactMap(\.self).joined(separator: ": ")
    }

    /// Returns `description`.
    public var debugDescription: String { description }
}

extension ErrandError {
    package static func tooLarge(limit: Int) -> ErrandError {
        ErrandError(.bodyTooLarge, "the body is longer than the limit of \(limit) bytes")
    }

    package static func wrongLength(expected: Int64, received: Int64) -> ErrandError {
        received < expected
            ? ErrandError(.truncated, "received \(received) bytes, but \(expected) bytes were announced")
            : ErrandError(.invalidResponse, "received \(received) bytes, but only \(expected) bytes were announced")
    }
}

extension Error {
    /// Whether the error is a cancellation, either Swift's `CancellationError` or Errand's.
    public var isCancellation: Bool { self is CancellationError || (self as? ErrandError)?.isCancelled == true }

    /// Whether the request failed before a connection was established, so no server received any of its bytes.
    public var reachedNoServer: Bool {
        guard let error = self as? ErrandError, error.response == nil else { return false }
        return error.code == .cannotConnect || error.code == .nameLookupFailed
    }
}

/// An ``ErrorCode`` for an error type. Codes of different error types have different types.
///
/// ```swift
/// struct QuotaError: CodedError {
///     typealias Code = FailureCode<QuotaError>
///     var code: Code
///     var description: String { "\(code): no more requests today" }
/// }
///
/// extension FailureCode<QuotaError> {
///     static var usedUp: Self { Self("usedUp", 1) }
/// }
/// ```
///
/// Create codes only in the error's own module.
public struct FailureCode<Failure: Error>: ErrorCode {
    /// The code's name. Stable and of low cardinality, so it's suitable for metrics.
    public let description: String
    /// A stable number from 1. Becomes the `code` of an `NSError`.
    public let number: Int

    /// Creates a code with a name and a number that are unique within the error type.
    public init(_ description: String, _ number: Int) { (self.description, self.number) = (description, number) }

    /// Compares the numbers.
    public static func == (a: FailureCode, b: FailureCode) -> Bool { a.number == b.number }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
