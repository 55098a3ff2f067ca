public import Errand
import ErrandEssentials
import ErrandKeys
import Synchronization

/// A client that is registered at an authorization server. Use it to get, renew and revoke tokens.
///
/// ```swift
/// let client = OAuthClient(issuer: "https://id.example.com", id: "app-1", transport: .system)
/// let token = try await client.signIn(scope: "profile", browser: LoopbackBrowser())
/// ```
///
/// To send requests with the token and renew it, use an ``OAuthSession``.
///
/// The client doesn't follow redirects, so secrets reach only the server's endpoints. Endpoints need https, except on
/// this machine. You can use a client from any thread.
public final class OAuthClient: Sendable {
    /// The client's ID at the server.
    public let id: String
    /// The object that binds tokens to a key (RFC 9449). Nil for bearer tokens.
    public let dpop: DPoP?

    let issuer: String
    let authentication: ClientAuthentication
    let agent: NetworkAgent
    let time: any TimeSource
    private let clocks: ServerClocks
    private let known: Mutex<OAuthServer?>

    /// Creates a client for a server that publishes its metadata. The client fetches the metadata once, before its
    /// first request.
    ///
    /// - Parameters:
    ///   - issuer: The server's identifier: an https URL, exactly as the server writes it.
    ///   - id: The client's ID.
    ///   - authentication: How the client proves its identity. By default, it sends only its ID.
    ///   - dpop: Binds tokens to a key (RFC 9449). Defaults to nil, which gets bearer tokens.
    ///   - transport: The transport for requests to the server.
    ///   - filters: The filters for these requests. Defaults to no filters.
    ///   - accessories: The accessories for these requests, such as a log. Defaults to no accessories.
    ///   - time: The clock for timeouts and dates. Defaults to the system's clock.
    public convenience init(
        issuer: String, id: String, authentication: ClientAuthentication = .none, dpop: DPoP? = nil,
        transport: any Transport, filters: [any Filter] = [], accessories: [any Accessory] = [],
        time: some TimeSource = SystemTimeSource()
    ) {
        self.init(
            issuer: issuer, server: nil, id: id, authentication: authentication, dpop: dpop, transport: transport,
            filters: filters, accessories: accessories, time: time)
    }

    /// Creates a client for a server whose endpoints you know. The other parameters are the same as for a client with
    /// an issuer.
    public convenience init(
        server: OAuthServer, id: String, authentication: ClientAuthentication = .none, dpop: DPoP? = nil,
        transport: any Transport, filters: [any Filter] = [], accessories: [any Accessory] = [],
        time: some TimeSource = SystemTimeSource()
    ) {
        self.init(
            issuer: server.issuer, server: server, id: id, authentication: authentication, dpop: dpop,
            transport: transport, filters: filters, accessories: accessories, time: time)
    }

    private init(
        issuer: String, server: OAuthServer?, id: String, authentication: ClientAuthentication, dpop: DPoP?,
        transport: any Transport, filters: [any Filter], accessories: [any Accessory], time: some TimeSource
    ) {
        (self.issuer, self.id, self.authentication, self.dpop) = (issuer, id, authentication, dpop)
        self.time = time
        clocks = dpop?.clocks ?? ServerClocks()
        known = Mutex(server)
        var configuration = AgentConfiguration()
        configuration.headers[.accept] = "application/json"
        configuration.timeout = .seconds(30)
        configuration.redirects = .off
        configuration.maximumBodyBytes = 1 << 20
        (configuration.filters, configuration.accessories) = (filters, accessories)
        agent = NetworkAgent(configuration: configuration, transport: transport, time: time)
    }

    /// Returns the server's endpoints. The first call fetches the server's metadata (RFC 8414).
    ///
    /// Throws ``OAuthError``: `issuerMismatch` if the metadata belongs to another issuer, `invalidServer` or
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
                // Many servers respond with another document at unknown paths.
                do { return try OAuthServer(metadata: response.data, issuer: issuer) } catch {
                    failure = failure ?? error
                    continue
                }
            }
            // With other statuses, such as 500, this path may be the right one, so don't try the next path.
            if !(300...499).contains(status) || status == 429 { break }
        }
        if let failure { throw failure }
        throw OAuthError(
            .invalidServer, "the metadata couldn't be fetched: status \(status)", serverCode: nil, status: status)
    }

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
    /// The same as `description`.
    public var debugDescription: String { description }
    /// An empty mirror that hides secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

// MARK: - Requests with the client's identity

extension OAuthClient {
    struct Endpoint {
        let url: URL
        var hasProof = false

        init(_ url: URL?, _ name: String, hasProof: Bool = false) throws(OAuthError) {
            guard let url else { throw OAuthError(.unsupported, "the server's metadata has no \(name)") }
            // An app that creates the `OAuthServer` itself may have set any URL.
            try ServerAddress.checkScheme(of: url, name)
            (self.url, self.hasProof) = (url, hasProof)
        }
    }

    struct Reply {
        let data: Data
        /// When the client began to send the form. Lifetimes in the reply count from here, because the server set them
        /// before the reply arrived.
        let sent: ContinuousClock.Instant
    }

