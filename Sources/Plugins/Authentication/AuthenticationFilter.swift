public import Errand
import ErrandEssentials
import ErrandSupport

/// Adds a session's credential to requests. If the server refuses the credential, the filter sends the request again
/// with a new credential.
///
/// The filter runs twice:
///
/// - In the call stage, the filter adds the credential for later filters. For example, timed caches separate users by
///   the credential, and signatures cover it.
/// - Right before each request is sent, the filter adds the current credential, if the request's origin is trusted. If
///   the server refuses the credential, the filter repeats the request. If a filter of the call stage signs the
///   request, that filter runs again too.
///
/// A call belongs to the user who is signed in when the call first needs the credential. If that user signs out or
/// another user signs in, the call throws ``AuthenticationError``.
public struct AuthenticationFilter<C: Credential>: Filter {
    private let session: AuthenticationSession<C>
    let keeper: CredentialKeeper
    private let source: String

    init(_ session: AuthenticationSession<C>) {
        (self.session, keeper, source) = (session, session.keeper, "\(C.self)")
    }

    var origins: TrustedOrigins? { keeper.rules.origins }

    /// `.call` adds the credential for later call filters, and `.hop` adds it to each request on the wire.
    public var stages: FilterStages { [.call, .hop] }
    /// ``FilterTraits/authenticates``, and ``FilterTraits/repeatsHops`` if the credential can be refreshed.
    public var traits: FilterTraits {
        keeper.isRenewable ? [.authenticates, .repeatsHops] : .authenticates
    }
    /// The filter's line in `agent.explain`: the credential's type, and whether the credential can be refreshed.
    public var explanation: String {
        "adds \(C.self)" + (keeper.isRenewable ? ", refreshed when rejected" : "")
    }

    /// Reports a problem if an outer filter adds the same type of credential for the same origins.
    public func orderProblem(after outer: any Filter) -> String? {
        guard let outer = outer as? Self, outer.origins == origins else { return nil }
        return "both add a credential of the same type for the same origins; use only one session"
    }

    /// Sends the request with the credential. Refreshes the credential if it has expired, or if a response refuses it.
    ///
    /// Throws ``AuthenticationError``, or `bodyNotReplayable` if the body of a refused request can be read only once.
    @inline(__always) public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let attempt = try attemptAtOnce(exchange, next) else {
            return exchange.stage == .call ? try await prepare(exchange, next) : try await send(exchange, to: next)
        }
        let stagedWork = exchange.stagedWorkCount
        let response = try await next(attempt.exchange)
        guard let lease = attempt.lease, !isAccepted(response, lease) else { return response }
        return try await send(exchange, to: next, with: lease, replacing: nil, refused: (response, stagedWork))
    }

    /// Adds a valid credential without waiting. Returns nil if the slow path is needed. This function isn't async,
    /// because most requests find a valid credential, and an async function would cost each of these requests an async
    /// frame.
    @inline(never) private func attemptAtOnce(_ exchange: Exchange, _ next: Next) throws -> Attempt? {
        guard exchange.request.authorization == nil, exchange.tags[AuthenticationMode.self] != .off else {
            return Attempt(exchange: exchange)
        }
        if keeper.isOfHandler(exchange.http) { return Attempt(exchange: withoutSession(exchange)) }
        guard mayHaveCredential(exchange) else { return Attempt(exchange: try withoutCredential(exchange)) }
        let isCall = exchange.stage == .call
        if isCall ? waitsAmongCallFilters(exchange, next.following) : waitsOnWire(exchange, next.following) {
            return nil
        }
        let member = member(of: exchange)
        if member?.isAnonymous == true { return Attempt(exchange: exchange) }
        let ready = isCall ? keeper.ready(for: .any, member) : keeper.ready(exchange.time, member)
        guard let lease = ready, let field = lease.field else { return nil }
        if member == nil { try admit(lease, exchange) }
        var attempt = Attempt(exchange: exchange, lease: isCall ? nil : lease)
        _ = authorize(&attempt.exchange, with: lease, field: field)
        return attempt
    }

    /// Returns whether a call needs the slow path. It does if the credential is limited to some origins, a later filter
    /// signs the credential, or the request already has an `Authorization` field.
    private func waitsAmongCallFilters(_ exchange: Exchange, _ following: FilterTraits) -> Bool {
        origins != nil || isSigned(following) || exchange.http.headers.contains(.authorization)
    }

    /// Returns whether a request on the wire needs the slow path. It does if the request has other credentials, or if
    /// more than the status decides whether a response refuses the credential.
    private func waitsOnWire(_ exchange: Exchange, _ following: FilterTraits) -> Bool {
        if !exchange.tags[OwnCredentials.self].isEmpty || added(to: exchange) != nil { return true }
        if Refusals.areShared(exchange, following) || exchange.isRecordingUsers { return true }
        return keeper.isRenewable && (keeper.rules.isRejection != nil || exchange.request.outcomeCheck != nil)
    }

    @inline(never) private func isAccepted(_ response: HTTPResponse, _ lease: CredentialKeeper.Lease) -> Bool {
        if keeper.isRenewable, keeper.rules.is401Rejection, response.status == 401 { return false }
        accept(lease, response)
        return true
    }

    private func isSigned(_ following: FilterTraits) -> Bool { keeper.isRenewable && following.contains(.signs) }

    private func mayHaveCredential(_ exchange: Exchange) -> Bool {
        origins?.contains(exchange.http.url) ?? exchange.isTrusted
    }

    private func withoutCredential(_ exchange: Exchange) throws -> Exchange {
        guard let added = added(to: exchange) else { return exchange }
        guard let request = added.removed(from: exchange.http) else {
            throw ErrandError(
                .invalidRequest, "the body contains a credential, but the request's origin isn't trusted with it")
        }
        var exchange = exchange
        exchange.http = request
        if let mark = added.mark { exchange.unassign(from: mark) }
        return exchange
    }

    /// Tags a request that the refresh handler sends, so this session's credential isn't added to the request. The tag
    /// also applies to redirects.
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

