public import Errand
import ErrandEssentials

/// Why a multipart body cannot be sent or read.
///
/// ```swift
/// do { try await agent.send(UploadPhoto(photo: photo)) } catch let error as ErrandError {
///     if let reason = error.underlying as? MultipartError, reason.code == .fileChanged { print(reason.message) }
/// }
/// ```
///
/// What a request cannot send fails it with an ``Errand/ErrandError`` that has this one as its `underlying`: of the code
/// ``Errand/ErrandError/Code/file`` for a file, ``Errand/ErrandError/Code/invalidRequest`` for the rest. A body that is read
/// throws this error itself. The description holds no bytes of a body.
public struct MultipartError: CodedError, Sendable {
    /// The kind of failure; stable, of low cardinality, fit for metrics.
    public struct Code: ErrorCode {
        /// The name of the code.
        public let description: String
        /// A number that never changes, from 1; the `code` of an `NSError`.
        public let number: Int

        init(_ description: String, _ number: Int) { (self.description, self.number) = (description, number) }
    }

    /// The kind of failure.
    public var code: Code
    /// What was expected and what came.
    public var message: String
    /// The failure below this one.
    public var underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        (self.code, self.message, self.underlying) = (code, message, underlying)
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }

    /// As the error of a request.
    static func sending(
        _ code: ErrandError.Code, _ own: Code, _ message: String, underlying: (any Error)? = nil
    ) -> ErrandError {
        ErrandError(code, message, underlying: MultipartError(own, message, underlying: underlying))
    }
}

extension MultipartError.Code {
    /// A file cannot be read: it is not there, no regular file, or not permitted. Sending.
    public static let fileUnreadable = Self("fileUnreadable", 1)
    /// A file is not what it was when the request was built: it changed, shrank, grew, was replaced or removed. Sending.
    public static let fileChanged = Self("fileChanged", 2)
    /// A stream has other bytes than it announced. Sending.
    public static let partLength = Self("partLength", 3)
    /// A part cannot be described: a form's part without a name, a header with a control character. Sending.
    public static let invalidPart = Self("invalidPart", 4)
    /// The boundary that was given is none. Sending.
    public static let invalidBoundary = Self("invalidBoundary", 5)
    /// A part contains the boundary that was given. Sending.
    public static let boundaryInPart = Self("boundaryInPart", 6)
    /// The response is of no multipart type, or its type has no boundary. Reading.
    public static let notMultipart = Self("notMultipart", 7)
    /// The headers of a part are none. Reading.
    public static let malformedPart = Self("malformedPart", 8)
    /// More parts, longer headers or more bytes before the first part than ``MultipartLimits`` allows. Reading.
    public static let limitExceeded = Self("limitExceeded", 9)
    /// The body ended before its last part did. Reading.
    public static let truncated = Self("truncated", 10)
    /// The body of a part is read that lies behind its reader, or by two readers at once. Reading.
    public static let partPassed = Self("partPassed", 11)
}
