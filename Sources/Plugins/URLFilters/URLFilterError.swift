public import Errand
import ErrandEssentials

/// Thrown when a URL, header or body filter fails, or returns what it must not return.
///
/// Errors of custom filters and closures are not wrapped. No description contains a URL, a parameter or a key.
public struct URLFilterError: CodedError, Sendable {
    /// A kind of failure; codes may be added.
    public struct Code: ErrorCode {
        /// A stable name, for metrics.
        public let description: String
        /// A number that never changes, from 1; the `code` of an `NSError`.
        public let number: Int

        init(_ description: String, _ number: Int) { (self.description, self.number) = (description, number) }

        /// A filter returned a URL without scheme and host.
        public static let relativeURL = Code("relativeURL", 1)
        /// A filter returned a URL that is neither http nor https, or turned https into http.
        public static let schemeChanged = Code("schemeChanged", 2)
        /// A filter returned a URL with a user or a password.
        public static let credentials = Code("credentials", 3)
        /// A filter made a URL that cannot be requested, or received a path or a base that cannot be part of one.
        public static let invalidURL = Code("invalidURL", 4)
        /// A filter's parameters cannot be encoded.
        public static let parameters = Code("parameters", 5)
        /// A filter cannot read or change the body.
        public static let body = Code("body", 6)
        /// An environment, its CDN or its key is missing.
        public static let environment = Code("environment", 7)
    }

    /// The kind of failure.
    public let code: Code
    /// The name of the filter.
    public let filter: String
    /// The reason, in a sentence.
    public let message: String

    init(_ code: Code, filter: String, _ message: String) {
        (self.code, self.filter, self.message) = (code, filter, message)
    }

    /// `the filter "token": it returned a relative URL`
    public var description: String { "the filter \"\(filter)\": \(message)" }
}
