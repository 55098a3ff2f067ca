public import Errand
import ErrandEssentials

/// Why a value can't be converted between Errand and swift-http-types.
public struct HTTPTypesError: CodedError, Sendable {
    /// The kind of failure. Future versions may add codes.
    public typealias Code = FailureCode<HTTPTypesError>

    /// The kind of failure.
    public let code: Code
    private let message: String

    init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// Code and reason, on one line. Never contains a field's value.
    public var description: String { "\(code): \(message)" }
}

extension FailureCode<HTTPTypesError> {
    /// A field's name isn't a token.
    public static var invalidName: Self { Self("invalidName", 1) }
    /// A field's value has a character that no field may contain, or that doesn't exist in Latin-1 although the value
    /// is marked as Latin-1.
    public static var invalidValue: Self { Self("invalidValue", 2) }
    /// The method isn't a token.
    public static var invalidMethod: Self { Self("invalidMethod", 3) }
    /// HTTP can't request the URL, or the request's target isn't a URL.
    public static var invalidURL: Self { Self("invalidURL", 4) }
    /// The status isn't a three-digit number.
    public static var invalidStatus: Self { Self("invalidStatus", 5) }
    /// There are more fields than swift-http-types holds.
    public static var tooManyFields: Self { Self("tooManyFields", 6) }
}
