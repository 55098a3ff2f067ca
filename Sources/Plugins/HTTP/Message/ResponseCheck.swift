/// A check of the final response, also of one from a cache: it throws what is wrong.
///
/// ```swift
/// exchange.checks.add(ResponseCheck("business code") { response in
///     let envelope = try response.json(Envelope.self)
///     guard envelope.code == 0 else { throw BusinessError(envelope.code) }
/// })
/// ```
///
/// Core runs each once, after the status and the content type, before decoding; what was staged is stored only if all
/// pass. A check of a name that is there already replaces it, so a filter that runs again adds nothing twice.
public struct ResponseCheck: Sendable {
    /// Names it in errors and in `explain`.
    public let name: String
    /// Throws what is wrong.
    package let judge: @Sendable (HTTPResponse) async throws -> Void

    /// Makes a check; the closure throws what is wrong, off the caller's actor.
    public init(_ name: String, judge: @escaping @Sendable (HTTPResponse) async throws -> Void) {
        self.name = name
        self.judge = judge
    }
}
