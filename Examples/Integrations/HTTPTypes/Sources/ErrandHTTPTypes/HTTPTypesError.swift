public import Errand
import ErrandEssentials

/// The reason why a value of Errand has no counterpart in swift-http-types, or the other way round.
public struct HTTPTypesError: CodedError, Sendable {
    /// The kind of failure; codes may be added.
    public typealias Code = FailureCode<HTTPTypesError>

    /// The kind of failure.
    public let code: Code
    private let message: String

    init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// Code and reason, in one line; never the value of a field.
    public var description: String { "\(code): \(message)" }
}

extension FailureCode<HTTPTypesError> {
    /// The name of a field is not a token.
    public static var invalidName: Self { Self("invalidName", 1) }
    /// The value of a field has a character that no field may contain, or one that Latin-1 lacks in a field marked so.
    public static var invalidValue: Self { Self("invalidValue", 2) }
    /// The method is not a token.
    public static var invalidMethod: Self { Self("invalidMethod", 3) }
    /// The URL, or the target of the request, is none that HTTP can request by a URL.
    public static var invalidURL: Self { Self("invalidURL", 4) }
    /// The status is no number of three digits.
    public static var invalidStatus: Self { Self("invalidStatus", 5) }
    /// There are more fields than swift-http-types holds.
    public static var tooManyFields: Self { Self("tooManyFields", 6) }
}
