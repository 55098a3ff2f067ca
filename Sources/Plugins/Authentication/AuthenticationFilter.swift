public import Errand

/// Sends requests with the credential of a session, and sends them again with a new one after a refusal.
///
/// It stands in the call and the hop stage: in the first it adds the credential for the filters that follow, such as a timed cache,
/// whose key keeps users apart by it, or a signature; in the second it replaces it by the current credential, on each
/// request on the wire to an origin that may see it, and sends that one request again if its response refuses it. A
/// signature that was made among the call filters is then made again.
///
/// A call belongs to the user with whose credential it began. Once that user has signed out, or another one has signed
/// in, it fails with an ``AuthenticationError`` instead of being sent as another user.
public struct AuthenticationFilter<C: Credential>: Filter {
    private let session: AuthenticationSession<C>
    /// What each request needs of the session: a reference of no generic type.
    let keeper: CredentialKeeper

    init(_ session: AuthenticationSession<C>) { (self.session, keeper) = (session, session.keeper) }

    var origins: TrustedOrigins? { keeper.rules.origins }

    /// Both: the first for the call filters behind this one, the second for each request on the wire.
    public var stages: FilterStages { [.call, .hop] }
    /// Adds credentials; those that can be refreshed repeat a request on the wire.
    public var traits: FilterTraits {
        keeper.isRenewable ? [.authenticates, .repeatsHops] : .authenticates
    }
    /// The credential that it adds, and whether it refreshes.
    public var explanation: String {
        "adds \(C.self)" + (keeper.isRenewable ? ", refreshed when refused" : "")
    }

    /// Another session with credentials of the same type and for the same origins is misplaced.
    public func orderProblem(after outer: any Filter) -> String? {
        guard let outer = outer as? Self, outer.origins == origins else { return nil }
        return "both add a credential of the same type for the same origins; one session is enough"
    }

    /// Adds the credential; refreshes it before sending if it has expired, and after a refusal. Throws
    /// ``AuthenticationError``; `bodyNotReplayable` if a refused request has a body that can be sent only once.
    @inline(__always) public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        // Most requests wait for nothing: they are spared the frames of the functions that do, and that of a witness.
        guard let (ready, lease) = try ready(exchange, next) else {
            return try await wait(exchange, next)
        }
        let stagedWork = lease == nil ? 0 : ready.stagedWorkCount
        let response = try await next(ready)
        guard let lease, isRefused(response, lease) else { return response }
        return try await send(ready, next, lease, received: (response, stagedWork))
    }

    /// The exchange as it goes on, and the lease that its response may refuse; nil where something has to be awaited,
    /// or kept for a repetition.
    private func ready(_ exchange: Exchange, _ next: Next) throws -> (Exchange, CredentialKeeper.Lease?)? {
        let (tags, isCall) = (exchange.tags, exchange.stage == .call)
        let member = isCall ? nil : exchange.value(of: keeper.membership)
        // What a request says for itself is asked once.
        let isPlain = member?.isPlain == true
        guard isPlain || exchange.request.authorization == nil, tags[AuthenticationMode.self] != .off else {
            return (exchange, nil)
        }
        if keeper.isOfHandler(exchange.http) { return (withoutSession(exchange), nil) }
        guard mayHaveCredential(exchange) else { return (try withoutCredential(exchange), nil) }
        if isCall { return try readyCall(exchange, next).map { ($0, nil) } }
        return isPlain ? try readyHop(exchange, tags, next, member) : nil
    }

    @inline(never) private func wait(_ exchange: Exchange, _ next: Next) async throws -> HTTPResponse {
        exchange.stage == .call ? try await prepare(exchange, next) : try await send(exchange, next)
    }

    private func mayHaveCredential(_ exchange: Exchange) -> Bool {
        origins?.contains(exchange.http.url) ?? exchange.isTrusted
    }

    /// Removes the credential for an origin that may not see it.
    private func withoutCredential(_ exchange: Exchange) throws -> Exchange {
        guard let added = added(to: exchange) else { return exchange }
        guard let request = added.removed(from: exchange.http) else {
            throw ErrandError(.invalidRequest, "the body has a credential that its origin may not see")
        }
        var exchange = exchange
        exchange.http = request
        if let mark = added.mark { exchange.belongsNoLonger(to: mark) }
        return exchange
    }

    /// A request of the handler remains one on each hop, however filters and redirects change it.
    private func withoutSession(_ exchange: Exchange) -> Exchange {
        guard exchange.stage == .call else { return exchange }
        var exchange = exchange
        exchange.tags[OwnCredentials.self].append(ObjectIdentifier(keeper))
        return exchange
    }

    func added(to exchange: Exchange) -> AddedCredential? {
        exchange.tags[AddedCredentials.self].last { $0.keeper === keeper }
    }
}

