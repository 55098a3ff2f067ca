public import Errand
public import ErrandEssentials

/// A request waiting in an ``Outbox``, for display. Read the request itself with ``Outbox/request(_:of:)``.
///
/// The requests of a delivery carry the entry as a tag: `activity.tags[OutboxEntry.self]`.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
    /// The number of an entry. It never changes and is never reused in the directory. Later entries have greater
    /// numbers.
    public struct ID: RawRepresentable, Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
        /// The entry's number, starting at 1.
        public let rawValue: UInt64
        /// Creates an ID from a stored number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// Returns whether the first entry is older than the second.
        public static func < (a: ID, b: ID) -> Bool { a.rawValue < b.rawValue }
        /// The entry's number in decimal.
        public var description: String { "\(rawValue)" }
    }

    /// What an entry is waiting for or doing. More cases may be added, so write a `default`.
    public enum State: Sendable, Hashable {
        /// The entry waits for earlier entries of its lane, or for a free delivery slot.
        case waiting
        /// The entry waits for its dependencies.
        case blocked
        /// The entry is being sent, or the handler is deciding about it.
        case sending
        /// An attempt failed. The next one starts at this instant, or when the network is back.
        case delayed(until: ContinuousClock.Instant)
        /// The entry was refused, and its lane has stopped.
        case stopped
    }

    /// The number of the entry, which is unique in its outbox and stays the same after a restart.
    public let id: ID
    /// The registered name of the request's type.
    public let name: String
    /// The lane of the request; see ``OutboxRequest/outboxLane``.
    public let lane: String
    /// When the request was enqueued.
    public let enqueued: Date
    /// When the entry expires, or `nil` if it doesn't.
    public let expiry: Date?
    /// The value of the `Idempotency-Key` header, without quotation marks. All attempts use the same key.
    public let idempotencyKey: String
    /// What the entry is waiting for or doing.
    public internal(set) var state: State
    /// The number of failed attempts in this process.
    public internal(set) var failures: Int
    /// A description of the last failure, without secrets, or `nil` if no attempt failed.
    public internal(set) var lastError: String?
}

extension OutboxEntry: TagKey {
    /// `nil`: the request doesn't come from an outbox.
    public static var defaultValue: OutboxEntry? { nil }
}

extension OutboxEntry {
    init(_ entry: StoredEntry, in queue: borrowing OutboxQueue) {
        let lane = queue.lanes[entry.lane]
        let hasFailed = lane?.failed == entry.id
        var state = State.waiting
        if lane?.running == entry.id {
            state = .sending
        } else if lane?.stopped == entry.id {
            state = .stopped
        } else if hasFailed, let wait = lane?.wait {
            state = .delayed(until: wait)
        } else if !entry.dependencies.isEmpty, !entry.isOrphaned {
            state = .blocked
        }
        self.init(
            id: ID(rawValue: entry.id), name: entry.name, lane: entry.lane, enqueued: entry.enqueued,
            expiry: entry.expiry, idempotencyKey: entry.key.uuidString.lowercased(), state: state,
            failures: hasFailed ? lane?.failures ?? 0 : 0, lastError: hasFailed ? lane?.lastError : nil)
    }
}

/// The entries of an ``Outbox`` and whether it sends them, at one moment, for display.
public struct OutboxState: Sendable {
    /// All entries, the oldest first.
    public let entries: [OutboxEntry]
    /// Whether this process sends. `false` if another process does, or if the options forbid it.
    public let isSender: Bool
    /// Whether sending is paused, see ``Outbox/pause()``.
    public let isPaused: Bool
    /// The last 100 places where the file was damaged.
    public let damage: [OutboxDamage]
}

/// A damaged part of an outbox's file. It doesn't affect other entries.
public struct OutboxDamage: Sendable, Hashable {
    /// The lost entry, or `nil` if it can't be determined, for example after a crash interrupted a write.
    public let entry: OutboxEntry.ID?
    /// How many bytes of the file can't be read.
    public let byteCount: Int
}
