/// The status codes that a request accepts as success.
///
/// ```swift
/// var acceptableStatuses: StatusCodes { [200, 404] }        // or .successful, .any, StatusCodes(200...399)
/// ```
public struct StatusCodes: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    private var ranges: [ClosedRange<Int>]

    /// Codes in ranges.
    public init(_ ranges: ClosedRange<Int>...) { self.ranges = ranges }
    /// Single codes.
    public init(arrayLiteral elements: Int...) { ranges = elements.map { $0...$0 } }

    /// 200 to 299. The default.
    public static let successful = StatusCodes(200...299)
    /// Every code, so that a response of any status is decoded.
    public static let any = StatusCodes(0...999)
    /// The codes after which the same request may succeed later: 408 (it came too slowly), 425 (too early in the handshake), 429
    /// (too many), 500 (a fault of the server), 502, 503 and 504 (a server behind it, or the server, is not there). Not 501 and
    /// 505, which stay, nor 421, which asks for another connection.
    public static let retryable: StatusCodes = [408, 425, 429, 500, 502, 503, 504]

    /// The codes of both.
    public static func + (a: StatusCodes, b: StatusCodes) -> StatusCodes {
        var both = a
        both.ranges += b.ranges
        return both
    }

    /// Whether it contains a code.
    public func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

    /// The codes and ranges, separated by commas.
    public var description: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }.joined(separator: ", ")
    }
}