/// Not nested in the filter, because a type nested in a generic type looks up metadata at each use.
private struct Attempt {
    var exchange: Exchange
    var lease: CredentialKeeper.Lease?
}

// MARK: - The call

extension AuthenticationFilter {
    private func prepare(_ exchange: Exchange, _ next: Next) async throws -> HTTPResponse {
        var repetition = AddedCredential.Repetition()
        while true {
            let prepared = try await prepared(exchange, before: next.following, repetition: repetition)
            guard let added = added(to: prepared) else { return try await next(prepared) }
            let stagedWork = exchange.stagedWorkCount
            do {
                let response = try await next(prepared)
                guard let restart = added.requiredRestart else { return response }
                await exchange.discard(response)
                repetition = restart.repetition
            } catch {
                // This request may have waited for the response to an equal request of another call, which restarts.
                let other = (error as? Restart).flatMap { $0.keeper === keeper ? $0 : nil }
                guard let restart = other ?? added.requiredRestart else { throw error }
                repetition = restart.repetition
            }
            await exchange.discardStagedWork(after: stagedWork)
        }
    }

    private func prepared(
        _ exchange: Exchange, before following: FilterTraits, repetition: AddedCredential.Repetition
    ) async throws -> Exchange {
        var prepared = exchange
        let own = exchange.http.headers[.authorization]
        if own != nil, keeper.credential == nil {
            prepared.tags[OwnCredentials.self].append(ObjectIdentifier(keeper))
            return prepared
        }
        let member = member(of: exchange)
        if member?.isAnonymous == true { return exchange }
        guard let lease = try await lease(.any, for: exchange, member: member) else { return exchange }
        let mark = try authorize(&prepared, with: lease)
        if let own, own != prepared.http.headers[.authorization] {
            prepared.http.headers.set(.authorization, own, sensitive: true)
            prepared.tags[OwnCredentials.self].append(ObjectIdentifier(keeper))
            return prepared
        }
        // On the wire, a single field is replaced by name, without an `AddedCredential`.
        let isSigned = isSigned(following)
        if lease.field == nil || origins != nil || isSigned {
            let added = AddedCredential(
                keeper, lease: lease, before: exchange.http, after: prepared.http, mark: mark, isSigned: isSigned,
                repetition: repetition)
            prepared.tags[AddedCredentials.self].append(added)
        }
        return prepared
    }
}

extension AuthenticationFilter: CustomReflectable {
    /// An empty mirror that hides secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Filter {
    /// Adds a session's credential: `filters: [.authentication(session)]`.
    public static func authentication<C>(_ session: AuthenticationSession<C>) -> Self
    where Self == AuthenticationFilter<C> { AuthenticationFilter(session) }
}

extension Filter where Self == AuthenticationFilter<Authorization> {
    /// Adds fixed credentials: `filters: [.authentication(.basic(user: "ada", password: password))]`.
    ///
    /// - Parameters:
    ///   - authorization: The credentials.
    ///   - origins: The origins that receive the credentials. Defaults to nil, which means the agent's trusted origins.
    public static func authentication(_ authorization: Authorization, origins: TrustedOrigins? = nil)
        -> Self
    {
        AuthenticationFilter(AuthenticationSession(authorization, origins: origins))
    }

