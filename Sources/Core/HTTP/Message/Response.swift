/// A decoded value along with the response it was read from.
public struct Response<Output: Sendable>: Sendable {
    /// The decoded value.
    public var value: Output
    /// The response that the value was decoded from.
    public var http: HTTPResponse

    /// Creates a response, for a fake agent or a test.
    @inlinable public init(value: Output, http: HTTPResponse) {
        self.value = value
        self.http = http
    }
}

/// A check that throws an error if the final response is wrong, including a cached response.
///
/// ```swift
/// exchange.checks.add(ResponseCheck("business code") { response in
///     let envelope = try response.json(Envelope.self)
///     guard envelope.code == 0 else { throw BusinessError(envelope.code) }
/// })
/// ```
///
/// Core runs each check once, between checking the status and content type and decoding. Staged work is committed only
/// if all checks pass. A check replaces an earlier check of the same name, so a filter that runs again doesn't add
/// duplicates.
public struct ResponseCheck: Sendable {
    /// The check's name in errors and in `explain`.
    public let name: String
    package let judge: @Sendable (HTTPResponse) async throws -> Void

    /// Creates a check. The closure runs off the caller's actor.
    public init(_ name: String, judge: @escaping @Sendable (HTTPResponse) async throws -> Void) {
        self.name = name
        self.judge = judge
    }
}

/// The status codes that a request accepts as success.
///
/// ```swift
/// var acceptableStatuses: StatusCodes { [200, 404] }        // or .successful, .any, StatusCodes(200...399)
/// ```
public struct StatusCodes: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    private var ranges: [ClosedRange<Int>]

    /// Accepts ranges of codes.
    public init(_ ranges: ClosedRange<Int>...) { self.ranges = ranges }
    /// Accepts single codes.
    public init(arrayLiteral elements: Int...) { ranges = elements.map { $0...$0 } }

    /// 200 to 299. The default.
    public static let successful = StatusCodes(200...299)
    /// Every code, so responses of any status are decoded.
    public static let any = StatusCodes(0...999)
    /// The codes after which the same request may succeed later: 408 (request timeout), 425 (too early in the
    /// handshake), 429 (too many requests), 500 (server error), and 502, 503 and 504 (server or upstream unavailable).
    /// Excludes 501 and 505, which are permanent, and 421, which asks for another connection.
    public static let retryable: StatusCodes = [408, 425, 429, 500, 502, 503, 504]

    /// Returns the codes of both operands.
    public static func + (a: StatusCodes, b: StatusCodes) -> StatusCodes {
        var both = a
        both.ranges += b.ranges
        return both
    }

    /// Returns whether a code is accepted.
    public func contains(_ status: Int) -> Bool { ranges.contains { $0.contains(status) } }

    /// The codes and ranges, separated by commas.
    public var description: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)–\($0.upperBound)" }.joined(separator: ", ")
    }
}
