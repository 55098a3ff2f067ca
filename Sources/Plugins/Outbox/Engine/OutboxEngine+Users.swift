import Errand
import ErrandDigests
import Synchronization

/// Whose the entries are. Each one is sent for the user who has enqueued it, by this process or a later one, or not at all.
extension OutboxEngine {
    /// Stores a request for the user who would send it now.
    func add<R: OutboxRequest>(_ request: R, _ dependencies: [UInt64]) async throws -> UInt64? {
        let known = KnownUser()
        let pin = UserPin(within: nil) { marks in try known.check(marks) }
        // Without a session, or with one that fails, nobody is known: the first attempt decides.
        let marks = try? await agent.userMarks(for: request, options: options.call.pinned(to: pin))
        let added = try newEntry(request, dependencies, marks: marks ?? [])
        known.set(added.user)
        guard let id = try await commit(.add(added)) else { return nil }
        if added.user != nil { keep(pin, for: id) }
        return id
    }

    private func keep(_ pin: UserPin, for id: UInt64) {
        let stale = state.withLock { state -> [UInt64: UserPin] in
            var stale: [UInt64: UserPin] = [:]
            // Those of entries that another process has removed or sent.
            if state.pins.count > 2 * state.queue.entries.count + 64 {
                stale = state.pins.filter { state.queue.entries[$0.key] == nil }
                for id in stale.keys { state.pins[id] = nil }
            }
            if let old = state.pins.updateValue(pin, forKey: id) { stale[id] = old }
            return stale
        }
        withExtendedLifetime(stale) {}
    }

    /// The pin of an entry's attempts. In a later process, and after a refusal, the entry's record says whose it is.
    func pin(for entry: StoredEntry) -> UserPin {
        if let known = state.withLock({ $0.pins[entry.id] }) { return known }
        let pin = UserPin(within: nil) { [user = entry.user] marks in
            if let user, !user.isContained(in: marks.identities) { throw Self.anotherUser }
        }
        keep(pin, for: entry.id)
        return pin
    }

    /// From now on the record of the entry says whose it is. False if it doesn't, or did already.
    func forgetPin(of entry: StoredEntry) -> Bool {
        if entry.user == nil { return false }
        let pin = state.withLock { $0.pins.removeValue(forKey: entry.id) }
        return withExtendedLifetime(pin) { pin != nil }
    }
}

/// The user who has enqueued an entry, once known.
private final class KnownUser: Sendable {
    private let user = Mutex<UserStamp?>(nil)

    func set(_ stamp: UserStamp?) { user.withLock { $0 = stamp } }

    func check(_ marks: Set<UserMark>) throws {
        if let stamp = user.withLock({ $0 }), !stamp.isContained(in: marks.identities) {
            throw OutboxEngine.anotherUser
        }
    }
}

extension Set<UserMark> {
    var identities: [UserStamp.Identity] { map { ($0.source, $0.identity) } }
}

extension OutboxEngine {
    fileprivate static let anotherUser = ErrandError(.userChanged, "the entry was enqueued by another user")
}

extension Error {
    /// Whether a request wasn't sent because its user has signed out, or another one has signed in.
    var isOfUser: Bool {
        guard let error = self as? any CodedError else { return false }
        return ["signedOut", "userChanged"].contains("\(error.code)")
    }

    /// Whether another user has signed in.
    var isOfAnotherUser: Bool { isOfUser && (self as? any CodedError).map { "\($0.code)" } == "userChanged" }
}
