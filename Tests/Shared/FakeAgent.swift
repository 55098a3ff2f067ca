package import Errand
import ErrandEssentials

/// An agent of a user's own: it has `send` and nothing else.
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

/// An error of a user's own, with a secret that no log may show.
package struct Refused: Error {
    package var secret = "hunter2"
    package init() {}
}