    /// Sends a form with the client's identity. If the server refuses the form, this method may send it again, at most
    /// twice: with the nonce that the server asks for (RFC 9449, section 8), and with the server's date if the server
    /// refused a signed date.
    ///
    /// - Parameter secrets: Parts of the form to hide in errors.
    func post(
        _ form: [(name: String, value: String)], to endpoint: Endpoint, hiding secrets: [String]
    ) async throws -> Reply {
        var (secrets, mayAskForNonce, mayCorrectClock) = (secrets, true, true)
        while true {
            let (signedAt, sent) = (clocks.date(of: endpoint.url, now: time.date), time.now)
            let response = try await response(to: form, endpoint, &secrets)
            if mayAskForNonce, asksForNonce(response, endpoint) {
                mayAskForNonce = false
            } else if mayCorrectClock, hasOtherClock(response, endpoint: endpoint, signedAt: signedAt) {
                mayCorrectClock = false
            } else {
                return Reply(data: try body(of: response, hiding: secrets), sent: sent)
            }
        }
    }

    private func asksForNonce(_ response: HTTPResponse, _ endpoint: Endpoint) -> Bool {
        guard endpoint.hasProof, let dpop, [400, 401].contains(response.status) else { return false }
        return ServerFault(response)?.error == "use_dpop_nonce" && dpop.offersNonce(response)
    }

    /// Returns whether the server refused a signed date because its clock differs. Servers check the date before they
    /// use the code or the refresh token, so these can be sent again.
    private func hasOtherClock(_ response: HTTPResponse, endpoint: Endpoint, signedAt: Date) -> Bool {
        guard [400, 401].contains(response.status), let error = ServerFault(response)?.error else { return false }
        let isOfProof = error == "invalid_dpop_proof" && endpoint.hasProof && dpop != nil
        guard isOfProof || error == "invalid_client" && authentication.isSigned else { return false }
        return clocks.learn(from: response, to: endpoint.url, signedAt: signedAt, now: time.date)
    }

    private func response(
        to form: [(name: String, value: String)], _ endpoint: Endpoint, _ secrets: inout [String]
    ) async throws -> HTTPResponse {
        var call = Call<HTTPResponse>(.post, endpoint.url.absoluteString)
        call.authorization = .omitted
        var form = form
        secrets += try await authenticate(&call, &form, at: clocks.date(of: endpoint.url, now: time.date))
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

    /// Adds the client's identity (RFC 6749, section 2.3; RFC 7523, section 2.2). Returns the secrets that it added.
    private func authenticate(
        _ call: inout Call<HTTPResponse>, _ form: inout [(name: String, value: String)], at date: Date
    ) async throws -> [String] {
        switch authentication.method {
        case .none:
            form.append(("client_id", id))
            return []
        case .post(let secret):
            form += [("client_id", id), ("client_secret", secret)]
            return [secret]
        case .basic(let secret):
            // RFC 6749, section 2.3.1, form-encodes the ID and the secret.
            call.authorization = .basic(user: FormEncoding.encode(id), password: FormEncoding.encode(secret))
            return [secret]
        case .privateKey(let key, let algorithm, let keyID, let audience):
            let assertion = try await assertion(
                signedBy: key, algorithm: algorithm, keyID: keyID, audience: audience ?? issuer, at: date)
            form += [
                ("client_id", id), ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("client_assertion", assertion),
            ]
            return [assertion]
        }
    }

    private func assertion(
        signedBy key: any KeySigner, algorithm: KeyAlgorithm, keyID: String?, audience: String, at date: Date
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

    /// Some servers send errors with status 200.
    private func body(of response: HTTPResponse, hiding secrets: [String]) throws(OAuthError) -> Data {
        let fault = ServerFault(response)
        if (200...299).contains(response.status), fault == nil { return response.data }
        throw ServerFault.error(fault, status: response.status, hiding: secrets)
    }
}

/// RFC 6749, section 5.2.
struct ServerFault: Decodable {
    let error: String
    let error_description: String?
    /// The seconds between polls, which GitHub sends with `slow_down`.
    let interval: Double?

    private enum Name: CodingKey { case error, error_description, interval }

    init(error: String, description: String?) {
        (self.error, error_description, interval) = (error, description, nil)
    }

    /// Some servers send a list or an object as the description, which is then ignored, like an interval that isn't a
    /// number.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Name.self)
        error = try members.decode(String.self, forKey: .error)
        error_description = try? members.decodeIfPresent(String.self, forKey: .error_description)
        interval = try? members.decodeIfPresent(ServerSeconds.self, forKey: .interval)?.number
    }

    /// Some servers send an empty error code along with a token.
    init?(_ response: HTTPResponse) {
        guard let fault = try? JSONDecoder().decode(ServerFault.self, from: response.data),
            ServerText.given(fault.error) != nil
        else { return nil }
        self = fault
    }

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
        return OAuthError(code, message, serverCode: name, status: status, pollingInterval: fault.interval)
    }
}

extension HTTPHeaderName {
    static var dpop: HTTPHeaderName { "DPoP" }
    static var dpopNonce: HTTPHeaderName { "DPoP-Nonce" }
}
