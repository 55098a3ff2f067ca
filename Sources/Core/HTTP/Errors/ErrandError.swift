import ErrandMessageSyntax

/// A failure of a request: a code to switch over, a sentence for people in `localizedDescription`, and the evidence.
///
/// ```swift
/// do { try await agent.send(GetUser(id: 7)) } catch let error as ErrandError where error.code == .unacceptableStatus {
///     print(error.response?.status, try error.response?.json(APIError.self))
/// }
/// ```
///
/// Codes may be added; plugins throw types of their own. No description holds a header value, a body or the value of
/// a query item.
public struct ErrandError: Error, Sendable {
    /// The kind of failure; stable, of low cardinality, fit for metrics.
    public typealias Code = FailureCode<ErrandError>

    /// The kind of failure.
    public var code: Code
    /// A sentence with what was expected and what came.
    public var message: String
    /// The response, with a copy of at most `maximumErrorBodyBytes` of its body, if there was one.
    public var response: HTTPResponse?
    /// The request, once there was one.
    public var request: HTTPRequest?
    /// The activity that failed, once there was one; distinguishes failures that read the same.
    public var activity: ActivityID?
    /// The underlying failure.
    public var underlying: (any Error)?

    /// Makes an error; Core adds the request, and the response where there was one.
    public init(_ code: Code, _ message: String, response: HTTPResponse? = nil, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.response = response
        self.underlying = underlying
    }

    /// Whether the call was cancelled, which is no failure.
    public var isCancelled: Bool { code == .cancelled }

    /// Whether the same request may succeed when it is sent again later, judged by the failure alone: the network
    /// failed, or the status is 408, 425, 429, 500, 502, 503 or 504. Whether it is safe to send it twice is another
    /// matter.
    public var isRetryable: Bool {
        if code == .unacceptableStatus { return response.map { StatusCodes.retryable.contains($0.status) } ?? false }
        return Set.retryable.contains(code)
    }
}

extension Set<ErrandError.Code> {
    /// The failures of a network after which the same request may succeed later: `timedOut`, `cannotConnect`,
    /// `connectionLost`, `nameLookupFailed` and `truncated`.
    public static let retryable: Self = [.timedOut, .cannotConnect, .connectionLost, .nameLookupFailed, .truncated]
}

