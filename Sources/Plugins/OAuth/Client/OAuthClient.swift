public import Errand
import ErrandEssentials
import ErrandKeys
import Synchronization

/// Gets, renews and revokes the tokens of an authorization server, for one client registration.
///
/// ```swift
/// let client = OAuthClient(issuer: "https://id.example.com", id: "app-1", transport: .system)
/// let token = try await client.signIn(scope: "profile", browser: LoopbackBrowser())
/// ```
///
/// Use an ``OAuthSession`` to send requests with the token and to renew it.
///
/// The client sends its requests with an agent that doesn't follow redirects, so secrets stay at the server's endpoints.
/// Endpoints need https, except on this machine. You can use it from any thread.
public final class OAuthClient: Sendable {
    /// The client's ID at the server.
    public let id: String
    /// Proves that tokens are used by their owner, or nil for bearer tokens.
    public let dpop: DPoP?

    let issuer: String
    let authentication: ClientAuthentication
    let agent: NetworkAgent
    let time: any TimeSource
    private let known: Mutex<OAuthServer?>

    /// Creates a client of a server that publishes its metadata. The client fetches the metadata before its first
    /// request, and keeps it.
    ///
    /// - Parameters:
    ///   - issuer: The identifier of the server: an https URL, exactly as the server writes it.
    ///   - id: The client's ID.
    ///   - authentication: How the client proves its identity. Defaults to its ID alone.
    ///   - dpop: Binds tokens to a key (RFC 9449). Defaults to nil, for bearer tokens.
    ///   - transport: Sends the requests to the server.
    ///   - filters: Filters for these requests. Defaults to no filters.
    ///   - accessories: Accessories for these requests, such as a log. Defaults to no accessories.
    ///   - time: The clock. Defaults to the system's.
    public convenience init(
        issuer: String, id: String, authentication: ClientAuthentication = .none, dpop: DPoP? = nil,
        transport: any Transport, filters: [any Filter] = [], accessories: [any Accessory] = [],
        time: some TimeSource = SystemTimeSource()
    ) {
        self.init(issuer, nil, id, authentication, dpop, transport, filters, accessories, time)
    }

    /// Creates a client of a server whose endpoints you know. The parameters are the same.
    public convenience init(
        server: OAuthServer, id: String, authentication: ClientAuthentication = .none, dpop: DPoP? = nil,
        transport: any Transport, filters: [any Filter] = [], accessories: [any Accessory] = [],
        time: some TimeSource = SystemTimeSource()
    ) {
        self.init(server.issuer, server, id, authentication, dpop, transport, filters, accessories, time)
    }

    private init(
        _ issuer: String, _ server: OAuthServer?, _ id: String, _ authentication: ClientAuthentication, _ dpop: DPoP?,
        _ transport: any Transport, _ filters: [any Filter], _ accessories: [any Accessory], _ time: some TimeSource
    ) {
        (self.issuer, self.id, self.authentication, self.dpop) = (issuer, id, authentication, dpop)
        self.time = time
        known = Mutex(server)
        var configuration = AgentConfiguration()
        configuration.headers[.accept] = "application/json"
        configuration.timeout = .seconds(30)
        configuration.redirects = .off
        // Responses are a few kilobytes.
        configuration.maximumBodyBytes = 1 << 20
        (configuration.filters, configuration.accessories) = (filters, accessories)
        agent = NetworkAgent(configuration: configuration, transport: transport, time: time)
    }

    /// Returns the server's endpoints, which are fetched once (RFC 8414).
    ///
    /// Throws ``OAuthError``: `issuerMismatch` if the metadata belongs to another issuer, `invalidServer`, or
    /// `requestFailed`.
    public func server() async throws -> OAuthServer {
        if let server = known.withLock({ $0 }) { return server }
        let server = try await discovered()
        known.withLock { $0 = server }
        return server
    }

    private func discovered() async throws -> OAuthServer {
        var status = 0
        for url in try ServerAddress.metadata(of: issuer) {
            let response = try await fetch(Call(.get, url.absoluteString))
            if response.status == 200 { return try OAuthServer(metadata: response.data, issuer: issuer) }
            status = response.status
            // Another status doesn't mean that the document isn't there.
            if !(400...499).contains(status) || status == 429 { break }
        }
        throw OAuthError(
            .invalidServer, "the metadata couldn't be fetched: status \(status)", serverCode: nil, status: status)
    }

    /// Sends a request and returns the response, whatever its status is.
    private func fetch(_ call: Call<HTTPResponse>) async throws -> HTTPResponse {
        var call = call
        call.acceptableStatuses = .any
        do { return try await agent.send(call).value } catch  where error.isCancellation { throw error } catch {
            throw OAuthError(.requestFailed, "the request to the server failed", underlying: error)
        }
    }
}

extension OAuthClient: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The client's ID and the issuer.
    public var description: String { "OAuth client \(id) of \(issuer)" }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Requests with the client's identity

extension OAuthClient {
    /// An endpoint and the name that errors use for it.
    struct Endpoint {
        let url: URL
        /// Whether the requests carry a proof. Only requests for tokens do.
        var hasProof = false

        init(_ url: URL?, _ name: String, hasProof: Bool = false) throws(OAuthError) {
            guard let url else { throw OAuthError(.unsupported, "the server has no \(name)") }
            // The endpoints of a server without metadata come from the app.
            try ServerAddress.checkScheme(of: url, name)
            (self.url, self.hasProof) = (url, hasProof)
        }
    }

