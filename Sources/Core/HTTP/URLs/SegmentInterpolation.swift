import ErrandMessageSyntax
import ErrandSupport

extension DefaultStringInterpolation {
    /// Inserts text as one segment of a path, percent-encoded: `"users/\(segment: name)/posts"`.
    ///
    /// Whatever the text is, it stays one segment. Where it makes a segment that is empty, `.` or `..`, or where `.` or
    /// `..` stands in it between slashes or backslashes, percent-encoded or not, the request throws
    /// ``ErrandError/Code/invalidURL`` before anything is sent: servers resolve these in whatever form they come. Dots
    /// that a developer writes into a path are resolved against it (RFC 3986, section 5.2.4).
    public mutating func appendInterpolation(segment: String) {
        appendInterpolation(PathSegment.encode(segment))
    }
}
