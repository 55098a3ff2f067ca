import Errand
import ErrandDigests
import ErrandEssentials
import ErrandKeys
import ErrandMessageSyntax
import ErrandTesting
import Synchronization

/// An authorization server and a protected resource, which check the specifications and misbehave on
/// demand.
final class AuthorizationServer: Sendable {
    /// How a client is registered.
    enum Registration: Sendable {
        case open
        case basic(String)
        case post(String)
        case key(PublicKey)
    }

    /// The faults and the requirements of a server.
    struct Behavior: Sendable {
        var registration = Registration.open
        // Metadata
        var issuer: String?
        var hasOnlyOpenIDMetadata = false
        var metadata: [String: JSON] = [:]
        // Redirects
        var redirectIssuer: String? = "own"
        var redirectState: String?
        var redirectError: String?
        var redirectURI: String?
        var extraRedirectItems = ""
        // Tokens
        var lifetime = 60
        var loseRefreshResponses = 0
        /// Whether a refresh token that was rotated by a lost response still works.
        var allowsLostRefresh = true
        var idTokenClaims: [String: JSON] = [:]
        var tokenType: String?
        var errorOfToken: TestResponse?
        // Devices
        var deviceAnswers: [String] = []
        // DPoP
        var nonce: String?
        var resourceNonce: String?
        var clockOffset = 0.0
    }

    fileprivate struct Grant {
        var redirectURI = ""
        var challenge = ""
        var scope: String?
        var nonce: String?
        var jkt: String?
        var isRedeemed = false
        var family = 0
    }

    struct State {
        var behavior = Behavior()
        fileprivate var codes: [String: Grant] = [:]
        fileprivate var pushed: [String: [String: String]] = [:]
        /// Valid refresh tokens, with their family.
        fileprivate var refreshTokens: [String: Grant] = [:]
        fileprivate var rotated: [String: Grant] = [:]
        var accessTokens: Set<String> = []
        fileprivate var tokenFamilies: [String: Int] = [:]
        fileprivate var tokenKeys: [String: String] = [:]
        fileprivate var seenProofs: Set<String> = []
        fileprivate var seenAssertions: Set<String> = []
        fileprivate var number = 0
        var refreshes = 0
        var revoked: [String] = []
        /// Each secret that the server has issued or received.
        var secrets: Set<String> = []

        fileprivate mutating func next(_ name: String) -> String {
            number += 1
            let secret = "canary-\(name)-\(number)"
            secrets.insert(secret)
            return secret
        }
    }

    private struct Refusal: Error {
        var status = 400
        let error: String
        var headers: HTTPHeaders = [:]
    }

    private let server: TestServer
    private let state: Mutex<State>
    let time: ManualTimeSource
    /// The clock of clients.
    let clock: JumpingClock

    init(_ behavior: Behavior = Behavior(), time: ManualTimeSource = ManualTimeSource()) throws {
        (self.time, clock) = (time, JumpingClock(base: time))
        state = Mutex(State(behavior: behavior))
        server = try TestServer()
        server.on("*") { [weak self] request in self?.respond(request) ?? .status(503) }
    }

    var url: String { server.url }
    var received: [RecordedRequest] { server.received }
    func received(_ path: String) -> [RecordedRequest] { server.received.filter { $0.path == path } }

    func edit<Result: Sendable>(_ change: (inout State) -> Result) -> Result { state.withLock { change(&$0) } }
    func behave(_ change: (inout Behavior) -> Void) { state.withLock { change(&$0.behavior) } }
    var refreshes: Int { state.withLock { $0.refreshes } }

    /// Makes all access tokens invalid, as if they had expired.
    func expireAccessTokens() { state.withLock { $0.accessTokens = [] } }

    // MARK: Routes

