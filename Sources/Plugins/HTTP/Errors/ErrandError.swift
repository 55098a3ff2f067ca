/// What went wrong: a code to switch over, a sentence for people, and the evidence.
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
    public struct Code: ErrorCode {
        /// The name of the code.
        public let description: String
        /// A number that never changes, from 1; the `code` of an `NSError`.
        public let number: Int

        init(_ description: String, _ number: Int) {
            self.description = description
            self.number = number
        }
    }

    /// The kind of failure.
    public var code: Code
    /// What was expected and what came.
    public var message: String
    /// The response, with a copy of at most `maximumErrorBodyBytes` of its body, if there was one.
    public var response: HTTPResponse?
    /// The request, once there was one.
    public var request: HTTPRequest?
    /// The activity that failed, once there was one; distinguishes failures that read the same.
    public var activity: ActivityID?
    /// The failure below this one.
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
    /// failed, or the status is 408, 425, 429, 500, 502, 503 or 504. Whether it is safe to send it twice is another matter.
    public var isRetryable: Bool {
        switch code {
        case .timedOut, .cannotConnect, .connectionLost, .nameLookupFailed, .truncated: true
        case .unacceptableStatus: [408, 425, 429, 500, 502, 503, 504].contains(response?.status)
        default: false
        }
    }
}

extension ErrandError.Code {
    /// The base URL, path or final URL is none that can be requested.
    public static let invalidURL = Self("invalidURL", 1)
    /// A method, header or combination of body and parameters that cannot be sent.
    public static let invalidRequest = Self("invalidRequest", 2)
    /// The body or the parameters could not be encoded, or the source of a streamed body failed.
    public static let bodyEncoding = Self("bodyEncoding", 3)
    /// A body that can be read once would have to be sent again.
    public static let bodyNotReplayable = Self("bodyNotReplayable", 4)
    /// A file could not be read or written.
    public static let file = Self("file", 5)
    /// The call was cancelled: by its task, its handle, an accessory or its agent.
    public static let cancelled = Self("cancelled", 6)
    /// No bytes arrived or were sent for longer than the request's timeout.
    public static let timedOut = Self("timedOut", 7)
    /// The deadline of the whole call passed.
    public static let deadlineExceeded = Self("deadlineExceeded", 8)
    /// The name of the host could not be resolved. Says nothing of the requests before, see ``cannotConnect``.
    public static let nameLookupFailed = Self("nameLookupFailed", 9)
    /// No connection could be made for the request that the error names; behind a redirect another server got the first.
    public static let cannotConnect = Self("cannotConnect", 10)
    /// The connection failed while in use.
    public static let connectionLost = Self("connectionLost", 11)
    /// The secure connection was refused: an untrusted, expired or wrong certificate, a wrong pin, no common version.
    public static let insecureConnection = Self("insecureConnection", 12)
    /// What came is not HTTP, or contradicts itself.
    public static let invalidResponse = Self("invalidResponse", 13)
    /// The body ended before its announced length.
    public static let truncated = Self("truncated", 14)
    /// The body is longer than its reader takes.
    public static let bodyTooLarge = Self("bodyTooLarge", 15)
    /// A second reader asked for a streamed body.
    public static let bodyAlreadyRead = Self("bodyAlreadyRead", 16)
    /// A redirect that is not followed: too many, no place to go, or from https to http.
    public static let redirect = Self("redirect", 17)
    /// The status is none that the request accepts.
    public static let unacceptableStatus = Self("unacceptableStatus", 18)
    /// The content type is none that the request accepts.
    public static let unacceptableContentType = Self("unacceptableContentType", 19)
    /// A check of a filter's or the request's refused the response.
    public static let checkFailed = Self("checkFailed", 20)
    /// The body is not what `Output` is read from.
    public static let decoding = Self("decoding", 21)
    /// `next` was called after the activity had ended.
    public static let activityEnded = Self("activityEnded", 22)
    /// The transport cannot work here, such as a library that is missing.
    public static let transportUnavailable = Self("transportUnavailable", 23)
    /// The transport failed in a way that has no code of its own.
    public static let transportFailed = Self("transportFailed", 24)
}

extension ErrandError: CustomStringConvertible, CustomDebugStringConvertible {
    /// One line: the code, the request with its query values masked, and the message.
    public var description: String {
        [code.description, request?.description, message].compactMap(\.self).joined(separator: ": ")
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
    /// Whether it is a cancellation, of Swift's or of Errand's.
    public var isCancellation: Bool { self is CancellationError || (self as? ErrandError)?.isCancelled == true }

    /// Whether it says of the one request that a transport failed with it that no server got a byte.
    package var reachedNoServer: Bool {
        guard let error = self as? ErrandError, error.response == nil else { return false }
        return error.code == .cannotConnect || error.code == .nameLookupFailed
    }
}
