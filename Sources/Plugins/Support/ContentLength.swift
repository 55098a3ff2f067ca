/// The `Content-Length` field (RFC 9110, section 8.6).
package enum ContentLength {
    /// The one number that all values agree on, lists included; nil if there is none.
    package static func parse(_ values: [String]) -> Int64? {
        // What nearly every answer has.
        if values.count == 1, let length = Int64(values[0]), length >= 0, values[0].utf8.first != UInt8(ascii: "+"),
            values[0].utf8.first != UInt8(ascii: "-")
        {
            return length
        }
        let numbers = Set(values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map(number))
        return numbers.count == 1 ? numbers.first.flatMap(\.self) : nil
    }

    private static func number(_ text: Substring) -> Int64? {
        let digits = text.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
        return digits.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } ? Int64(digits) : nil
    }
}
