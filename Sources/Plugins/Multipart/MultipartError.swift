public import Errand
import ErrandEssentials

/// A failure to send or read a multipart body.
///
/// ```swift
/// do { try await agent.send(UploadPhoto(photo: photo)) } catch let error as ErrandError {
///     if let reason = error.underlying as? MultipartError, reason.code == .fileChanged { print(reason.message) }
/// }
/// ```
///
/// If a request can't be sent, it fails with an ``Errand/ErrandError`` that has this error as its `underlying` error.
/// Its code is ``Errand/ErrandError/Code/fileFailed`` for a file, otherwise ``Errand/ErrandError/Code/invalidRequest``.
/// Reading a body throws this error directly. The description never contains bytes of a body.
public struct MultipartError: CodedError, Sendable {
    /// The type of the error's codes. New codes may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<MultipartError>

    /// The kind of failure, to switch over. Stable, and suitable for metrics.
    public var code: Code
    /// What failed, in one sentence with the expected and the actual value.
    public var message: String
    /// The error that caused this one, such as a file error. `nil` if there is none.
    public var underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        (self.code, self.message, self.underlying) = (code, message, underlying)
    }

    /// The code and the message, without bytes of a body.
    public var description: String { "\(code): \(message)" }

    /// Wraps the failure in a request's error.
    static func sending(
        _ code: ErrandError.Code, _ own: Code, _ message: String, underlying: (any Error)? = nil
    ) -> ErrandError {
        ErrandError(code, message, underlying: MultipartError(own, message, underlying: underlying))
    }
}

extension FailureCode<MultipartError> {
    /// Sending: a file can't be read. It doesn't exist, isn't a regular file, or access isn't permitted.
    public static var fileUnreadable: Self { Self("fileUnreadable", 1) }
    /// Sending: a file was changed, replaced or removed since the request was built.
    public static var fileChanged: Self { Self("fileChanged", 2) }
    /// Sending: a stream's length differs from its announced length.
    public static var partLengthMismatch: Self { Self("partLengthMismatch", 3) }
    /// Sending: a part can't be described, such as a form part without a name or a header with a control character.
    public static var invalidPart: Self { Self("invalidPart", 4) }
    /// Sending: the given boundary is invalid.
    public static var invalidBoundary: Self { Self("invalidBoundary", 5) }
    /// Sending: a part contains the given boundary.
    public static var boundaryInPart: Self { Self("boundaryInPart", 6) }
    /// Reading: the response isn't multipart, or its type lacks a boundary.
    public static var notMultipart: Self { Self("notMultipart", 7) }
    /// Reading: the headers of a part are malformed.
    public static var malformedPart: Self { Self("malformedPart", 8) }
    /// Reading: there are more parts, longer headers or more bytes before the first part than ``MultipartLimits``
    /// allows, or a part has more than 100 headers.
    public static var limitExceeded: Self { Self("limitExceeded", 9) }
    /// Reading: the body ended before its last part.
    public static var truncated: Self { Self("truncated", 10) }
    /// Reading: the part's body was read after the reader moved on, or by two readers at once.
    public static var partPassed: Self { Self("partPassed", 11) }
}

extension MultipartError {
    /// The sentence that users see as `localizedDescription`.
    public var failureSentence: FailureSentence {
        switch code {
        case .fileUnreadable, .fileChanged: .fileFailed
        case .notMultipart, .malformedPart, .limitExceeded: .unusableResponse
        case .truncated: .connectionLost
        default: .failed
        }
    }
}
