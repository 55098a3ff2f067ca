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
