public import Errand
import ErrandEssentials

/// A failure of a URL, header or body filter, for example because a closure returned an invalid URL.
///
/// Errors that custom filters and closures throw aren't wrapped. Descriptions never contain a URL, a parameter or a
/// key.
public struct URLFilterError: CodedError, Sendable {
    /// The type of the error's codes. Later versions may add codes, so write a `default` in a `switch`.
    public typealias Code = FailureCode<URLFilterError>

    /// The kind of failure. Stable, and suitable for metrics.
    public let code: Code
    /// The failed filter's name.
    public let filter: String
    /// Why the filter failed, in one sentence without secrets.
    public let message: String

    init(_ code: Code, filter: String, _ message: String) {
        (self.code, self.filter, self.message) = (code, filter, message)
    }

    /// The code, the filter and the reason, such as `relativeURL: the filter "token": it returned a relative URL`.
    public var description: String { "\(code): the filter \"\(filter)\": \(message)" }
}

extension FailureCode<URLFilterError> {
    /// A filter returned a URL without scheme and host.
    public static var relativeURL: Self { Self("relativeURL", 1) }
    /// A filter returned a URL that is neither http nor https, or turned https into http.
    public static var schemeChanged: Self { Self("schemeChanged", 2) }
    /// A filter returned a URL with a user or a password.
    public static var credentialsInURL: Self { Self("credentialsInURL", 3) }
    /// A filter created a URL that can't be requested, or received a path or base that can't be part of a URL.
    public static var invalidURL: Self { Self("invalidURL", 4) }
    /// A filter's parameters can't be encoded.
    public static var invalidParameters: Self { Self("invalidParameters", 5) }
    /// A filter can't read or change the body.
    public static var invalidBody: Self { Self("invalidBody", 6) }
    /// The environment, its CDN URL or its key is missing.
    public static var missingEnvironment: Self { Self("missingEnvironment", 7) }
}
