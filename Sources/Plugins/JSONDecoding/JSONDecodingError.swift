public import Errand
import ErrandEssentials

/// The reason why a text cannot be decoded: a code, a sentence, and the byte.
///
/// ```swift
/// do { _ = try FastJSONDecoder().decode(User.self, from: data) } catch DecodingError.dataCorrupted(let context) {
///     if let error = context.underlyingError as? JSONDecodingError { print(error.code, error.byte) }
/// }
/// ```
///
/// The description contains nothing of the text, but for one ASCII character where another was expected.
public struct JSONDecodingError: CodedError, Sendable {
    /// The kind of failure; stable, of low cardinality, fit for metrics.
    public typealias Code = FailureCode<JSONDecodingError>

    /// The kind of failure.
    public var code: Code
    /// A sentence with what was expected and what came.
    public var message: String
    /// The place in bytes from the beginning of the text as UTF-8, without a byte order mark.
    public var byte: Int

    init(_ code: Code, _ message: String, byte: Int) {
        (self.code, self.message, self.byte) = (code, message, byte)
    }

    /// The code, the message and the place.
    public var description: String { "\(code): \(message), byte \(byte)" }

    /// The error that `JSONDecoder` throws in this case; it has no coding path.
    var decodingError: DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: [], debugDescription: "The given data was not valid JSON: \(message), byte \(byte)",
                underlyingError: self))
    }
}

extension FailureCode<JSONDecodingError> {
    /// The text is not JSON (RFC 8259).
    public static var malformedJSON: Self { Self("malformedJSON", 1) }
    /// More than 512 arrays and objects are open at once.
    public static var tooDeep: Self { Self("tooDeep", 2) }
    /// The text has more than 1 GiB.
    public static var tooLarge: Self { Self("tooLarge", 3) }
    /// The text is not valid in the encoding that its first bytes show.
    public static var invalidEncoding: Self { Self("invalidEncoding", 4) }
    /// A number is beyond the range of its type, or has a fraction and its type has none.
    public static var numberNotRepresentable: Self { Self("numberNotRepresentable", 5) }
}

extension JSONDecodingError {
    /// The sentence for people.
    public var failureSentence: FailureSentence { .unusableResponse }
}
