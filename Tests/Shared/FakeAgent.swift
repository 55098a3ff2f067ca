package import Errand
import ErrandEssentials

/// A user-defined agent that implements only `send`.
package struct FakeAgent: Agent {
    private let respond: @Sendable (any Request, CallOptions) async throws -> any Sendable

    package init(respond: @escaping @Sendable (any Request, CallOptions) async throws -> any Sendable) {
        self.respond = respond
    }

    package func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        guard let value = try await respond(request, options) as? R.Output,
            let url = URL(string: "https://fake.example")
        else { throw ErrandError(.decodingFailed, "the fake has no \(R.Output.self)") }
        return Response(value: value, http: HTTPResponse(url: url, status: 200))
    }
}

/// A user-defined error with a secret that must not appear in logs.
package struct Refused: Error {
    package var secret = "hunter2"
    package init() {}
}
