public import Errand
import ErrandEssentials

/// A failure to send or to read a multipart body.
///
/// ```swift
/// do { try await agent.send(UploadPhoto(photo: photo)) } catch let error as ErrandError {
///     if let reason = error.underlying as? MultipartError, reason.code == .fileChanged { print(reason.message) }
/// }
/// ```
///
/// A request that cannot be sent fails with an ``Errand/ErrandError`` whose `underlying` error is this one: with the
/// code ``Errand/ErrandError/Code/fileFailed`` for a file, ``Errand/ErrandError/Code/invalidRequest`` for the rest. Reading a
/// body throws this error itself. The description contains no bytes of a body.
public struct MultipartError: CodedError, Sendable {
    /// The kind of failure; stable, of low cardinality, fit for metrics.
    public typealias Code = FailureCode<MultipartError>

    /// The kind of failure.
    public var code: Code
    /// A sentence with what was expected and what came.
    public var message: String
    /// The underlying failure.
    public var underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        (self.code, self.message, self.underlying) = (code, message, underlying)
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }

    /// The failure as the error of a request.
    static func sending(
        _ code: ErrandError.Code, _ own: Code, _ message: String, underlying: (any Error)? = nil
    ) -> ErrandError {
        ErrandError(code, message, underlying: MultipartError(own, message, underlying: underlying))
    }
}

extension FailureCode<MultipartError> {
    /// A file cannot be read: it is not there, no regular file, or not permitted. Sending.
    public static var fileUnreadable: Self { Self("fileUnreadable", 1) }
    /// A file is not what it was when the request was built: it changed, shrank, grew, was replaced or removed. Sending.
    public static var fileChanged: Self { Self("fileChanged", 2) }
    /// A stream has other bytes than it announced. Sending.
    public static var partLengthMismatch: Self { Self("partLengthMismatch", 3) }
    /// A part cannot be described: a form's part without a name, a header with a control character. Sending.
    public static var invalidPart: Self { Self("invalidPart", 4) }
    /// The given boundary is invalid. Sending.
    public static var invalidBoundary: Self { Self("invalidBoundary", 5) }
    /// A part contains the given boundary. Sending.
    public static var boundaryInPart: Self { Self("boundaryInPart", 6) }
    /// The response has no multipart type, or its type has no boundary. Reading.
    public static var notMultipart: Self { Self("notMultipart", 7) }
    /// The headers of a part are malformed. Reading.
    public static var malformedPart: Self { Self("malformedPart", 8) }
    /// More parts, longer headers or more bytes before the first part than ``MultipartLimits`` allows. Reading.
    public static var limitExceeded: Self { Self("limitExceeded", 9) }
    /// The body ended before its last part did. Reading.
    public static var truncated: Self { Self("truncated", 10) }
    /// The body of a part is read that the reader has passed, or by two readers at once. Reading.
    public static var partPassed: Self { Self("partPassed", 11) }
}

extension MultipartError {
    /// The sentence for people.
    public var failureSentence: FailureSentence {
        switch code {
        case .fileUnreadable, .fileChanged: .fileFailed
        case .notMultipart, .malformedPart, .limitExceeded: .unusableResponse
        case .truncated: .connectionLost
        default: .failed
        }
    }
}
