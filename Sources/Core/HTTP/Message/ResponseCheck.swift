/// A check that a call's final response must pass. The response can also come from a cache.
public struct ResponseCheck: Sendable {
    /// The check's name in errors and in `explain`.
    public let name: String
    package let judge: @Sendable (HTTPResponse) async throws -> Void

    /// Creates a check. The closure runs off the caller's actor, and throws an error to reject the response.
    public init(_ name: String, judge: @escaping @Sendable (HTTPResponse) async throws -> Void) {
        self.name = name
        self.judge = judge
    }
}
