public import Errand
import ErrandEssentials

/// Why the elements of a stream cannot be read on: a code, a sentence, and the place.
///
/// ```swift
/// do {
///     for try await entry in body.jsonLines(of: Entry.self) { print(entry) }
/// } catch let error as StreamingError {
///     print(error.code, error.element, error.byte)
/// }
/// ```
///
/// What fails on the wire is an ``Errand/ErrandError`` instead. The description holds nothing of the stream.
public struct StreamingError: CodedError, Sendable {
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
    /// Where it is, in bytes from the beginning of the body, after content codings; of an element that is too long or
    /// cannot be decoded, where it begins.
    public var byte: Int64
    /// Which element it is, from 1: of text and JSON by lines the number of the line.
    public var element: Int
    /// The failure below this one, such as a `DecodingError`.
    public var underlying: (any Error)?

    init(_ code: Code, _ message: String, byte: Int64, element: Int, underlying: (any Error)? = nil) {
        (self.code, self.message, self.byte, self.element) = (code, message, byte, element)
        self.underlying = underlying
    }

    /// The code, the message and the place.
    public var description: String { "\(code): \(message), element \(element), byte \(byte)" }
}

extension StreamingError.Code {
    /// A line, an event or a value is longer than the limit.
    public static let elementTooLong = Self("elementTooLong", 1)
    /// The bytes are not the JSON that was expected around the elements: no array, no comma, no record separator.
    public static let invalidJSON = Self("invalidJSON", 2)
    /// An element is complete and cannot be decoded. Reading may go on with the next one.
    public static let decoding = Self("decoding", 3)
    /// The body ended within an element, or before the end of the array.
    public static let truncated = Self("truncated", 4)
    /// A second reader began to read a stream.
    public static let alreadyRead = Self("alreadyRead", 5)
    /// The id of the last event cannot be sent in a header, so that the stream cannot be resumed behind it.
    public static let unusableEventID = Self("unusableEventID", 6)
}