    private func respond(_ request: RecordedRequest) -> TestResponse {
        do {
            switch request.path {
            case "/.well-known/oauth-authorization-server": return try metadata(isOpenID: false)
            case "/.well-known/openid-configuration": return try metadata(isOpenID: true)
            case "/authorize": return try authorize(request)
            case "/par": return try push(request)
            case "/token": return try token(request)
            case "/device": return try device(request)
            case "/revoke": return try revoke(request)
            default: return try resource(request)
            }
        } catch let refusal as Refusal {
            let body = #"{"error":"\#(refusal.error)"}"#
            var response = TestResponse.json(body, status: refusal.status)
            for field in refusal.headers { response = response.header(field.name, field.value) }
            return response
        } catch { return .text("\(error)", status: 500) }
    }

    private func metadata(isOpenID: Bool) throws -> TestResponse {
        let behavior = state.withLock { $0.behavior }
        if behavior.hasOnlyOpenIDMetadata, !isOpenID { return .status(404) }
        var members: [String: JSON] = [
            "issuer": .text(behavior.issuer ?? url), "authorization_endpoint": .text(url + "/authorize"),
            "token_endpoint": .text(url + "/token"), "revocation_endpoint": .text(url + "/revoke"),
            "device_authorization_endpoint": .text(url + "/device"),
            "code_challenge_methods_supported": .list(["S256"]),
            "authorization_response_iss_parameter_supported": .flag(true),
        ]
        for (name, value) in behavior.metadata {
            if case .text(let text) = value, text.hasPrefix("/") {
                members[name] = .text(url + text)
            } else {
                members[name] = value
            }
        }
        return .json(String(decoding: try JSONEncoder().encode(members), as: UTF8.self))
    }

