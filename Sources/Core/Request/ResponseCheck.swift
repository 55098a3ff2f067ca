/// A judgement on the final answer, also on one from a cache: it throws what is wrong.
///
/// ```swift
/// exchange.checks.add(ResponseCheck("business code") { response in
///     let answer = try response.json(Envelope.self)
///     guard answer.code == 0 else { throw BusinessError(answer.code) }
/// })
/// ```
///
/// Core runs each once, after the status and the content type, before decoding; what was staged is stored only if all
/// pass. A check of a name that is there already replaces it, so a filter that runs again adds nothing twice.
public struct ResponseCheck: Sendable {
    public let name: String
    let judge: @Sendable (HTTPResponse) async throws -> Void

    public init(_ name: String, judge: @escaping @Sendable (HTTPResponse) async throws -> Void) {
        self.name = name
        self.judge = judge
    }
}
