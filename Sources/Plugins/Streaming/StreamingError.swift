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
/// If the transfer fails, an ``Errand/ErrandError`` is thrown instead. The description doesn't contain any of the
/// stream's content.
public struct StreamingError: CodedError, Sendable {
    /// The type of the error's codes. New codes may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<StreamingError>

    /// The kind of failure, to switch over. Stable, and suitable for metrics.
    public var code: Code
    /// What failed, in one sentence with the expected and the actual result.
    public var message: String
    /// The position in the decoded body, in bytes. For an element that is too long or can't be decoded, the position of
    /// its beginning.
    public var byte: Int64
    /// The number of the element, from 1. For lines and JSON lines, the line number.
    public var element: Int
    /// The error that caused this one, such as a `DecodingError`. `nil` if there is none.
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
    /// The bytes around the elements aren't valid: an array, a comma, or a record separator is missing.
    public static var malformedJSON: Self { Self("malformedJSON", 2) }
    /// A complete element couldn't be decoded. You can read the next one.
    public static var decodingFailed: Self { Self("decodingFailed", 3) }
    /// The body ended within an element, or before the end of the array, or an event stream ended before its end mark.
    public static var truncated: Self { Self("truncated", 4) }
    /// A second reader tried to read the stream.
    public static var bodyAlreadyRead: Self { Self("bodyAlreadyRead", 5) }
    /// The stream can't be resumed, because the last event's ID can't be sent in a header field.
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
