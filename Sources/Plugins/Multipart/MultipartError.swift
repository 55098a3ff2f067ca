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
/// A request that can't be sent throws an ``Errand/ErrandError`` whose `underlying` error is a `MultipartError`. Its
/// code is ``Errand/ErrandError/Code/fileFailed`` if a file is the cause, otherwise
/// ``Errand/ErrandError/Code/invalidRequest``. Reading a body throws `MultipartError` directly. The description never
/// contains bytes from a body.
public struct MultipartError: CodedError, Sendable {
    /// The type of the error's codes. Later versions may add codes, so write a `default` in a `switch`.
    public typealias Code = FailureCode<MultipartError>

    /// The kind of failure. Stable, and suitable for metrics.
    public var code: Code
    /// What failed, in one sentence with the expected and the actual value.
    public var message: String
    /// The cause, such as a file error, or `nil`.
    public var underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        (self.code, self.message, self.underlying) = (code, message, underlying)
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }

    static func sending(
        _ code: ErrandError.Code, own: Code, _ message: String, underlying: (any Error)? = nil
    ) -> ErrandError {
        ErrandError(code, message, underlying: MultipartError(own, message, underlying: underlying))
    }
}

extension FailureCode<MultipartError> {
    /// Sending: a file doesn't exist, isn't a regular file, or can't be accessed.
    public static var fileUnreadable: Self { Self("fileUnreadable", 1) }
    /// Sending: a file was changed, replaced or removed after the request was built.
    public static var fileChanged: Self { Self("fileChanged", 2) }
    /// Sending: a stream's length differs from its announced length.
    public static var partLengthMismatch: Self { Self("partLengthMismatch", 3) }
    /// Sending: a part's headers can't be written, for example because a form part lacks a name or a header contains a
    /// control character.
    public static var invalidPart: Self { Self("invalidPart", 4) }
    /// Sending: the given boundary is invalid.
    public static var invalidBoundary: Self { Self("invalidBoundary", 5) }
    /// Sending: a part contains the given boundary.
    public static var boundaryInPart: Self { Self("boundaryInPart", 6) }
    /// Reading: the response isn't multipart, or its type lacks a boundary.
    public static var notMultipart: Self { Self("notMultipart", 7) }
    /// Reading: the headers of a part are malformed.
    public static var malformedPart: Self { Self("malformedPart", 8) }
    /// Reading: the body exceeds the ``MultipartLimits``, or a part has more than 100 headers.
    public static var limitExceeded: Self { Self("limitExceeded", 9) }
    /// Reading: the body ended before its last part.
    public static var truncated: Self { Self("truncated", 10) }
    /// Reading: a part's body was read after the next part was requested, or by two readers at once.
    public static var partPassed: Self { Self("partPassed", 11) }
}

extension MultipartError {
    /// The sentence for users.
    public var failureSentence: FailureSentence {
        switch code {
        case .fileUnreadable, .fileChanged: .fileFailed
        case .notMultipart, .malformedPart, .limitExceeded: .unusableResponse
        case .truncated: .connectionLost
        default: .failed
        }
    }
}
