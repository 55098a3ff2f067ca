/// A decoded value with the response it was read from.
public struct Response<Output: Sendable>: Sendable {
    /// The decoded value.
    public var value: Output
    /// The response that it was decoded from.
    public var http: HTTPResponse

    /// Makes a response, for a fake agent or a test.
    @inlinable public init(value: Output, http: HTTPResponse) {
        self.value = value
        self.http = http
    }
}

/// A check of the final response, also of one from a cache; it throws an error for a response that is wrong.
///
/// ```swift
/// exchange.checks.add(ResponseCheck("business code") { response in
///     let envelope = try response.json(Envelope.self)
///     guard envelope.code == 0 else { throw BusinessError(envelope.code) }
/// })
/// ```
///
/// Core runs each check once, after the status and the content type, before decoding; staged work is committed only if
/// all pass. A check replaces an earlier one of the same name, so a filter that runs again adds nothing twice.
public struct ResponseCheck: Sendable {
    /// The name of the check in errors and in `explain`.
    public let name: String
    /// Throws if the response is wrong.
    package let judge: @Sendable (HTTPResponse) async throws -> Void

    /// Makes a check; the closure runs off the caller's actor and throws if the response is wrong.
    public init(_ name: String, judge: @escaping @Sendable (HTTPResponse) async throws -> Void) {
        self.name = name
        self.judge = judge
    }
}
