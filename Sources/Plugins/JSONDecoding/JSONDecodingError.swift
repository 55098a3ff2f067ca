public import Errand
import ErrandEssentials

/// A failure to decode a JSON text, with a code, a message and the position.
///
/// ```swift
/// do { _ = try FastJSONDecoder().decode(User.self, from: data) } catch DecodingError.dataCorrupted(let context) {
///     if let error = context.underlyingError as? JSONDecodingError { print(error.code, error.byte) }
/// }
/// ```
///
/// The description contains at most one character from the text: the visible ASCII character that was found in place of
/// the expected text.
public struct JSONDecodingError: CodedError, Sendable {
    /// The type of the error's codes. Later versions may add codes, so write a `default` in a `switch`.
    public typealias Code = FailureCode<JSONDecodingError>

    /// The kind of failure. Stable, and suitable for metrics.
    public var code: Code
    /// What is wrong, in one sentence with the expected and the actual text.
    public var message: String
    /// The position in bytes from the beginning of the text, as UTF-8 without a byte order mark.
    public var byte: Int

    init(_ code: Code, _ message: String, byte: Int) {
        (self.code, self.message, self.byte) = (code, message, byte)
    }

    /// The code, the message and the position.
    public var description: String { "\(code): \(message), byte \(byte)" }

    /// As `JSONDecoder` throws it, without a coding path.
    var decodingError: DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: [], debugDescription: "The given data was not valid JSON: \(message), byte \(byte)",
                underlyingError: self))
    }
}

extension FailureCode<JSONDecodingError> {
    /// The text isn't JSON (RFC 8259).
    public static var malformedJSON: Self { Self("malformedJSON", 1) }
    /// More than 512 arrays and objects are open at once.
    public static var tooDeep: Self { Self("tooDeep", 2) }
    /// The text is longer than 1 GiB.
    public static var tooLarge: Self { Self("tooLarge", 3) }
    /// The text isn't valid in the encoding that its first bytes indicate.
    public static var invalidEncoding: Self { Self("invalidEncoding", 4) }
    /// A number exceeds the range of its type, or has a fraction that its type can't hold.
    public static var numberNotRepresentable: Self { Self("numberNotRepresentable", 5) }
}

extension JSONDecodingError {
    /// The sentence for users.
    public var failureSentence: FailureSentence { .unusableResponse }
}
