/// Parses the `Content-Length` field (RFC 9110, section 8.6).
public enum ContentLength {
    /// Returns the length, or nil unless all values and all their list items are the same number.
    public static func parse(_ values: [String]) -> Int64? {
        if values.count == 1, let length = ASCII.digits(values[0]) { return length }
        var result: Int64?
        for item in values.lazy.flatMap({ FieldList.allItems($0) }) {
            guard let length = ASCII.digits(item), result == nil || result == length else { return nil }
            result = length
        }
        return result
    }
}
