public import Errand

extension HTTPResponse {
    /// Returns the parts of a multipart response, such as several ranges of a file.
    ///
    /// ```swift
    /// let call = Call<HTTPResponse>(.get, "film.mp4") {
    ///     $0.headers["Range"] = "bytes=0-99,1000-1099"
    ///     $0.delivery = .stream
    /// }
    /// for try await part in try await agent.send(call).value.parts() { print(part.range ?? "", part.headers) }
    /// ```
    ///
    /// Throws ``MultipartError/Code/notMultipart`` if the response has another type. A server may answer with a single
    /// range or the whole file.
    public func parts(limits: MultipartLimits = MultipartLimits()) throws -> ReceivedParts {
        try ReceivedParts(body, contentType: headers[.contentType], limits: limits)
    }
}

extension Request where Output == ReceivedParts {
    /// Streams the body.
    public var delivery: BodyDelivery { .stream }
    /// Accepts `multipart/*`.
    public var acceptableContentTypes: ContentTypes { ["multipart/*"] }
    /// Returns the parts, within the default ``MultipartLimits``.
    public func decode(_ response: HTTPResponse) async throws -> Output { try response.parts() }
}

extension Call where Output == ReceivedParts {
    /// Creates a call that returns the parts of a multipart response.
    public init(
        _ method: HTTPMethod, _ path: String, query: Parameters = [:], body: RequestBody = .none,
        limits: MultipartLimits = MultipartLimits(), configure: (inout Call) -> Void = { _ in }
    ) {
        self.init(method, path, query: query, body: body, decode: { try $0.parts(limits: limits) }) { call in
            call.delivery = .stream
            call.acceptableContentTypes = ["multipart/*"]
            configure(&call)
        }
    }
}
