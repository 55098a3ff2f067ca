import Errand
import ErrandEssentials

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
