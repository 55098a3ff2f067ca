import ErrandSupport

extension AgentSettings {
    /// The only place that turns a request into what goes over the wire.
    func build(_ request: some Request) throws -> HTTPRequest {
        if let complete = try request.httpRequest() {
            var complete = complete
            complete.body = try complete.body.resolved(by: configuration.encoder)
            return complete
        }
        let encoding = request.parameterEncoding
        var (query, body) = (try encoding.encode(request.query), request.body)
        if let parameters = request.parameters {
            switch placement(request) {
            case .form, .automatic: body = .form(parameters, encoding: encoding)
            case .json:
                if !parameters.isEmpty {
                    body = .json(Dictionary(parameters.items.map { ($0.name, $0.value) }) { _, last in last })
                }
            case .query:
                let more = try encoding.encode(parameters)
                query += query.isEmpty || more.isEmpty ? more : "&" + more
            }
            if !request.body.isNone, placement(request) != .query {
                throw ErrandError(.invalidRequest, "a request has a body or parameters placed in the body, not both")
            }
        }
        let url = try ErrandError.naming(.invalidURL) {
            try BaseURL.join({ try self.base(request.base) }, request.path, query: query)
        }
        var http = HTTPRequest(
            request.method, url, headers: configuration.headers, body: try body.resolved(by: configuration.encoder))
        if let authorization = request.authorization ?? configuration.authorization {
            http.headers.set(.authorization, authorization.value, sensitive: true)
        }
        http.headers.merge(request.headers)
        if let type = http.body.contentType, !http.headers.contains(.contentType) {
            http.headers.add(.contentType, type)
        }
        return http
    }

    private func placement(_ request: some Request) -> ParameterPlacement {
        guard request.parameterPlacement == .automatic else { return request.parameterPlacement }
        let asQuery: [HTTPMethod] = [.get, .head, .delete]
        return asQuery.contains(request.method) || !request.body.isNone ? .query : .form
    }

    private func base(_ choice: BaseChoice) throws -> BaseURL {
        switch choice {
        case .standard: return try base.get()
        case .cdn: return try cdn.get()
        case .url(let text): return text == configuration.baseURL ? try base.get() : try BaseURL(text)
        }
    }
}
