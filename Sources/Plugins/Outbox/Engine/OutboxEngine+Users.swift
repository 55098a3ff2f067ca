import Errand
import ErrandDigests
import Synchronization

/// Makes sure that an entry is sent only for the user who enqueued it, in this process and in later processes.
extension OutboxEngine {
    func add<R: OutboxRequest>(_ request: R, _ dependencies: [UInt64]) async throws -> UInt64? {
        let known = KnownUser()
        let pin = UserPin(within: nil) { marks in try known.check(marks) }
        // If the user is unknown because there isn't a session yet, the first attempt determines the user.
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
            // Removes pins of entries that no longer exist, because another process may have sent or removed these
            // entries.
            if state.pins.count > 2 * state.queue.entries.count + 64 {
                stale = state.pins.filter { state.queue.entries[$0.key] == nil }
                for id in stale.keys { state.pins[id] = nil }
            }
            if let old = state.pins.updateValue(pin, forKey: id) { stale[id] = old }
            return stale
        }
        withExtendedLifetime(stale) {}
    }

    /// Returns the pin that checks the user of an attempt. In a later process, and after a refusal, the pin is created
    /// from the user stored with the entry.
    func pin(for entry: StoredEntry) -> UserPin {
        if let known = state.withLock({ $0.pins[entry.id] }) { return known }
        let pin = UserPin(within: nil) { [user = entry.user] marks in
            if let user, !user.isContained(in: marks.identities) { throw Self.anotherUser }
        }
        keep(pin, for: entry.id)
        return pin
    }

    /// Makes the next attempt check the user stored with the entry. Returns false if no user is stored, or if the pin
    /// was already dropped.
    func forgetPin(of entry: StoredEntry) -> Bool {
        if entry.user == nil { return false }
        let pin = state.withLock { $0.pins.removeValue(forKey: entry.id) }
        return withExtendedLifetime(pin) { pin != nil }
    }
}

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
    var failureOfUser: UserFailure? { (self as? any RequestFailure)?.userFailure }
}
