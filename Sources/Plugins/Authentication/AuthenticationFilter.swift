public import Errand

/// Sends requests with the credential of a session, and sends them again with a new one where it is refused.
///
/// It stands in both stages: in the first it adds the credential for the filters that follow, such as a timed cache, whose
/// key keeps users apart by it, or a signature; in the second it puts the credential of the moment in its place, on each
/// request on the wire that goes to an origin that may see it, and sends that one request again where its response refuses
/// it. Where a signature was made among the call filters, it is made again for that.
///
/// A call belongs to the user with whose credential it began. Once that user has signed out, or another one has signed in,
/// it fails with an ``AuthenticationError`` rather than being sent as another.
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
    /// Adds credentials; those that can be refreshed repeat a request on the wire.
    public var traits: FilterTraits {
        keeper.isRenewable ? [.authenticates, .repeatsHops] : .authenticates
    }
    /// What it adds, and whether it refreshes.
    public var explanation: String {
        "adds \(C.self)" + (keeper.isRenewable ? ", refreshed when refused" : "")
    }

    /// Adds the credential, refreshed before where it has expired and after where it is refused. Throws
    /// ``AuthenticationError``; `bodyNotReplayable` where a refused request has a body that can be sent once.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.request.authorization == nil,
            exchange.tags[AuthenticationModeKey.self] != .never,
            !keeper.isRefreshing
        else { return try await next(exchange) }
        guard mayHaveCredential(exchange) else { return try await next(withoutCredential(exchange)) }
        return exchange.stage == .call
            ? try await prepare(exchange, next) : try await send(exchange, next)
    }

    private func mayHaveCredential(_ exchange: Exchange) -> Bool {
        origins?.contains(exchange.http.url) ?? exchange.isTrusted
    }

    /// For an origin that may not see what was added for another one.
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

    private func added(to exchange: Exchange) -> AddedCredential? {
        exchange.tags[AddedCredentials.self].last { $0.keeper === keeper }
    }
}

// MARK: - The call

extension AuthenticationFilter {
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
        let member = exchange.value(of: keeper.membership)
        if member?.isAnonymous == true { return exchange }
        guard let lease = try await lease(.any, exchange, member) else { return exchange }
        let mark = try authorize(&prepared, lease)
        if let own, own != prepared.http.headers[.authorization] {
            // The request has other credentials already, and they are meant.
            prepared.http.headers.set(.authorization, own, sensitive: true)
            prepared.tags[OwnCredentials.self].append(ObjectIdentifier(keeper))
            return prepared
        }
        // A single field is replaced by its name.
        let isSigned = keeper.isRenewable && following.contains(.signs)
        if lease.field == nil || origins != nil || isSigned {
            let added = AddedCredential(
                keeper, lease, exchange.http, prepared.http, mark, isSigned, repetition)
            prepared.tags[AddedCredentials.self].append(added)
        }
        return prepared
    }
}

// MARK: - The wire

extension AuthenticationFilter {
    private func send(_ exchange: Exchange, _ next: Next) async throws -> HTTPResponse {
        if exchange.tags[OwnCredentials.self].contains(ObjectIdentifier(keeper)) {
            return try await next(exchange)
        }
        let member = exchange.value(of: keeper.membership)
        if member?.isAnonymous == true { return try await next(exchange) }
        let added = added(to: exchange)
        var lease: CredentialKeeper.Lease
        if let ready = keeper.ready(exchange.time, member) {
            lease = ready
            if member == nil { try admit(lease, exchange) }
        } else if let stored = try await stored(exchange, next, added, member) {
            return stored
        } else if let other = try await self.lease(.valid(at: exchange.time.date), exchange, member) {
            lease = other
        } else {
            return try await next(exchange)
        }
        var repetition = added?.repetition ?? AddedCredential.Repetition()
        while true {
            let isRecorded = exchange.isRecordingUsers
            let (recorded, record) = isRecorded ? exchange.recordingUsers() : (exchange, nil)
            let attempt = try attempt(recorded, lease, added, repetition)
            let response = try await next(attempt)
            // A request is sent with the credential of the moment, with the one after a refresh of others, with its own, and
            // once more.
            let isLast = repetition.count == 3 || !keeper.isRenewable
            guard !isLast, try await isRefused(response) else {
                record?.commit()
                return response
            }
            let need = CredentialKeeper.Need.refused(lease, isRepeated: repetition.isRefreshed)
            guard attempt.http.body.isReplayable else {
                keeper.renew(after: need, exchange.time)
                throw ErrandError(
                    .bodyNotReplayable, "the credential was refused, and the body can be sent only once",
                    response: response)
            }
            guard keeper.canRenew(after: need) else {
                record?.commit()
                return response
            }
            if response.body.data == nil { response.body.cancel() }
            exchange.note("authentication", "the credential was refused with status \(response.status)")
            guard let renewed = try await self.lease(need, exchange, lease.membership, refused: response)
            else {
                record?.commit()
                return response
            }
            lease = renewed
            repetition = repetition.next(isRefreshed: renewed.isFresh)
            if let added, added.isSigned, exchange.hop == 1 {
                throw Restart(keeper: keeper, repetition: repetition)
            }
        }
    }

    private func isRefused(_ response: HTTPResponse) async throws -> Bool {
        if let isRejection { return try await isRejection(response) }
        return response.status == 401
    }