    /// Sends a form with the client's identity, and returns the body of a successful response.
    ///
    /// If the server asks for a nonce in the proof, the request is sent again with it, once (RFC 9449, section 8).
    ///
    /// - Parameter secrets: Parts of the form that descriptions of errors must not show.
    func post(
        _ form: [(name: String, value: String)], to endpoint: Endpoint, hiding secrets: [String]
    ) async throws -> Data {
        var secrets = secrets
        let first = try await response(to: form, endpoint, &secrets)
        guard endpoint.hasProof, let dpop, [400, 401].contains(first.status),
            ServerFault(first)?.error == "use_dpop_nonce", dpop.offersNonce(first)
        else { return try body(of: first, hiding: secrets) }
        return try body(of: try await response(to: form, endpoint, &secrets), hiding: secrets)
    }

    private func response(
        to form: [(name: String, value: String)], _ endpoint: Endpoint, _ secrets: inout [String]
    ) async throws -> HTTPResponse {
        var call = Call<HTTPResponse>(.post, endpoint.url.absoluteString)
        call.authorization = .omitted
        var form = form
        secrets += try await authenticate(&call, &form)
        call.body = .data(
            Data(FormEncoding.encode(form).utf8), contentType: "application/x-www-form-urlencoded")
        if endpoint.hasProof, let dpop {
            let proof = try await dpop.proof(
                for: HTTPRequest(.post, endpoint.url), token: nil, at: time.date, by: .authorizationServer)
            call.headers.set(.dpop, proof, sensitive: true)
        }
        let response = try await fetch(call)
        dpop?.learn(from: response, at: .authorizationServer)
        return response
    }

    /// Adds the client's identity (RFC 6749, section 2.3; RFC 7523, section 2.2). Returns the secrets in it.
    private func authenticate(
        _ call: inout Call<HTTPResponse>, _ form: inout [(name: String, value: String)]
    ) async throws -> [String] {
        switch authentication.method {
        case .none:
            form.append(("client_id", id))
            return []
        case .post(let secret):
            form += [("client_id", id), ("client_secret", secret)]
            return [secret]
        case .basic(let secret):
            // Section 2.3.1 encodes both as in a form before they're joined.
            call.authorization = .basic(user: FormEncoding.encode(id), password: FormEncoding.encode(secret))
            return [secret]
        case .privateKey(let key, let algorithm, let keyID, let audience):
            let assertion = try await assertion(key, algorithm, keyID, audience ?? issuer)
            form += [
                ("client_id", id), ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", assertion),
            ]
            return [assertion]
        }
    }

    private func assertion(
        _ key: any KeySigner, _ algorithm: KeyAlgorithm, _ keyID: String?, _ audience: String
    ) async throws -> String {
        let now = Int64(time.date.timeIntervalSince1970)
        let claims = AssertionClaims(
            iss: id, sub: id, aud: audience, jti: RandomText.make(bytes: 16), iat: now, exp: now + 60)
        do {
            let name = try keyID.map { #","kid":\#(try SignedToken.quoted($0))"# } ?? ""
            return try await SignedToken.make(
                header: #"{"alg":"\#(algorithm.joseName)"\#(name),"typ":"JWT"}"#, claims: claims, key: key,
                algorithm: algorithm)
        } catch  where error.isCancellation { throw error } catch {
            throw OAuthError(.keyFailed, "the client's assertion couldn't be signed", underlying: error)
        }
    }

    /// Returns the body, or throws the server's error (RFC 6749, section 5.2). Some servers report errors with status
    /// 200.
    private func body(of response: HTTPResponse, hiding secrets: [String]) throws(OAuthError) -> Data {
        let fault = ServerFault(response)
        if (200...299).contains(response.status), fault == nil { return response.data }
        throw ServerFault.error(fault, status: response.status, hiding: secrets)
    }
}

/// The members of a server's error (RFC 6749, section 5.2).
struct ServerFault: Decodable {
    let error: String
    let error_description: String?

    init(error: String, description: String?) { (self.error, error_description) = (error, description) }

    init?(_ response: HTTPResponse) {
        guard let fault = try? JSONDecoder().decode(ServerFault.self, from: response.data) else { return nil }
        self = fault
    }

    /// Returns the error that a caller can distinguish.
    static func error(_ fault: ServerFault?, status: Int?, hiding secrets: [String]) -> OAuthError {
        guard let fault else {
            return OAuthError(
                .refused, "the server responded with status \(status ?? 0)", serverCode: nil, status: status)
        }
        let name = ServerText.shown(fault.error, upTo: 64, hiding: secrets)
        let text = fault.error_description.map { ServerText.shown($0, hiding: secrets) } ?? ""
        let message = "the server reports \(name)" + (text.isEmpty ? "" : ": \(text)")
        let code: OAuthError.Code =
            switch fault.error {
            case "invalid_grant": .invalidGrant
            case "access_denied": .accessDenied
            case "expired_token": .deviceCodeExpired
            default: .refused
            }
        return OAuthError(code, message, serverCode: name, status: status)
    }
}

extension HTTPHeaderName {
    static var dpop: HTTPHeaderName { "DPoP" }
    static var dpopNonce: HTTPHeaderName { "DPoP-Nonce" }
}
