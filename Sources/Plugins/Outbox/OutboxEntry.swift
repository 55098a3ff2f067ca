public import Errand
public import ErrandEssentials

/// A request waiting in an ``Outbox``, for display. To read the request itself, use ``Outbox/request(_:of:)``.
///
/// The requests of a delivery carry the entry as a tag: `activity.tags[OutboxEntry.self]`.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
    /// An entry's number. It never changes and is never reused. Later entries have greater numbers.
    public struct ID: RawRepresentable, Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
        /// The number, starting at 1.
        public let rawValue: UInt64
        /// Creates an ID from a stored number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// Whether the first entry is older.
        public static func < (a: ID, b: ID) -> Bool { a.rawValue < b.rawValue }
        /// The number in decimal.
        public var description: String { "\(rawValue)" }
    }

    /// What an entry is waiting for or doing. More cases may be added, so write a `default`.
    public enum State: Sendable, Hashable {
        /// Waits for earlier entries of its lane, or for a free delivery slot.
        case waiting
        /// Waits for its dependencies.
        case blocked
        /// Is being sent, or the handler is deciding about it.
        case sending
        /// An attempt failed. The next one starts at this instant, or when the network is back.
        case delayed(until: ContinuousClock.Instant)
        /// Was refused, and its lane has stopped.
        case stopped
    }

    /// The entry's number, unique in its outbox.
    public let id: ID
    /// The registered name of the request's type.
    public let name: String
    /// The request's lane: see ``OutboxRequest/outboxLane``.
    public let lane: String
    /// When the request was enqueued.
    public let enqueued: Date
    /// When the entry expires. Nil if it doesn't.
    public let expiry: Date?
    /// The `Idempotency-Key` header of all attempts, without quotation marks.
    public let idempotencyKey: String
    /// What the entry is waiting for or doing.
    public internal(set) var state: State
    /// The number of failed attempts in this process.
    public internal(set) var failures: Int
    /// The last failure, without secrets. Nil if no attempt failed.
    public internal(set) var lastError: String?
}

extension OutboxEntry.State: CustomStringConvertible {
    /// A word for display and logs, such as "delayed".
    public var description: String {
        switch self {
        case .waiting: "waiting"
        case .blocked: "blocked"
        case .sending: "sending"
        case .delayed: "delayed"
        case .stopped: "stopped"
        }
    }
}

extension OutboxEntry: TagKey {
    /// Nil: the request doesn't come from an outbox.
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

/// The entries of an ``Outbox`` and whether it sends them, for display.
public struct OutboxState: Sendable {
    /// All entries, oldest first.
    public let entries: [OutboxEntry]
    /// Whether this process sends. False if another process does, or if the options forbid it.
    public let isSender: Bool
    /// Whether sending is paused: see ``Outbox/pause()``.
    public let isPaused: Bool
    /// The last 100 damaged parts of the file.
    public let damage: [OutboxDamage]
}

/// A damaged part of an outbox's file. It doesn't affect other entries.
public struct OutboxDamage: Sendable, Hashable {
    /// The lost entry. Nil if it's unknown, for example after a crash during a write.
    public let entry: OutboxEntry.ID?
    /// The number of unreadable bytes.
    public let byteCount: Int
}
