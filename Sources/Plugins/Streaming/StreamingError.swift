public import Errand
import ErrandEssentials

/// A failure to read a stream's elements, with its position.
///
/// ```swift
/// do {
///     for try await entry in body.jsonLines(of: Entry.self) { print(entry) }
/// } catch let error as StreamingError {
///     print(error.code, error.element, error.byte)
/// }
/// ```
///
/// If the transfer fails, the stream throws an ``Errand/ErrandError`` instead. Descriptions don't contain the stream's
/// content.
public struct StreamingError: CodedError, Sendable {
    /// The error codes. More may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<StreamingError>

    /// The kind of failure. Stable, so you can use it in metrics.
    public var code: Code
    /// Describes the failure, with the expected and the actual result.
    public var message: String
    /// The position of the failure in the decoded body, in bytes. If an element is too long or can't be decoded, this
    /// is the position where the element begins.
    public var byte: Int64
    /// The element's number, from 1. For lines and JSON lines, this is the line number.
    public var element: Int
    /// The error that caused this failure, such as a `DecodingError`. It's nil if another error didn't cause it.
    public var underlying: (any Error)?

    init(_ code: Code, _ message: String, byte: Int64, element: Int, underlying: (any Error)? = nil) {
        (self.code, self.message, self.byte, self.element) = (code, message, byte, element)
        self.underlying = underlying
    }

    /// The code, the message, and the position in the body.
    public var description: String { "\(code): \(message), element \(element), byte \(byte)" }
}

extension FailureCode<StreamingError> {
    /// A line, an event, or a value exceeds the maximum size.
    public static var elementTooLong: Self { Self("elementTooLong", 1) }
    /// The body's JSON is malformed, for example because the array, a comma, or a record separator is missing.
    public static var malformedJSON: Self { Self("malformedJSON", 2) }
    /// A complete element couldn't be decoded. You can read the next one.
    public static var decodingFailed: Self { Self("decodingFailed", 3) }
    /// The body ended too early: within an element, before the end of the array, or before the event that ends the
    /// stream.
    public static var truncated: Self { Self("truncated", 4) }
    /// A second reader tried to read the stream.
    public static var bodyAlreadyRead: Self { Self("bodyAlreadyRead", 5) }
    /// The stream can't reconnect, because the last event's ID contains characters that a header field can't contain.
    public static var unusableEventID: Self { Self("unusableEventID", 6) }
}

extension StreamingError {
    /// The sentence that users see as `localizedDescription`.
    public var failureSentence: FailureSentence {
        switch code {
        case .elementTooLong, .malformedJSON, .decodingFailed, .unusableEventID: .unusableResponse
        case .truncated: .connectionLost
        default: .failed
        }
    }
}
