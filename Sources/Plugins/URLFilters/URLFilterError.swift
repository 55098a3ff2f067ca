/// Thrown when a URL, header or body filter cannot do its work or did what it may not: which one, and what it was.
///
/// Errors that a filter's own code throws are not wrapped. No description holds a URL, a parameter or a key.
public struct URLFilterError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure; codes may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// Stable, for metrics.
        public let description: String
        init(_ description: String) { self.description = description }

        /// A filter returned a URL without scheme and host.
        public static let relativeURL = Code("relativeURL")
        /// A filter returned a URL that is neither http nor https, or turned https into http.
        public static let schemeChanged = Code("schemeChanged")
        /// A filter returned a URL with a user or a password.
        public static let credentials = Code("credentials")
        /// A filter made a URL that cannot be requested, or was given a path or a base that cannot stand in one.
        public static let invalidURL = Code("invalidURL")
        /// A filter's parameters cannot be encoded.
        public static let parameters = Code("parameters")
        /// The body cannot be read or changed where a filter has to.
        public static let body = Code("body")
        /// An environment, its CDN or its key is missing.
        public static let environment = Code("environment")
    }

    /// The kind of failure.
    public let code: Code
    /// The name of the filter.
    public let filter: String
    /// What is wrong, in a sentence.
    public let message: String

    init(_ code: Code, filter: String, _ message: String) {
        (self.code, self.filter, self.message) = (code, filter, message)
    }

    /// `the filter "token": it returned a relative URL`
    public var description: String { "the filter \"\(filter)\": \(message)" }
}
