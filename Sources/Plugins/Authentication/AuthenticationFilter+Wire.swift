import Errand
import ErrandEssentials
import Synchronization

/// The part of the filter that runs right before a request is sent. The filter adds a credential in three ways:
///
/// - `attemptAtOnce` adds a valid credential that is a single field. It doesn't wait, so most requests need no async
///   frame for authentication.
/// - `prepared` adds the credential in the call stage, so later filters, such as caches and signatures, know the user.
/// - `attempt` adds the current credential right before sending. It replaces the credential of the call stage, which
///   may have expired since then, and each repetition after a refusal uses it again.
extension AuthenticationFilter {
    func accept(_ lease: CredentialKeeper.Lease, _ response: HTTPResponse) {
        if lease.isOnTrial, response.status < 500, !response.source.isStored { keeper.accept(lease) }
    }

    func send(_ exchange: Exchange, to next: Next) async throws -> HTTPResponse {
        if exchange.tags[OwnCredentials.self].contains(ObjectIdentifier(keeper)) {
            return try await next(exchange)
        }
        let member = member(of: exchange)
        if member?.isAnonymous == true { return try await next(exchange) }
        let added = added(to: exchange)
        if let restart = added?.requiredRestart { throw restart }
        let lease: CredentialKeeper.Lease
        if let ready = keeper.ready(exchange.time, member) {
            lease = ready
            if member == nil { try admit(lease, exchange) }
        } else if let stored = try await stored(exchange, to: next, replacing: added, for: member) {
            return stored
        } else if let other = try await self.lease(.valid(at: exchange.time.date), for: exchange, member: member) {
            lease = other
        } else {
            return try await next(exchange)
        }
        return try await send(exchange, to: next, with: lease, replacing: added, refused: nil)
    }

    /// - Parameter refused: The response to an attempt that was already sent, and the number of staged work items
    ///   before that attempt.
    func send(
        _ exchange: Exchange, to next: Next, with lease: CredentialKeeper.Lease, replacing added: AddedCredential?,
        refused: (response: HTTPResponse, stagedWork: Int)?
    ) async throws -> HTTPResponse {
        var (exchange, lease, refused) = (exchange, lease, refused)
        let company = Refusals.ofPass(&exchange, next)
        let isSpent = company?.isSpent ?? false
        var repetition = added?.repetition ?? AddedCredential.Repetition()
        let first = repetition.first ?? lease
        while true {
            let isRecorded = exchange.isRecordingUsers
            let (recorded, record) = isRecorded ? exchange.recordingUsers() : (exchange, nil)
            let attempt = try attempt(recorded, with: lease, replacing: added, repetition: repetition)
            // A request is sent at most four times: with the current credential, after a refresh by another request,
            // after this request's own refresh, and once more.
            let addsAuthorization =
                company != nil && addsAuthorization(lease, added, from: exchange.http, to: attempt.http)
            let mayRepeat = keeper.isRenewable && repetition.count < 3 && !(isSpent && addsAuthorization)
            if addsAuthorization {
                let need = CredentialKeeper.Need.refused(lease, isRepeated: repetition.isRefreshed)
                company?.willSend(mayRenew: mayRepeat && keeper.canRenew(after: need, first))
            }
            let stagedWork = refused?.stagedWork ?? exchange.stagedWorkCount
            let response: HTTPResponse
            if let known = refused?.response { response = known } else { response = try await next(attempt) }
            refused = nil
            let refusal = keeper.isRenewable ? try await refusal(response, attempt) : nil
            if refusal == nil { accept(lease, response) }
            guard mayRepeat, let refusal,
                refusal == .certain || company?.concerns(sessionOfAuthorization: addsAuthorization) ?? true
            else {
                record?.commit()
                return response
            }
            let need = CredentialKeeper.Need.refused(lease, isRepeated: repetition.isRefreshed)
            guard attempt.http.body.isReplayable else {
                keeper.renew(after: need, exchange.time)
                throw notReplayable(response)
            }
            guard keeper.canRenew(after: need, first) else {
                record?.commit()
                return response
            }
            await exchange.discard(response)
            // A cache closer to the transport may have staged the refused response.
            await exchange.discardStagedWork(after: stagedWork)
            exchange.note("authentication", describing: AuthenticationNote.rejected(status: response.status))
            guard let renewed = try await self.lease(need, for: exchange, member: lease.membership, refused: response)
            else {
                record?.commit()
                return response
            }
            lease = renewed
            repetition = repetition.next(after: first, isRefreshed: renewed.isFresh)
            if let added, added.isSigned, exchange.hop == 1 {
                throw added.requireRestart(repetition)
            }
        }
    }

    private func notReplayable(_ response: HTTPResponse) -> ErrandError {
        ErrandError(
            .bodyNotReplayable,
            "the server rejected the credential, and the request isn't repeated: its body can be sent only once",
            response: response)
    }