    private func authorize(_ request: RecordedRequest) throws -> TestResponse {
        var items = Dictionary(request.queryItems.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        return try state.withLock { state in
            if let uri = items["request_uri"] {
                guard let pushed = state.pushed.removeValue(forKey: uri), items.count == 2 else {
                    throw Refusal(error: "invalid_request_uri")
                }
                items.merge(pushed) { $1 }
            }
            let behavior = state.behavior
            guard items["response_type"] == "code", items["client_id"] == "app", let target = items["redirect_uri"],
                let challenge = items["code_challenge"], items["code_challenge_method"] == "S256",
                let given = items["state"]
            else { throw Refusal(error: "invalid_request") }
            state.secrets.insert(given)
            if let nonce = items["nonce"] { state.secrets.insert(nonce) }
            let code = state.next("code")
            state.number += 1
            state.codes[code] = Grant(
                redirectURI: target, challenge: challenge, scope: items["scope"], nonce: items["nonce"],
                jkt: items["dpop_jkt"], family: state.number)
            var answer =
                behavior.redirectError.map { ["error=\($0)", "error_description=\(given)"] } ?? ["code=\(code)"]
            answer.append("state=\(behavior.redirectState ?? given)")
            if let issuer = behavior.redirectIssuer {
                answer.append("iss=\(PercentEncoding.encode(issuer == "own" ? url : issuer))")
            }
            let query = answer.joined(separator: "&") + behavior.extraRedirectItems
            return .redirect(to: (behavior.redirectURI ?? target) + "?" + query)
        }
    }

    private func push(_ request: RecordedRequest) throws -> TestResponse {
        let form = Self.form(request)
        return try state.withLock { state in
            try checkClient(request, form, &state)
            let uri = "urn:ietf:params:oauth:request_uri:" + state.next("pushed")
            state.pushed[uri] = form
            return .json(#"{"request_uri":"\#(uri)","expires_in":60}"#, status: 201)
        }
    }

    private func revoke(_ request: RecordedRequest) throws -> TestResponse {
        let form = Self.form(request)
        return try state.withLock { state in
            try checkClient(request, form, &state)
            let token = form["token"] ?? ""
            state.revoked.append(token)
            if let grant = state.refreshTokens.removeValue(forKey: token) { state.end(grant.family) }
            state.accessTokens.remove(token)
            return .status(200)
        }
    }

    private func device(_ request: RecordedRequest) throws -> TestResponse {
        let form = Self.form(request)
        return try state.withLock { state in
            try checkClient(request, form, &state)
            let code = state.next("device")
            return .json(
                """
                {"device_code":"\(code)","user_code":"WDJB-MJHT","verification_uri":"\(url)/enter",
                "verification_uri_complete":"\(url)/enter?c=WDJB-MJHT","expires_in":120,"interval":5}
                """)
        }
    }

    private func token(_ request: RecordedRequest) throws -> TestResponse {
        let form = Self.form(request)
        return try state.withLock { state in
            if let answer = state.behavior.errorOfToken { return answer }
            for name in ["code_verifier", "client_secret", "client_assertion", "refresh_token", "code"] {
                if let secret = form[name] { state.secrets.insert(secret) }
            }
            try checkClient(request, form, &state)
            let jkt = try checkProof(request, nil, state.behavior.nonce, &state)
            switch form["grant_type"] {
            case "authorization_code": return try redeem(form, jkt, &state)
            case "client_credentials": return issue(Grant(scope: form["scope"], jkt: jkt), isRefreshable: false, &state)
            case "refresh_token": return try refresh(form, jkt, &state)
            case "urn:ietf:params:oauth:grant-type:device_code":
                let answer = state.behavior.deviceAnswers.isEmpty ? "ok" : state.behavior.deviceAnswers.removeFirst()
                if answer == "lost" { return TestResponse.status(200).closing(afterBytes: 0) }
                guard answer == "ok" else { throw Refusal(error: answer) }
                return issue(Grant(jkt: jkt), isRefreshable: true, &state)
            default: throw Refusal(error: "unsupported_grant_type")
            }
        }
    }

    private func redeem(_ form: [String: String], _ jkt: String?, _ state: inout State) throws -> TestResponse {
        guard let code = form["code"], let grant = state.codes[code] else { throw Refusal(error: "invalid_grant") }
        if grant.isRedeemed {
            // RFC 6749, section 4.1.2: the tokens of the first use end as well.
            state.end(grant.family)
            throw Refusal(error: "invalid_grant")
        }
        let challenge = Base64URL.text(SHA256Digest.digest(of: (form["code_verifier"] ?? "").utf8))
        guard grant.challenge == challenge, grant.redirectURI == form["redirect_uri"],
            grant.jkt == nil || grant.jkt == jkt
        else { throw Refusal(error: "invalid_grant") }
        state.codes[code]?.isRedeemed = true
        return issue(grant, isRefreshable: true, &state)
    }

    private func refresh(_ form: [String: String], _ jkt: String?, _ state: inout State) throws -> TestResponse {
        let old = form["refresh_token"] ?? ""
        if let grant = state.rotated[old], state.refreshTokens[old] == nil {
            // A rotated token was used again: somebody has stolen it.
            state.end(grant.family)
            throw Refusal(error: "invalid_grant")
        }
        guard let grant = state.refreshTokens[old], grant.jkt == nil || grant.jkt == jkt else {
            throw Refusal(error: "invalid_grant")
        }
        let isLost = state.behavior.loseRefreshResponses > 0
        if isLost { state.behavior.loseRefreshResponses -= 1 }
        if !(isLost && state.behavior.allowsLostRefresh) {
            state.refreshTokens[old] = nil
            state.rotated[old] = grant
        }
        state.refreshes += 1
        let response = issue(grant, isRefreshable: true, &state)
        return isLost ? response.closing(afterBytes: 0) : response
    }

    private func issue(_ grant: Grant, isRefreshable: Bool, _ state: inout State) -> TestResponse {
        let access = state.next("access")
        state.accessTokens.insert(access)
        state.tokenFamilies[access] = grant.family
        state.tokenKeys[access] = grant.jkt
        var members: [String: JSON] = [
            "access_token": .text(access), "expires_in": .number(state.behavior.lifetime),
            "token_type": .text(state.behavior.tokenType ?? (grant.jkt == nil ? "Bearer" : "DPoP")),
        ]
        if isRefreshable {
            let refresh = state.next("refresh")
            state.refreshTokens[refresh] = grant
            members["refresh_token"] = .text(refresh)
        }
        if let scope = grant.scope {
            members["scope"] = .text(scope)
            if scope.contains("openid") { members["id_token"] = .text(idToken(grant, &state)) }
        }
        let data = (try? JSONEncoder().encode(members)) ?? Data()
        return TestResponse(status: 200, headers: [.contentType: "application/json"], body: data)
    }

    private func idToken(_ grant: Grant, _ state: inout State) -> String {
        var claims: [String: JSON] = [
            "iss": .text(url), "sub": .text("ada"), "aud": .list(["app", "other"]), "exp": .number(2_000_000_000),
        ]
        claims["nonce"] = grant.nonce.map { .text($0) }
        claims.merge(state.behavior.idTokenClaims) { $1 }
        let body = (try? JSONEncoder().encode(claims)) ?? Data()
        let signature = state.next("signature")
        let token = Base64URL.text(#"{"alg":"RS256"}"#.utf8) + "." + Base64URL.text(body) + "." + signature
        state.secrets.insert(token)
        return token
    }

    private func resource(_ request: RecordedRequest) throws -> TestResponse {
        try state.withLock { state in
            let parts = (request.headers[.authorization] ?? "").split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2, state.accessTokens.contains(parts[1]) else {
                throw Refusal(
                    status: 401, error: "invalid_token", headers: [.wwwAuthenticate: #"Bearer error="invalid_token""#])
            }
            let key = state.tokenKeys[parts[1]]
            guard parts[0] == (key == nil ? "Bearer" : "DPoP") else {
                throw Refusal(status: 401, error: "invalid_token")
            }
            if let key {
                let jkt = try checkProof(request, parts[1], state.behavior.resourceNonce, &state)
                guard jkt == key else { throw Refusal(status: 401, error: "invalid_token") }
            }
            return .text(request.path)
        }
    }

    // MARK: Checks

    /// Checks the client's identity (RFC 6749, section 2.3; RFC 7523, section 3).
    private func checkClient(_ request: RecordedRequest, _ form: [String: String], _ state: inout State) throws {
        let now = time.date.timeIntervalSince1970 + state.behavior.clockOffset
        let failure = Refusal(
            status: 401, error: "invalid_client", headers: [.date: HTTPDate.format(Date(timeIntervalSince1970: now))])
        switch state.behavior.registration {
        case .open: guard form["client_id"] == "app" else { throw failure }
        case .post(let secret):
            guard form["client_id"] == "app", form["client_secret"] == secret else { throw failure }
        case .basic(let secret):
            guard let field = request.headers[.authorization], field.hasPrefix("Basic "),
                let data = Data(base64Encoded: String(field.dropFirst(6))), form["client_id"] == nil
            else { throw failure }
            let parts = String(decoding: data, as: UTF8.self).split(separator: ":")
            guard parts.count == 2, PercentEncoding.decode(parts[0], plusIsSpace: true) == "app",
                PercentEncoding.decode(parts[1], plusIsSpace: true) == secret
            else { throw failure }
        case .key(let key):
            guard form["client_id"] == "app", let token = JSONToken(form["client_assertion"] ?? ""),
                try token.isSigned(by: key),
                token.claims["iss"] == .text("app"), token.claims["sub"] == .text("app"),
                token.claims["aud"] == .text(url), case .text(let id)? = token.claims["jti"],
                state.seenAssertions.insert(id).inserted, case .number(let end)? = token.claims["exp"],
                Double(end) > now, Double(end) < now + 120
            else { throw failure }
        }
    }

    /// Checks a proof (RFC 9449, section 4.3). Returns the key's thumbprint, or nil without a proof.
    private func checkProof(
        _ request: RecordedRequest, _ access: String?, _ nonce: String?, _ state: inout State
    ) throws -> String? {
        let now = time.date.timeIntervalSince1970 + state.behavior.clockOffset
        let status = access == nil ? 400 : 401
        func refusal(_ error: String, _ headers: HTTPHeaders = [:]) -> Refusal {
            var headers = headers
            if access != nil { headers[.wwwAuthenticate] = #"DPoP error="\#(error)", algs="ES256""# }
            headers[.date] = HTTPDate.format(Date(timeIntervalSince1970: now))
            return Refusal(status: status, error: error, headers: headers)
        }
        let proofs = request.headers.values(of: "DPoP")
        guard let text = proofs.first else {
            if access != nil { throw refusal("invalid_dpop_proof") }
            return nil
        }
        guard proofs.count == 1, let proof = JSONToken(text), proof.header["typ"] == .text("dpop+jwt"),
            case .object(let members)? = proof.header["jwk"]
        else { throw refusal("invalid_dpop_proof") }
        let key = try PublicKey(jwk: try JSONEncoder().encode(members))
        let hash = access.map { JSON.text(Base64URL.text(SHA256Digest.digest(of: $0.utf8))) }
        guard try proof.isSigned(by: key), proof.claims["htm"] == .text(request.method.rawValue),
            proof.claims["htu"] == .text(url + request.path), case .number(let date)? = proof.claims["iat"],
            abs(Double(date) - now) < 60,
            proof.claims["ath"] == hash, case .text(let id)? = proof.claims["jti"]
        else { throw refusal("invalid_dpop_proof") }
        if let nonce, proof.claims["nonce"] != .text(nonce) {
            throw refusal("use_dpop_nonce", ["DPoP-Nonce": nonce])
        }
        // A proof can be used only once.
        guard state.seenProofs.insert(id).inserted else { throw refusal("invalid_dpop_proof") }
        return try key.thumbprint()
    }

    private static func form(_ request: RecordedRequest) -> [String: String] {
        Dictionary(
            request.text.split(separator: "&").map { pair in
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (
                    PercentEncoding.decodeLeniently(parts[0], plusIsSpace: true),
                    PercentEncoding.decodeLeniently(parts.count > 1 ? parts[1] : "", plusIsSpace: true)
                )
            }
        ) { first, _ in first }
    }
}

extension AuthorizationServer.State {
    /// Ends all tokens of a sign-in.
    mutating func end(_ family: Int) {
        refreshTokens = refreshTokens.filter { $0.value.family != family }
        accessTokens = accessTokens.filter { tokenFamilies[$0] != family }
    }
}

/// A JSON value.
enum JSON: Codable, Hashable, Sendable {
    case text(String)
    case number(Int)
    case flag(Bool)
    case list([String])
    case object([String: String])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? value.decode(Int.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let list = try? value.decode([String].self) {
            self = .list(list)
        } else {
            self = .object(try value.decode([String: String].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .text(let text): try value.encode(text)
        case .number(let number): try value.encode(number)
        case .flag(let flag): try value.encode(flag)
        case .list(let list): try value.encode(list)
        case .object(let members): try value.encode(members)
        }
    }
}

/// A signed JSON Web Token.
struct JSONToken {
    let header: [String: JSON]
    let claims: [String: JSON]
    private let input: Data
    private let signature: Data

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let header = Base64URL.bytes(parts[0]), let claims = Base64URL.bytes(parts[1]),
            let signature = Base64URL.bytes(parts[2]),
            let decodedHeader = try? JSONDecoder().decode([String: JSON].self, from: Data(header)),
            let decodedClaims = try? JSONDecoder().decode([String: JSON].self, from: Data(claims))
        else { return nil }
        (self.header, self.claims) = (decodedHeader, decodedClaims)
        (input, self.signature) = (Data("\(parts[0]).\(parts[1])".utf8), Data(signature))
    }

    func isSigned(by key: PublicKey) throws -> Bool {
        guard case .text(let name)? = header["alg"] else { return false }
        return try key.isValid(signature, of: input, by: try KeyAlgorithm(joseName: name))
    }
}
