/// The status codes that a request accepts as success.
///
/// ```swift
/// var acceptableStatuses: StatusCodes { [200, 404] }        // or .successful, .any, StatusCodes(200...399)
/// ```
public struct StatusCodes: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    private var ranges: [ClosedRange<Int>]

    /// Creates a set of ranges, such as `StatusCodes(200...299, 404...404)`.
    public init(_ ranges: ClosedRange<Int>...) { self.ranges = ranges }
    /// Creates a set of single codes, such as `[200, 404]`.
    public init(arrayLiteral elements: Int...) { ranges = elements.map { $0...$0 } }

    /// The codes from 200 to 299. Requests accept them by default.
    public static let successful = StatusCodes(200...299)
    /// Every code, so responses of any status are decoded.
    public static let any = StatusCodes(0...999)
    /// The codes after which the same request may succeed later: 408 (request timeout), 425 (too early in the
    /// handshake), 429 (too many requests), 500 (server error), and 502, 503 and 504 (server or upstream unavailable).
    /// Excludes 501 and 505, which are permanent, and 421, which asks for another connection.
    public static let retryable: StatusCodes = [408, 425, 429, 500, 502, 503, 504]

    /// Returns the codes that either operand contains.
    public static func + (a: StatusCodes, b: StatusCodes) -> StatusCodes {
        var both = a
        both.ranges += b.ranges
        return both
    }

    /// Returns whether the set contains a code.
    public func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

    /// The codes and ranges, separated by commas.
    public var description: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }.joined(separator: ", ")
    }
}