    /// The request with a credential, in the place of the one that the call stage has added.
    private func attempt(
        _ exchange: Exchange, _ lease: CredentialKeeper.Lease, _ added: AddedCredential?,
        _ repetition: AddedCredential.Repetition
    ) throws -> Exchange {
        var attempt = exchange
        guard let added, lease.field == nil || added.lease.field == nil else {
            try authorize(&attempt, lease)
            return attempt
        }
        let isSame = lease.isSame(as: added.lease)
        if isSame, added.isUnchanged(in: exchange.http), added.claim() { return attempt }
        guard let bare = added.removed(from: exchange.http) else {
            // Filters have made another body of the one with the credential.
            if isSame || exchange.hop > 1 { return attempt }
            throw Restart(keeper: keeper, repetition: repetition)
        }
        attempt.http = bare
        if let mark = added.mark { attempt.belongsNoLonger(to: mark) }
        try authorize(&attempt, lease)
        return attempt
    }

    /// The response of a cache that follows, though the credential has to be refreshed before anything is sent; nil where
    /// there is none.
    private func stored(
        _ exchange: Exchange, _ next: Next, _ added: AddedCredential?,
        _ member: CredentialKeeper.Membership?
    ) async throws -> HTTPResponse? {
        guard next.following.contains(.caches), let known = keeper.ready(for: .any, member) else {
            return nil
        }
        if member == nil { try admit(known, exchange) }
        let attempt = try attempt(exchange, known, added, AddedCredential.Repetition())
        let before = added?.removed(from: exchange.http) ?? exchange.http
        let tried = AddedCredential(keeper, known, before, attempt.http, added?.mark)
        let threshold = ClosureFilter(.hop) { reached, next in
            // What the cache does by itself, such as a validation, is an activity of its own and can wait.
            if reached.activity.id == exchange.activity.id { throw CredentialDue(keeper: keeper) }
            let member = reached.value(of: keeper.membership)
            guard let lease = try await lease(.valid(at: reached.time.date), reached, member) else {
                return try await next(reached)
            }
            return try await next(self.attempt(reached, lease, tried, AddedCredential.Repetition()))
        }
        do {
            let response = try await next.inserting(threshold, behind: .caches)(attempt)
            if try await !isRefused(response) { return response }
            if response.body.data == nil { response.body.cancel() }
            return nil
        } catch let due as CredentialDue where due.keeper === keeper { return nil }
    }
}

// MARK: - Credentials

extension AuthenticationFilter {
    /// Nil where the request goes, or its response returns, as it is. The call belongs to the user of its first lease.
    private func lease(
        _ need: CredentialKeeper.Need, _ exchange: Exchange, _ member: CredentialKeeper.Membership?,
        refused response: HTTPResponse? = nil
    ) async throws -> CredentialKeeper.Lease? {
        if response == nil, let lease = keeper.ready(for: need, member) {
            if member == nil { try admit(lease, exchange) }
            return lease
        }
        let isOptional = exchange.tags[AuthenticationModeKey.self] == .ifSignedIn
        if isOptional, member == nil, let anonymous = keeper.anonymous {
            _ = exchange.once(keeper.membership) { anonymous }
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

    private func admit(_ lease: CredentialKeeper.Lease, _ exchange: Exchange) throws {
        let member = exchange.once(keeper.membership) { lease.membership }
        if let error = keeper.refusal(of: member) { throw error }
        if member.generation != lease.membership.generation { throw AuthenticationError(.userChanged) }
    }

    /// Adds a credential, and marks as sensitive what it has added. Returns the mark of the user, where the fields are none.
    @discardableResult
    private func authorize(_ exchange: inout Exchange, _ lease: CredentialKeeper.Lease) throws
        -> UserMark?
    {
        let before = exchange.http
        if let field = lease.field {
            // As the call stage has set it: nothing is copied.
            if !before.headers.contains(field)
                || before.headers.count(where: { $0.name == field.name }) != 1
            {
                exchange.http.headers.set(field.name, field.value, sensitive: true)
            }
            guard let owner = lease.owner else { return nil }
            let mark = UserMark(owner, source: "\(C.self)")
            exchange.belongs(to: mark, carriedBy: [field])
            return mark
        }
        try lease.credential.authorize(&exchange.http)
        let (old, after) = (before.headers, exchange.http.headers)
        for index in after.indices where !after[index].isSensitive {
            if index < old.count && old[index] == after[index] || old.contains(after[index]) { continue }
            exchange.http.headers.set(after[index].name, after[index].value, sensitive: true)
        }
        let carriers = exchange.http.headers.filter { $0.isSensitive && !old.contains($0) }
        if let owner = lease.owner {
            let mark = UserMark(owner, source: "\(C.self)")
            exchange.belongs(to: mark, carriedBy: Array(carriers))
            return mark
        }
        guard let identity = AddedCredential.identity(before, exchange.http) else { return nil }
        let mark = UserMark(identity, source: "\(C.self)")
        exchange.belongs(to: mark)
        return mark
    }
}

extension AuthenticationFilter: CustomReflectable {
    /// No children, which would hold the credential.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The sessions whose credential a request goes without, because it has its own.
private enum OwnCredentials: TagKey {
    static var defaultValue: [ObjectIdentifier] { [] }
    static var affectsResponse: Bool { true }
}

/// Begins the call anew from the place of the filter among the call filters, whose signature is made anew.
private struct Restart: Error {
    let keeper: CredentialKeeper
    let repetition: AddedCredential.Repetition
}

/// Nothing is stored, and the credential has to be refreshed before the request is sent.
private struct CredentialDue: Error {
    let keeper: CredentialKeeper
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
    public static func authentication(_ authorization: Authorization, origins: TrustedOrigins? = nil)
        -> Self
    {
        AuthenticationFilter(AuthenticationSession(authorization, origins: origins))
    }
}
