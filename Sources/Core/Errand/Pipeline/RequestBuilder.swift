import ErrandEssentials
import ErrandHTTP
import ErrandMessageSyntax
import ErrandSupport

/// The only code that builds an HTTP request from a ``Request``.
struct RequestBuilder {
    typealias Built = (http: HTTPRequest, trust: OriginTrust)

    private let settings: PipelineSettings

    init(_ settings: PipelineSettings) { self.settings = settings }

    /// Builds the HTTP request, and decides whether its origin may receive the agent's secrets. Throws `invalidURL`,
    /// `invalidRequest` and `encodingFailed`.
    func build(_ request: some Request, _ tags: Tags) throws -> Built {
        let built = try make(request, tags)
        if !built.trust.isTrusted { try checkLink(to: built.http.url, of: request, tags) }
        return built
    }

    private func make(_ request: some Request, _ tags: Tags) throws -> Built {
        if let complete = try request.httpRequest() {
            var complete = complete
            complete.body = try complete.body.resolved(by: settings.encoder)
            var trust = OriginTrust(isTrusted: settings.trusts(complete.url))
            if !trust.isTrusted, tags.leadAway(to: complete.url) { trust.withhold(from: &complete.headers) }
            return (complete, trust)
        }
        let (query, content) = try content(of: request)
        let url = try ErrandError.naming(.invalidURL) {
            try BaseURL.join({ try settings.base(request.base) }, request.path, query: query)
        }
        let body = try content.resolved(by: settings.encoder)
        var headers = settings.headers
        let own = request.headers
        let trust = addCredentials(of: request, own, tags, for: url, to: &headers)
        if let type = contentType(of: body, own, headers) {
            headers.set(.contentType, type)
        }
        return (HTTPRequest(request.method, to: url, headers: headers, body: body), trust)
    }

    /// Returns the query and the body, one of which contains the request's parameters.
    private func content(of request: some Request) throws -> (query: String, body: RequestBody) {
        // The body is read once, because a request can compute it.
        let (encoding, body) = (request.parameterEncoding, request.body)
        let query = try encoding.encode(request.query)
        guard let parameters = request.parameters else { return (query, body) }
        let placement = placement(request, hasBody: !body.isNone)
        if placement == .query {
            let more = try encoding.encode(parameters)
            return (query.isEmpty || more.isEmpty ? query + more : query + "&" + more, body)
        }
        if !body.isNone {
            throw ErrandError(
                .invalidRequest, "the request has a body and also puts its parameters in the body; use only one")
        }
        if placement == .form { return (query, .form(parameters, encoding: encoding)) }
        if parameters.isEmpty { return (query, body) }
        return (query, .json(Dictionary(parameters.items.map { ($0.name, $0.value) }) { _, last in last }))
    }

    func validRequest(_ request: some Request, _ tags: Tags) throws -> HTTPRequest {
        let http = try build(request, tags).http
        try http.validate()
        return http
    }

    /// Throws if a server's link leads from https to http, unless the redirect policy allows that.
    private func checkLink(to url: URL, of request: some Request, _ tags: Tags) throws {
        guard let source = tags[LinkSource.self], !settings.redirects(of: request).allowsMove(from: source, to: url)
        else { return }
        throw ErrandError(
            .redirectFailed,
            "the redirect policy doesn't allow a link from https to \(URLSyntax.quoted(url.absoluteString))")
    }

    /// An untrusted origin doesn't receive the agent's authorization, sensitive headers and `Host`. It receives the
    /// request's own fields and credentials, unless a server chose the origin.
    private func addCredentials(
        of request: some Request, _ ownHeaders: HTTPHeaders, _ tags: Tags, for url: CheckedURL,
        to headers: inout HTTPHeaders
    ) -> OriginTrust {
        switch request.authorization {
        case nil:
            if let value = settings.authorization?.value {
                headers.set(.authorization, value, sensitive: true)
            }
        case .some(let own): if own == .omitted { headers.remove(.authorization) }
        }
        var (trust, own) = (OriginTrust(), ownHeaders)
        let isOnBase = !request.base.isURL
        if !isOnBase || !url.isOfBase && URLSyntax.isAbsolute(request.path), !settings.trusts(url.url) {
            trust.isTrusted = false
            trust.withhold(from: &headers)
            own = own.marked(as: trust.withheld)
        }
        if let value = request.authorization?.value { headers.set(.authorization, value, sensitive: true) }
        headers.merge(own)
        if !trust.isTrusted, tags.leadAway(to: url.url) { trust.withhold(from: &headers) }
        return trust
    }

    /// Returns the `Content-Type` to set, or nil to keep `headers`, which include the request's own fields. The
    /// request's field takes precedence over the body's type. The body's type takes precedence over the agent's field,
    /// unless it's `application/octet-stream`.
    ///
    /// A multipart type without a boundary gets the body's boundary, because a server couldn't read the body otherwise.
    private func contentType(of body: RequestBody, _ own: HTTPHeaders, _ headers: HTTPHeaders) -> String? {
        guard let type = body.contentType,
            type != "application/octet-stream" || !headers.contains(.contentType)
        else { return nil }
        guard let own = own[.contentType] else { return type }
        guard var ownType = MediaType(parsing: own), ownType.type == "multipart", ownType.parameters["boundary"] == nil,
            let boundary = MediaType(parsing: type)?.parameters.all.first(where: { $0.name == "boundary" })
        else { return nil }
        ownType.parameters.all.append(boundary)
        return ownType.description
    }

    private func placement(_ request: some Request, hasBody: Bool) -> ParameterPlacement {
        let placement = request.parameterPlacement
        if placement != .automatic { return placement }
        let asQuery: [HTTPMethod] = [.get, .head, .delete]
        return asQuery.contains(request.method) || hasBody ? .query : .form
    }
}