    private func refusal(_ response: HTTPResponse, _ exchange: Exchange) async throws -> Refusal? {
        if let isRejection = keeper.rules.isRejection {
            try await exchange.gatherEvidence(of: response)
            if try await isRejection(response) { return .certain }
        }
        if keeper.rules.is401Rejection && response.status == 401 { return .unattributed }
        let failure = try await exchange.outcomeFailure(of: response) as? any RequestFailure
        return failure?.refusesCredential == true ? .unattributed : nil
    }

    private func addsAuthorization(
        _ lease: CredentialKeeper.Lease, _ added: AddedCredential?, from bare: HTTPRequest, to sent: HTTPRequest
    ) -> Bool {
        if let field = lease.field { return field.name == .authorization }
        return added?.adds(.authorization) ?? (bare.headers[.authorization] != sent.headers[.authorization])
    }

    private func attempt(
        _ exchange: Exchange, with lease: CredentialKeeper.Lease, replacing added: AddedCredential?,
        repetition: AddedCredential.Repetition
    ) throws -> Exchange {
        var attempt = exchange
        guard let added, lease.field == nil || added.lease.field == nil else {
            try authorize(&attempt, with: lease)
            return attempt
        }
        let isSame = lease.isSame(as: added.lease)
        if isSame, added.isUnchanged(in: exchange.http), added.claim() { return attempt }
        guard let bare = added.removed(from: exchange.http) else {
            // A filter changed the body that contains the credential, so the credential can't be replaced in it.
            if isSame || exchange.hop > 1 { return attempt }
            throw added.requireRestart(repetition)
        }
        attempt.http = bare
        if let mark = added.mark { attempt.unassign(from: mark) }
        try authorize(&attempt, with: lease)
        return attempt
    }

    /// Returns a stored response, or nil if the request has to be sent. Doesn't refresh the credential.
    private func stored(
        _ exchange: Exchange, to next: Next, replacing added: AddedCredential?,
        for member: CredentialKeeper.Membership?
    ) async throws -> HTTPResponse? {
        guard next.following.contains(.caches), let known = keeper.ready(for: .any, member) else {
            return nil
        }
        if member == nil { try admit(known, exchange) }
        let attempt = try attempt(exchange, with: known, replacing: added, repetition: AddedCredential.Repetition())
        let before = added?.removed(from: exchange.http) ?? exchange.http
        let tried = AddedCredential(keeper, lease: known, before: before, after: attempt.http, mark: added?.mark)
        let isDue = Atomic(false)
        let threshold = ClosureFilter(.hop) { reached, next in
            // The cache's own requests, such as validations, have another activity and can wait for a new credential.
            if reached.activity.id == exchange.activity.id {
                isDue.store(true, ordering: .relaxed)
                throw CredentialDue()
            }
            let member = self.member(of: reached)
            guard let lease = try await lease(.valid(at: reached.time.date), for: reached, member: member) else {
                return try await next(reached)
            }
            return try await next(
                self.attempt(reached, with: lease, replacing: tried, repetition: AddedCredential.Repetition()))
        }
        let stagedWork = exchange.stagedWorkCount
        do {
            let response = try await next.inserting(threshold, behind: .caches)(attempt)
            if !isDue.load(ordering: .relaxed), try await refusal(response, attempt) == nil { return response }
            await exchange.discard(response)
        } catch  where isDue.load(ordering: .relaxed) {}
        await exchange.discardStagedWork(after: stagedWork)
        return nil
    }
}

/// Thrown before a request is sent: no response is stored, so the credential has to be refreshed first. A filter in
/// between may catch this error, so a flag records it.
private struct CredentialDue: Error, CustomStringConvertible {
    var description: String { "the credential has to be refreshed before the request is sent" }
}

private enum Refusal {
    /// The app's `isRejection` closure found that the response refuses this session's credential.
    case certain
    /// The response refuses a credential, possibly another session's.
    case unattributed
}

/// Decides which session handles a 401 if a request carries several credentials, such as a user's and a device's. One
/// instance for each pass of a request through the filters.
///
/// A 401 concerns `Authorization` (RFC 9110, section 11.6.2), so the session that adds this field handles it first.
final class Refusals: Sendable {
    private enum Key: TagKey {
        static var defaultValue: Refusals? { nil }
    }

    private enum Phase {
        case absent
        /// After a refusal, the session that sets `Authorization` can still get a new credential.
        case able
        case spent
    }

    private let phase = Mutex(Phase.absent)

    /// Returns nil if the request has only one session.
    static func ofPass(_ exchange: inout Exchange, _ next: Next) -> Refusals? {
        if let begun = exchange.tags[Key.self] { return begun }
        guard next.following.contains(.authenticates) else { return nil }
        let new = Refusals()
        exchange.tags[Key.self] = new
        return new
    }

    static func areShared(_ exchange: Exchange, _ following: FilterTraits) -> Bool {
        following.contains(.authenticates) || exchange.tags[Key.self] != nil
    }

    var isSpent: Bool { phase.withLock { $0 == .spent } }

    func willSend(mayRenew: Bool) { phase.withLock { $0 = mayRenew ? .able : .spent } }

    func concerns(sessionOfAuthorization: Bool) -> Bool {
        sessionOfAuthorization || phase.withLock { $0 != .able }
    }
}
