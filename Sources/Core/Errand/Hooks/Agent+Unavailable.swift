extension Agent {
    /// Names what is missing where a response is taken for its output.
    @available(
        *, unavailable,
        message: "'send' returns a Response, whose 'value' is the output: try await agent.send(request).value"
    )
    public func send<R: Request>(_ request: R, options: CallOptions = CallOptions()) async throws -> R.Output {
        try await send(request, options: options).value
    }
}
