public import Errand
import ErrandEssentials

/// A failure to read the elements of a stream: a code, a sentence, and the position.
///
/// ```swift
/// do {
///     for try await entry in body.jsonLines(of: Entry.self) { print(entry) }
/// } catch let error as StreamingError {
///     print(error.code, error.element, error.byte)
/// }
/// ```
///
/// A failed transfer throws an ``Errand/ErrandError`` instead. The description contains nothing of the stream.
public struct StreamingError: CodedError, Sendable {
    /// The kind of failure; stable, of low cardinality, fit for metrics.
    public typealias Code = FailureCode<StreamingError>

    /// The kind of failure.
    public var code: Code
    /// A sentence with what was expected and what came.
    public var message: String
    /// The position in bytes from the beginning of the body, after content codings; for an element that is too long or
    /// cannot be decoded, that of its beginning.
    public var byte: Int64
    /// The number of the element, from 1; for text and JSON by lines, that of the line.
    public var element: Int
    /// The underlying failure, such as a `DecodingError`.
    public var underlying: (any Error)?

    init(_ code: Code, _ message: String, byte: Int64, element: Int, underlying: (any Error)? = nil) {
        (self.code, self.message, self.byte, self.element) = (code, message, byte, element)
        self.underlying = underlying
    }

    /// The code, the message and the position.
    public var description: String { "\(code): \(message), element \(element), byte \(byte)" }
}

extension FailureCode<StreamingError> {
    /// A line, an event or a value is longer than the limit.
    public static var elementTooLong: Self { Self("elementTooLong", 1) }
    /// The bytes around the elements are not the expected JSON: no array, no comma, no record separator.
    public static var malformedJSON: Self { Self("malformedJSON", 2) }
    /// A complete element cannot be decoded. Reading may continue with the next one.
    public static var decodingFailed: Self { Self("decodingFailed", 3) }
    /// The body ended within an element, or before the end of the array.
    public static var truncated: Self { Self("truncated", 4) }
    /// A second reader began to read a stream.
    public static var bodyAlreadyRead: Self { Self("bodyAlreadyRead", 5) }
    /// The id of the last event cannot be sent in a header, so the stream cannot be resumed from it.
    public static var unusableEventID: Self { Self("unusableEventID", 6) }
}

extension StreamingError {
    /// The sentence for people.
    public var failureSentence: FailureSentence {
        switch code {
        case .elementTooLong, .malformedJSON, .decodingFailed, .unusableEventID: .unusableResponse
        case .truncated: .connectionLost
        default: .failed
        }
    }
}
