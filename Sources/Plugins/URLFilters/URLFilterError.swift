public import Errand
import ErrandEssentials

/// Thrown when a URL, header or body filter fails, or returns what it must not return.
///
/// Errors of custom filters and closures are not wrapped. No description contains a URL, a parameter or a key.
public struct URLFilterError: CodedError, Sendable {
    /// A kind of failure; codes may be added.
    public typealias Code = FailureCode<URLFilterError>

    /// The kind of failure.
    public let code: Code
    /// The name of the filter.
    public let filter: String
    /// The reason, in a sentence.
    public let message: String

    init(_ code: Code, filter: String, _ message: String) {
        (self.code, self.filter, self.message) = (code, filter, message)
    }

    /// `relativeURL: the filter "token": it returned a relative URL`
    public var description: String { "\(code): the filter \"\(filter)\": \(message)" }
}

extension FailureCode<URLFilterError> {
    /// A filter returned a URL without scheme and host.
    public static var relativeURL: Self { Self("relativeURL", 1) }
    /// A filter returned a URL that is neither http nor https, or turned https into http.
    public static var schemeChanged: Self { Self("schemeChanged", 2) }
    /// A filter returned a URL with a user or a password.
    public static var credentialsInURL: Self { Self("credentialsInURL", 3) }
    /// A filter made a URL that cannot be requested, or received a path or a base that cannot be part of one.
    public static var invalidURL: Self { Self("invalidURL", 4) }
    /// A filter's parameters cannot be encoded.
    public static var invalidParameters: Self { Self("invalidParameters", 5) }
    /// A filter cannot read or change the body.
    public static var invalidBody: Self { Self("invalidBody", 6) }
    /// An environment, its CDN or its key is missing.
    public static var missingEnvironment: Self { Self("missingEnvironment", 7) }
}