extension FailureCode<ErrandError> {
    /// The base URL, the path or the final URL cannot be requested.
    public static var invalidURL: Self { Self("invalidURL", 1) }
    /// A method, header or combination of body and parameters that cannot be sent.
    public static var invalidRequest: Self { Self("invalidRequest", 2) }
    /// The body or the parameters could not be encoded, or the source of a streamed body failed.
    public static var encodingFailed: Self { Self("encodingFailed", 3) }
    /// A body that can be read once would have to be sent again.
    public static var bodyNotReplayable: Self { Self("bodyNotReplayable", 4) }
    /// A file could not be read or written.
    public static var fileFailed: Self { Self("fileFailed", 5) }
    /// The call was cancelled: by its task, its handle, an accessory or its agent.
    public static var cancelled: Self { Self("cancelled", 6) }
    /// No bytes arrived or were sent for longer than the request's timeout.
    public static var timedOut: Self { Self("timedOut", 7) }
    /// The deadline of the whole call passed.
    public static var deadlineExceeded: Self { Self("deadlineExceeded", 8) }
    /// The name of the host could not be resolved. Says nothing of earlier requests of the call, see ``cannotConnect``.
    public static var nameLookupFailed: Self { Self("nameLookupFailed", 9) }
    /// No connection could be made for the request that the error names; after a redirect, another server received the
    /// first request.
    public static var cannotConnect: Self { Self("cannotConnect", 10) }
    /// The connection failed while in use.
    public static var connectionLost: Self { Self("connectionLost", 11) }
    /// The secure connection was refused: an untrusted, expired or wrong certificate, a wrong pin, no common version.
    public static var insecureConnection: Self { Self("insecureConnection", 12) }
    /// The response is not HTTP, or contradicts itself.
    public static var invalidResponse: Self { Self("invalidResponse", 13) }
    /// The body ended before its announced length.
    public static var truncated: Self { Self("truncated", 14) }
    /// The body is longer than its reader accepts.
    public static var bodyTooLarge: Self { Self("bodyTooLarge", 15) }
    /// A second reader asked for a streamed body.
    public static var bodyAlreadyRead: Self { Self("bodyAlreadyRead", 16) }
    /// A redirect that is not followed: too many, no place to go, or from https to http.
    public static var redirectFailed: Self { Self("redirectFailed", 17) }
    /// The request does not accept the status.
    public static var unacceptableStatus: Self { Self("unacceptableStatus", 18) }
    /// The request does not accept the content type.
    public static var unacceptableContentType: Self { Self("unacceptableContentType", 19) }
    /// A check of a filter or of the request rejected the response.
    public static var checkFailed: Self { Self("checkFailed", 20) }
    /// The body cannot be decoded to `Output`.
    public static var decodingFailed: Self { Self("decodingFailed", 21) }
    /// `next` was called after the activity had ended.
    public static var activityEnded: Self { Self("activityEnded", 22) }
    /// The transport cannot work here, for example because a library is missing.
    public static var transportUnavailable: Self { Self("transportUnavailable", 23) }
    /// The transport failed in a way that has no code of its own.
    public static var transportFailed: Self { Self("transportFailed", 24) }
    /// The request is a part of an operation that began as another user, and isn't sent as this one.
    public static var userChanged: Self { Self("userChanged", 25) }
}

extension ErrandError: CustomStringConvertible, CustomDebugStringConvertible {
    /// One line: the code, the request with its secrets masked, and the message with its control characters escaped.
    public var description: String {
        let message = ControlCharacters.escaped(message)
        return [code.description, request?.description, message].compactMap(\.self).joined(separator: ": ")
    }

    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
}

extension ErrandError {
    package static func tooLarge(limit: Int) -> ErrandError {
        ErrandError(.bodyTooLarge, "the body is longer than the limit of \(limit) bytes")
    }

    package static func wrongLength(expected: Int64, received: Int64) -> ErrandError {
        ErrandError(
            received < expected ? .truncated : .invalidResponse, "\(expected) bytes announced, \(received) received")
    }
}

extension Error {
    /// Whether the error is a cancellation, of Swift's or of Errand's.
    public var isCancellation: Bool { self is CancellationError || (self as? ErrandError)?.isCancelled == true }

    /// Whether the transport's error says that no server received a byte of this one request: there was no connection to send it
    /// on.
    public var reachedNoServer: Bool {
        guard let error = self as? ErrandError, error.response == nil else { return false }
        return error.code == .cannotConnect || error.code == .nameLookupFailed
    }
}

/// The number of an activity, counted from 1 in a process.
public struct ActivityID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Whether `a` began before `b`.
    public static func < (a: ActivityID, b: ActivityID) -> Bool { a.rawValue < b.rawValue }

    /// The number behind a `#`.
    public var description: String { "#\(rawValue)" }
}

/// The ``ErrorCode`` of an error type: a name and a number. Codes of two error types are of different types.
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
/// Only the module of an error makes codes for it.
public struct FailureCode<Failure: Error>: ErrorCode {
    /// The name of the code: stable, of low cardinality, fit for metrics.
    public let description: String
    /// A number that never changes, from 1; the `code` of an `NSError`.
    public let number: Int

    /// Makes a code; no other code of the error has its name or its number.
    public init(_ description: String, _ number: Int) { (self.description, self.number) = (description, number) }

    /// Whether the numbers are the same.
    public static func == (a: FailureCode, b: FailureCode) -> Bool { a.number == b.number }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
