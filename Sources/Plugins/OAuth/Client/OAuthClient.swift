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
    /// Proves to servers that tokens are used by their owner (RFC 9449). Nil for bearer tokens.
    public let dpop: DPoP?

    let issuer: String
    let authentication: ClientAuthentication
    let agent: NetworkAgent
    let time: any TimeSource
    /// The servers' clocks, which determine the dates in assertions and proofs.
    private let clocks: ServerClocks
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

    /// Creates a client of a server whose endpoints you know. The other parameters are those of the initializer with an
    /// issuer.
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
        clocks = dpop?.clocks ?? ServerClocks()
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
        var failure: OAuthError?
        for url in try ServerAddress.metadata(of: issuer) {
            let response = try await fetch(Call(.get, url.absoluteString))
            status = response.status
            if status == 200 {
                // Many servers respond with a page, or another document, at paths that they don't know.
                do { return try OAuthServer(metadata: response.data, issuer: issuer) } catch {
                    failure = failure ?? error
                    continue
                }
            }
            // Another status doesn't mean that the document isn't there.
            if !(300...499).contains(status) || status == 429 { break }
        }
        if let failure { throw failure }
        throw OAuthError(
            .invalidServer, "the metadata couldn't be fetched: status \(status)", serverCode: nil, status: status)
    }

    /// Sends a request and returns the response, whatever its status is.
    private func fetch(_ call: Call<HTTPResponse>) async throws -> HTTPResponse {
        var call = call
        call.acceptableStatuses = .any
        do { return try await agent.send(call).value } catch  where error.isCancellation { throw error } catch {
            throw OAuthError(.requestFailed, "the request to the authorization server failed", underlying: error)
        }
    }
}

extension OAuthClient: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The client's ID and the server's issuer.
    public var description: String { "OAuth client \(id) of \(issuer)" }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
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
            guard let url else { throw OAuthError(.unsupported, "the server's metadata has no \(name)") }
            // The endpoints of a server without metadata come from the app.
            try ServerAddress.checkScheme(of: url, name)
            (self.url, self.hasProof) = (url, hasProof)
        }
    }

    /// Sends a form with the client's identity, and returns the body of a successful response.
    ///
    /// If the server asks for a nonce in the proof, the request is sent again with it, once (RFC 9449, section 8). If it
    /// refuses the client's assertion or the proof and its clock differs, the request is sent again with its date, once.
    ///
    /// - Parameter secrets: Parts of the form that descriptions of errors must not show.
    func post(
        _ form: [(name: String, value: String)], to endpoint: Endpoint, hiding secrets: [String]
    ) async throws -> Data {
        var (secrets, mayAskForNonce, mayCorrectClock) = (secrets, true, true)
        while true {
            let response = try await response(to: form, endpoint, &secrets)
            if mayAskForNonce, asksForNonce(response, endpoint) {
                mayAskForNonce = false
            } else if mayCorrectClock, hasOtherClock(response, endpoint) {
                mayCorrectClock = false
            } else {
                return try body(of: response, hiding: secrets)
            }
        }
    }

    private func asksForNonce(_ response: HTTPResponse, _ endpoint: Endpoint) -> Bool {
        guard endpoint.hasProof, let dpop, [400, 401].contains(response.status) else { return false }
        return ServerFault(response)?.error == "use_dpop_nonce" && dpop.offersNonce(response)
    }

    /// Whether the server refuses a date that the client has signed, because its own clock differs. Such a refusal comes
    /// before the code or the refresh token is looked at, so these can be sent again.
    private func hasOtherClock(_ response: HTTPResponse, _ endpoint: Endpoint) -> Bool {
        guard [400, 401].contains(response.status), let error = ServerFault(response)?.error else { return false }
        let isOfProof = error == "invalid_dpop_proof" && endpoint.hasProof && dpop != nil
        guard isOfProof || error == "invalid_client" && authentication.isSigned else { return false }
        let now = time.date
        let signedAt = clocks.date(of: endpoint.url, now: now)
        return clocks.learn(from: response, to: endpoint.url, signedAt: signedAt, now: now)
    }

    private func response(
        to form: [(name: String, value: String)], _ endpoint: Endpoint, _ secrets: inout [String]
    ) async throws -> HTTPResponse {
        var call = Call<HTTPResponse>(.post, endpoint.url.absoluteString)
        call.authorization = .omitted
        var form = form
        secrets += try await authenticate(&call, &form, clocks.date(of: endpoint.url, now: time.date))
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
        _ call: inout Call<HTTPResponse>, _ form: inout [(name: String, value: String)], _ date: Date
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
            let assertion = try await assertion(key, algorithm, keyID, audience ?? issuer, date)
            form += [
                ("client_id", id), ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", assertion),
            ]
            return [assertion]
        }
    }

    private func assertion(
        _ key: any KeySigner, _ algorithm: KeyAlgorithm, _ keyID: String?, _ audience: String,
        _ date: Date
    ) async throws -> String {
        let now = Int64(date.timeIntervalSince1970)
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

    private enum Name: CodingKey { case error, error_description }

    init(error: String, description: String?) { (self.error, error_description) = (error, description) }

    /// Reads the code whatever the description is: some servers send a list or an object.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        error = try members.decode(String.self, forKey: .error)
        error_description = try? members.decodeIfPresent(String.self, forKey: .error_description)
    }

    /// Returns `nil` without a code. Some servers send an empty one along with a token.
    init?(_ response: HTTPResponse) {
        guard let fault = try? JSONDecoder().decode(ServerFault.self, from: response.data),
            ServerText.given(fault.error) != nil
        else { return nil }
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