    /// Unavailable. Pass a session or fixed credentials.
    @available(*, unavailable, message: "pass a session, .authentication(session), or fixed credentials")
    public static var authentication: Self { authentication(.omitted) }
}

extension AuthenticationFilter {
    /// Returns the current credential, and refreshes it first if necessary. Returns nil to continue without a new
    /// credential. The first credential of a call determines the call's user.
    func lease(
        _ need: CredentialKeeper.Need, for exchange: Exchange, member: CredentialKeeper.Membership?,
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
        let start = exchange.time.now
        switch await keeper.credential(for: need, exchange.time, member) {
        case .ready(let lease):
            if lease.isFresh {
                let wait = start.duration(to: exchange.time.now)
                exchange.note("authentication", describing: AuthenticationNote.waited(wait))
            }
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

    /// Returns the user that the call belongs to. If the call hasn't sent a request yet, returns the user of the call's
    /// operation.
    func member(of exchange: Exchange) -> CredentialKeeper.Membership? {
        if let known = exchange.value(of: keeper.membership) { return known }
        guard let pinned = exchange.userPin?.value(of: keeper.membership) else { return nil }
        return exchange.once(keeper.membership) { pinned }
    }

    private func join(
        _ member: CredentialKeeper.Membership, _ exchange: Exchange
    ) -> CredentialKeeper.Membership {
        exchange.once(keeper.membership) {
            guard let pin = exchange.userPin else { return member }
            return pin.once(keeper.membership, member, isOfUser: !member.isAnonymous) { [keeper] in
                // An operation that began without a user continues without one, even after a sign-in.
                if !member.isAnonymous, let refusal = keeper.refusal(of: member) { throw refusal }
            }
        }
    }

    private func authorize(
        _ exchange: inout Exchange, with lease: CredentialKeeper.Lease, field: HTTPHeaders.Field
    ) -> UserMark? {
        var headers = exchange.http.headers
        if !headers.isOnly(field) {
            headers.set(field)
            exchange.http.headers = headers
        }
        let mark = lease.owner.map { UserMark($0, source: source) }
        // Allocates an array, so only for calls in an operation.
        if exchange.userPin != nil { exchange.vouch(for: mark, carriedBy: [field]) }
        guard let mark else { return nil }
        exchange.assign(to: mark, carriedBy: [field])
        return mark
    }

    /// Adds a credential to a request and marks the added fields as sensitive. Returns nil if these fields identify the
    /// user.
    @discardableResult
    func authorize(_ exchange: inout Exchange, with lease: CredentialKeeper.Lease) throws
        -> UserMark?
    {
        if let field = lease.field { return authorize(&exchange, with: lease, field: field) }
        let before = exchange.http
        try lease.credential.authorize(&exchange.http)
        let old = before.headers
        // Sensitivity applies to all fields with the same name.
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
            field.isSensitive && !old.contains { $0.name == field.name && $0.value.hasSameBytes(as: field.value) }
        }
        let items = AddedCredential.queryItems(before, exchange.http)
        if let owner = lease.owner {
            let mark = UserMark(owner, source: source)
            exchange.assign(to: mark, carriedBy: Array(carriers), queryItems: items)
            exchange.vouch(for: mark, carriedBy: Array(carriers))
            return mark
        }
        guard let identity = AddedCredential.identity(before, exchange.http) else {
            exchange.vouch(for: nil, carriedBy: Array(carriers))
            return nil
        }
        let mark = UserMark(identity, source: source)
        exchange.assign(to: mark, queryItems: items)
        exchange.vouch(for: mark, carriedBy: Array(carriers))
        return mark
    }

    private static func namesOfChange(from old: HTTPHeaders, to new: HTTPHeaders) -> Set<HTTPHeaderName> {
        if old == new { return [] }
        return Set(new.lazy.map(\.name)).filter { old.values(of: $0) != new.values(of: $0) }
    }
}

/// The sessions that don't add their credential to a request, because the request has its own credentials or comes from
/// their handler.
enum OwnCredentials: TagKey {
    static var defaultValue: [ObjectIdentifier] { [] }
    static var affectsResponse: Bool { true }
}

/// Thrown to run the later call filters again with a new credential. See ``AddedCredential/requiredRestart``.
struct Restart: Error, CustomStringConvertible {
    let keeper: CredentialKeeper
    let repetition: AddedCredential.Repetition

    var description: String { "the request is prepared again with a new credential" }
}
