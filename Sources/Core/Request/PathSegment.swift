import ErrandSupport

extension DefaultStringInterpolation {
    /// Inserts text as one segment of a path, percent-encoded: `"users/\(segment: name)/posts"`.
    public mutating func appendInterpolation(segment: String) {
        var text = ""
        ASCII.percentEncode(segment, into: &text, allowed: ASCII.isUnreserved)
        appendInterpolation(text)
    }
}
