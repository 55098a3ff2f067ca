import ErrandMessageSyntax
import ErrandSupport

extension DefaultStringInterpolation {
    /// Inserts text as one percent-encoded path segment: `"users/\(segment: name)/posts"`.
    ///
    /// The request throws ``ErrandError/Code/invalidURL`` without being sent if the segment is empty, `.` or `..`, or
    /// if the text contains `.` or `..` between slashes or backslashes, percent-encoded or not, because servers resolve
    /// these in any form. Dots that you write into the path itself are resolved (RFC 3986, section 5.2.4).
    public mutating func appendInterpolation(segment: String) {
        appendInterpolation(PathSegment.encode(segment))
    }
}
