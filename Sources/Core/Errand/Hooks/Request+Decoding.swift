public import ErrandEssentials
public import ErrandHTTP

extension Request where Output == Data {
    /// Any.
    public var acceptableContentTypes: ContentTypes { .any }
    /// The bytes of the body.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.data }
}

extension Request where Output == String {
    /// Any.
    public var acceptableContentTypes: ContentTypes { .any }
    /// The text of the body, by its charset.
    public func decode(_ response: HTTPResponse) async throws -> Output { try response.text() }
}

extension Request where Output == Void {
    /// Nothing: the status has said it.
    public func decode(_ response: HTTPResponse) async throws -> Output { return () }
}

extension Request where Output == HTTPResponse {
    /// The response as it is.
    public func decode(_ response: HTTPResponse) async throws -> Output { response }
}

extension Request where Output == URL {
    /// The file that the body was delivered into; see ``BodyDelivery/file(_:)``.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        guard let file = response.body.file else {
            throw ErrandError(
                .decodingFailed, "the body is not in a file: the request has another delivery than .file",
                response: response)
        }
        return file
    }

    /// Any.
    public var acceptableContentTypes: ContentTypes { .any }
}

extension Request where Output == HTTPBody {
    /// As a stream.
    public var delivery: BodyDelivery { .stream }
    /// The stream.
    public func decode(_ response: HTTPResponse) async throws -> Output { response.body }
}

extension Request where Output: Decodable {
    /// The content types of the decoder; any for `Data?` and `String?`.
    public var acceptableContentTypes: ContentTypes {
        Output.self == Data?.self || Output.self == String?.self ? .any : .json
    }

    /// By `decoder`, or the agent's. An optional output is nil for an empty body; `Data?` and `String?` are not
    /// decoded.
    public func decode(_ response: HTTPResponse) async throws -> Output {
        let data = response.data
        if let optional = Output.self as? any ExpressibleByNilLiteral.Type {
            if data.isEmpty || data == Data([0x20]), let none = optional.init(nilLiteral: ()) as? Output { return none }
            if Output.self == Data?.self, let value = data as? Output { return value }
            if Output.self == String?.self, let value = try response.text() as? Output { return value }
        }
        return try response.decoded(as: Output.self, by: decoder)
    }
}

extension Request {
    /// Says why there is no default for an output: it is not decodable, or only on the main actor.
    @available(
        *, unavailable,
        message: """
            'Output' has no default 'decode'. A model of an app with MainActor as its default isolation is written \
            'nonisolated struct User: Decodable'; an Output that is not Decodable needs a 'decode' of the request's own
            """
    )
    public func decode(_ response: HTTPResponse) async throws -> Output {
        throw ErrandError(.decodingFailed, "the request has no decode of its own", response: response)
    }
}
