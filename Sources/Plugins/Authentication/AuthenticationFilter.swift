public import Errand

/// Sends requests with the credential of a session, and sends them again with a new one where it is refused.
///
/// It stands in both stages: in the first it adds the credential for the filters that follow, such as a timed cache, whose
/// key keeps users apart by it; in the second it adds the credential of the moment to each request on the wire that goes to
/// an origin that may see it, and sends that one request again where its response refuses it.
public struct AuthenticationFilter<C: Credential>: Filter {
    private let session: AuthenticationSession<C>
    // What each request needs, beside the session that holds it.
    private let keeper: CredentialKeeper
    private let origins: TrustedOrigins?
    private let isRejection: AuthenticationSession<C>.Rejection?

    init(_ session: AuthenticationSession<C>) {
        (self.session, keeper) = (session, session.keeper)
        (origins, isRejection) = (session.origins, session.isRejection)
    }

    /// Both: the first for what follows the filter among the call filters, the second for each request on the wire.
    public var stages: FilterStages { [.call, .hop] }
    /// Adds credentials.
    public var traits: FilterTraits { .authenticates }
    /// What it adds, and whether it refreshes.
    public var explanation: String { "adds \(C.self)" + (keeper.isRenewable ? ", refreshed when refused" : "") }

    /// Adds the credential, refreshed before where it has expired and after where it is refused. Throws
    /// ``AuthenticationError``; `bodyNotReplayable` where a refused request has a body that can be sent once.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.request.authorization == nil, exchange.tags[AuthenticationModeKey.self] != .never,
            mayHaveCredential(exchange), !keeper.isRefreshing
        else { return try await next(exchange) }
        return exchange.stage == .call ? try await prepare(exchange, next) : try await send(exchange, next)
    }

    private func mayHaveCredential(_ exchange: Exchange) -> Bool {
        origins?.contains(exchange.http.url) ?? exchange.isTrusted
    }

    private func prepare(_ exchange: Exchange, _ next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let headers = exchange.http.headers
        if let field = keeper.field, !headers.contains(field.name) {
            exchange.http.headers.set(field.name, field.value, sensitive: true)
            return try await next(exchange)
        }
        let known = headers[.authorization]
        if known != nil, keeper.credential == nil {
            exchange.tags[OwnCredentials.self].append(ObjectIdentifier(keeper))
            return try await next(exchange)
        }
        guard let lease = try await lease(.any, exchange) else { return try await next(exchange) }
        try authorize(&exchange, lease)
        if let known, known != exchange.http.headers[.authorization] {
            // The request has other credentials already, and they are meant.
            exchange.http.headers.set(.authorization, known, sensitive: true)
            exchange.tags[OwnCredentials.self].append(ObjectIdentifier(keeper))
        }
        return try await next(exchange)
    }

    private func send(_ exchange: Exchange, _ next: Next) async throws -> HTTPResponse {
        if exchange.tags[OwnCredentials.self].contains(ObjectIdentifier(keeper)) { return try await next(exchange) }
        var lease: CredentialKeeper.Lease
        if let ready = keeper.ready(exchange.time) {
            lease = ready
        } else if let other = try await self.lease(.valid(at: exchange.time.date), exchange) {
            lease = other
        } else {
            return try await next(exchange)
        }
        var isRefreshed = false
        // A request is sent with the credential of the moment, with the one after a refresh of others, and with its own.
        for _ in 0..<3 {
            var attempt = exchange
            try authorize(&attempt, lease)
            let response = try await next(attempt)
            guard keeper.isRenewable else { return response }
            if let isRejection {
                guard try await isRejection(response) else { return response }
            } else if response.status != 401 {
                return response
            }
            let need = CredentialKeeper.Need.refused(lease, isRepeated: isRefreshed)
            guard attempt.http.body.isReplayable else {
                keeper.renew(after: need, exchange.time)
                throw ErrandError(
                    .bodyNotReplayable, "the credential was refused, and the body can be sent only once",
                    response: response)
            }
            guard keeper.canRenew(after: need) else { return response }
            if response.body.data == nil { response.body.cancel() }
            exchange.note("authentication", "the credential was refused with status \(response.status)")
            guard let renewed = try await self.lease(need, exchange, refused: response) else { return response }
            (lease, isRefreshed) = (renewed, isRefreshed || renewed.isFresh)
        }
        var last = exchange
        try authorize(&last, lease)
        return try await next(last)
    }

    /// Nil where the request goes, or its response returns, as it is.
    private func lease(
        _ need: CredentialKeeper.Need, _ exchange: Exchange, refused response: HTTPResponse? = nil
    ) async throws -> CredentialKeeper.Lease? {
        if response == nil, let lease = keeper.ready(for: need) { return lease }
        let isOptional = exchange.tags[AuthenticationModeKey.self] == .ifSignedIn
        if isOptional, response == nil, keeper.credential == nil { return nil }
        switch await keeper.credential(for: need, exchange.time) {
        case .ready(let lease): return lease
        case .refused: return nil
        case .cancelled: throw CancellationError()
        case .failed(var error):
            if var response {
                if response.body.data == nil { response.body = .empty }
                error.response = response
            }
            throw error
        }
    }

    /// Adds a credential, and marks as sensitive what it has added.
    private func authorize(_ exchange: inout Exchange, _ lease: CredentialKeeper.Lease) throws {
        let before = exchange.http.headers
        if let field = lease.field {
            // As the call stage has set it: nothing is copied.
            if before.contains(field), before.count(where: { $0.name == field.name }) == 1 { return }
            return exchange.http.headers.set(field.name, field.value, sensitive: true)
        }
        try lease.credential.authorize(&exchange.http)
        let after = exchange.http.headers
        for index in after.indices where !after[index].isSensitive {
            if index < before.count && before[index] == after[index] || before.contains(after[index]) { continue }
            exchange.http.headers.set(after[index].name, after[index].value, sensitive: true)
        }
    }
}

/// The sessions whose credential a request goes without, because it has its own.
private enum OwnCredentials: TagKey {
    static var defaultValue: [ObjectIdentifier] { [] }
    static var affectsResponse: Bool { true }
}

extension Filter {
    /// `filters: [.authentication(session)]`
    public static func authentication<C>(_ session: AuthenticationSession<C>) -> Self
    where Self == AuthenticationFilter<C> { AuthenticationFilter(session) }
}

extension Filter where Self == AuthenticationFilter<Authorization> {
    /// Credentials that do not change, for each request on the wire that goes to an origin that may see them:
    /// `filters: [.authentication(.basic(user: "ada", password: password))]`.
    ///
    /// - Parameter origins: nil, the default, for those that the agent trusts.
    public static func authentication(_ authorization: Authorization, origins: TrustedOrigins? = nil) -> Self {
        AuthenticationFilter(AuthenticationSession(authorization, origins: origins))
    }
}
