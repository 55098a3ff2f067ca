package import Errand

package struct ForwardingAgent: Agent {
    private let base: any Agent

    package init(base: any Agent) { self.base = base }

    package func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
        try await base.send(request, options: options)
    }
}
