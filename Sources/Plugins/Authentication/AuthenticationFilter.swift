public import Errand
import ErrandEssentials

/// Sends requests with the credential of a session, and sends them again with a new one after a refusal.
///
/// It runs in two stages. Among the call filters it adds the credential for the filters that follow: a timed cache
/// keeps users apart by it, and a signature covers it. On the wire it replaces that with the current credential, for
/// each request to an origin that may see it, and sends the request again if the response refuses the credential. If a
/// signature was made among the call filters, it's made again.
///
/// A call belongs to the user whose credential it began with. Once that user has signed out, or another one has signed
/// in, the call fails with an ``AuthenticationError`` instead of being sent as another user.
public struct AuthenticationFilter<C: Credential>: Filter {
    private let session: AuthenticationSession<C>
    /// What each request needs of the session. It isn't generic.
    let keeper: CredentialKeeper

    init(_ session: AuthenticationSession<C>) { (self.session, keeper) = (session, session.keeper) }

    var origins: TrustedOrigins? { keeper.rules.origins }

    /// Both stages: `.call` for the call filters that follow, `.hop` for each request on the wire.
    public var stages: FilterStages { [.call, .hop] }
    /// ``FilterTraits/authenticates``; also ``FilterTraits/repeatsHops`` if the credential can be refreshed.
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

    /// Adds the credential. Refreshes it before sending if it has expired, and after a refusal. Throws
    /// ``AuthenticationError``, and `bodyNotReplayable` if a refused request has a body that can be sent only once.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.request.authorization == nil, exchange.tags[AuthenticationMode.self] != .off else {
            return try await next(exchange)
        }
        if keeper.isOfHandler(exchange.http) { return try await next(withoutSession(exchange)) }
        guard mayHaveCredential(exchange) else { return try await next(withoutCredential(exchange)) }
        return exchange.stage == .call ? try await prepare(exchange, next) : try await send(exchange, next)
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

    /// Marks a request of the refresh handler, which stays one on each hop, however filters and redirects change it.
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
    /// Adds the credential for the call filters that follow, and starts over if a signature has to cover a new one.
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

    /// Returns the exchange with the credential, expired or not.
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

extension AuthenticationFilter {
    /// Returns a credential for the exchange; nil if the request is sent, or its response returned, unchanged. The call
    /// belongs to the user of its first lease.
    func lease(
        _ need: CredentialKeeper.Need, _ exchange: Exchange, _ member: CredentialKeeper.Membership?,
        refused response: HTTPResponse? = nil
    ) async throws -> CredentialKeeper.Lease? {
        if response == nil, let lease = keeper.ready(for: need, member) {
            if member == nil { try admit(lease, exchange) }
            return lease
        }
        let isOptional = exchange.tags[AuthenticationMode.self] == .ifSignedIn
        if isOptional, member == nil, let anonymous = keeper.anonymous {
            _ = join(anonymous, exchange)
            return nil
        }
        switch await keeper.credential(for: need, exchange.time, member) {
        case .ready(let lease):
            try admit(lease, exchange)
            return lease
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

    func admit(_ lease: CredentialKeeper.Lease, _ exchange: Exchange) throws {
        let member = join(lease.membership, exchange)
        if member.generation == lease.membership.generation { return }
        throw keeper.refusal(of: member) ?? AuthenticationError(.userChanged)
    }

    /// The user of the call. If the call hasn't sent a request yet, that's the user of its operation; nil if there is
    /// none.
    func member(of exchange: Exchange) -> CredentialKeeper.Membership? {
        if let known = exchange.value(of: keeper.membership) { return known }
        guard let pinned = exchange.userPin?.value(of: keeper.membership) else { return nil }
        return exchange.once(keeper.membership) { pinned }
    }

    /// The user of the call and of its operation; the given one, unless there was one before.
    private func join(
        _ member: CredentialKeeper.Membership, _ exchange: Exchange
    ) -> CredentialKeeper.Membership {
        exchange.once(keeper.membership) {
            guard let pin = exchange.userPin else { return member }
            return join(member, pin)
        }
    }

    /// The user of an operation; the given one, unless there was one before.
    func join(_ member: CredentialKeeper.Membership, _ pin: UserPin) -> CredentialKeeper.Membership {
        pin.once(keeper.membership, member, isOfUser: !member.isAnonymous) { [keeper] in
            // Without a user it goes on without, whoever signs in.
            if !member.isAnonymous, let refusal = keeper.refusal(of: member) { throw refusal }
        }
    }

    /// Adds a credential of a single field. Returns the mark of the user, if the credential names one.
    @discardableResult
    func authorize(
        _ exchange: inout Exchange, _ lease: CredentialKeeper.Lease, _ field: HTTPHeaders.Field
    ) -> UserMark? {
        var headers = exchange.http.headers
        if !headers.isOnly(field) {
            headers.set(field)
            exchange.http.headers = headers
        }
        let mark = lease.owner.map { UserMark($0, source: "\(C.self)") }
        // Without an array for calls by themselves.
        if exchange.userPin != nil { exchange.vouch(for: mark, carriedBy: [field]) }
        guard let mark else { return nil }
        exchange.belongs(to: mark, carriedBy: [field])
        return mark
    }

    /// Adds a credential, and marks the added parts as sensitive. Returns the mark of the user, if the added fields
    /// don't imply one.
    @discardableResult
    func authorize(_ exchange: inout Exchange, _ lease: CredentialKeeper.Lease) throws
        -> UserMark?
    {
        if let field = lease.field { return authorize(&exchange, lease, field) }
        let before = exchange.http
        try lease.credential.authorize(&exchange.http)
        let old = before.headers
        // A mark belongs to a name, and so to each field of it: the credential may have added several, or one to a
        // field that the request had.
        let changed = Self.namesOfChange(from: old, to: exchange.http.headers)
        if !changed.isEmpty {
            exchange.http.headers = HTTPHeaders(
                exchange.http.headers.map { field in
                    var field = field
                    if changed.contains(field.name) { field.isSensitive = true }
                    return field
                })
        }
        let carriers = exchange.http.headers.filter { field in
            field.isSensitive && !old.contains { $0.name == field.name && $0.value == field.value }
        }
        if let owner = lease.owner {
            let mark = UserMark(owner, source: "\(C.self)")
            exchange.belongs(to: mark, carriedBy: Array(carriers))
            exchange.vouch(for: mark, carriedBy: Array(carriers))
            return mark
        }
        guard let identity = AddedCredential.identity(before, exchange.http) else {
            exchange.vouch(for: nil, carriedBy: Array(carriers))
            return nil
        }
        let mark = UserMark(identity, source: "\(C.self)")
        exchange.belongs(to: mark)
        exchange.vouch(for: mark, carriedBy: Array(carriers))
        return mark
    }

    /// Returns the names of the header fields that a credential has changed.
    private static func namesOfChange(from old: HTTPHeaders, to new: HTTPHeaders) -> Set<HTTPHeaderName> {
        if old == new { return [] }
        return Set(new.lazy.map(\.name)).filter { old.values(of: $0) != new.values(of: $0) }
    }
}

/// The sessions whose credential a request does without, because it has its own or belongs to the handler.
enum OwnCredentials: TagKey {
    static var defaultValue: [ObjectIdentifier] { [] }
    static var affectsResponse: Bool { true }
}

/// Thrown to run the call filters after this one again with a new credential.
struct Restart: Error {
    let keeper: CredentialKeeper
    let repetition: AddedCredential.Repetition
}