// MARK: - The call

extension AuthenticationFilter {
    /// A call whose requests on the wire replace the credential by its name alone.
    private func readyCall(_ exchange: Exchange, _ next: Next) throws -> Exchange? {
        let isSigned = keeper.isRenewable && next.following.contains(.signs)
        guard origins == nil, !isSigned, !exchange.http.headers.contains(.authorization),
            let lease = keeper.ready(for: .any, nil), let field = lease.field
        else { return nil }
        let member = exchange.once(keeper.membership) {
            var member = exchange.userPin.map { join(lease.membership, $0) } ?? lease.membership
            member.isPlain = exchange.request.outcomeCheck == nil
            return member
        }
        guard member.isOf(lease) else { return nil }
        var exchange = exchange
        authorize(&exchange, lease, field)
        return exchange
    }

    private func prepare(_ exchange: Exchange, _ next: Next) async throws -> HTTPResponse {
        var repetition = AddedCredential.Repetition()
        while true {
            let prepared = try await prepared(exchange, next.following, repetition)
            do { return try await next(prepared) } catch let restart as Restart
                where restart.keeper === keeper
            {
                repetition = restart.repetition
            }
        }
    }

    /// The exchange with the credential, expired or not.
    private func prepared(
        _ exchange: Exchange, _ following: FilterTraits, _ repetition: AddedCredential.Repetition
    ) async throws -> Exchange {
        var prepared = exchange
        let own = exchange.http.headers[.authorization]
        if own != nil, keeper.credential == nil {
            prepared.tags[OwnCredentials.self].append(ObjectIdentifier(keeper))
            return prepared
        }
        let member = member(of: exchange)
        if member?.isAnonymous == true { return exchange }
        guard let lease = try await lease(.any, exchange, member) else { return exchange }
        let mark = try authorize(&prepared, lease)
        if let own, own != prepared.http.headers[.authorization] {
            // The request has other credentials already, which take precedence.
            prepared.http.headers.set(.authorization, own, sensitive: true)
            prepared.tags[OwnCredentials.self].append(ObjectIdentifier(keeper))
            return prepared
        }
        // A single field can be replaced by its name.
        let isSigned = keeper.isRenewable && following.contains(.signs)
        if lease.field == nil || origins != nil || isSigned {
            let added = AddedCredential(
                keeper, lease, exchange.http, prepared.http, mark, isSigned, repetition)
            prepared.tags[AddedCredentials.self].append(added)
        }
        return prepared
    }
}

extension AuthenticationFilter: CustomReflectable {
    /// Empty: children would show the credential.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Filter {
    /// `filters: [.authentication(session)]`
    public static func authentication<C>(_ session: AuthenticationSession<C>) -> Self
    where Self == AuthenticationFilter<C> { AuthenticationFilter(session) }
}

extension Filter where Self == AuthenticationFilter<Authorization> {
    /// Credentials that do not change, for each request on the wire to an origin that may see them: `filters:
    /// [.authentication(.basic(user: "ada", password: password))]`.
    ///
    /// - Parameters:
    ///   - authorization: the credentials.
    ///   - origins: nil, the default, means those that the agent trusts.
    public static func authentication(_ authorization: Authorization, origins: TrustedOrigins? = nil)
        -> Self
    {
        AuthenticationFilter(AuthenticationSession(authorization, origins: origins))
    }
}
