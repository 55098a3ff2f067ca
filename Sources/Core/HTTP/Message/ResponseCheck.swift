/// A check of the final response, which throws an error if the response is wrong. Cached responses are checked too.
public struct ResponseCheck: Sendable {
    /// The check's name, which appears in errors and in `explain`.
    public let name: String
    package let judge: @Sendable (HTTPResponse) async throws -> Void

    /// Creates a check. The closure receives the response off the caller's actor, and throws an error to reject it.
    public init(_ name: String, judge: @escaping @Sendable (HTTPResponse) async throws -> Void) {
        self.name = name
        self.judge = judge
    }
}
