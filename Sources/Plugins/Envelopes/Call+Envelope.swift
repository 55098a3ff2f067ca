public import Errand

extension Call where Output: Decodable {
    /// A call for the model in an envelope.
    ///
    /// ```swift
    /// let user = try await agent.send(Call<User>(.get, "users/7", in: Reply.self)).value
    /// ```
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        in envelope: (some ResponseEnvelope).Type, configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, decode: { try $0.content(of: envelope) }) { call in
            (call.outcomeCheck, call.acceptableContentTypes) = (.envelope(envelope, method: method), .json)
            configure(&call)
        }
    }
}

extension Call where Output == Void {
    /// A call whose response says all by its envelope.
    ///
    /// ```swift
    /// try await agent.send(Call<Void>(.delete, "users/7", in: Reply.self))
    /// ```
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        in envelope: (some ResponseEnvelope).Type, configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, decode: { _ in }) { call in
            call.outcomeCheck = .envelope(envelope, method: method)
            configure(&call)
        }
    }
}
