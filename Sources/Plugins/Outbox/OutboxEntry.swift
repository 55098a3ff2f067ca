public import Errand
public import ErrandEssentials

/// A request that waits in an ``Outbox``, for display. To read the request itself, use ``Outbox/request(_:of:)``.
///
/// When the outbox sends an entry, the requests carry the entry as a tag: `activity.tags[OutboxEntry.self]`.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
    /// An entry's number. It never changes and is never reused. Later entries have greater numbers.
    public struct ID: RawRepresentable, Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
        /// The number, starting at 1.
        public let rawValue: UInt64
        /// Creates an ID from a stored number.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// Returns whether the first entry is older than the second entry.
        public static func < (a: ID, b: ID) -> Bool { a.rawValue < b.rawValue }
        /// The number in decimal.
        public var description: String { "\(rawValue)" }
    }

    /// The state of an entry. More cases may be added, so write a `default`.
    public enum State: Sendable, Hashable {
        /// The entry waits for earlier entries in its lane, or until fewer deliveries are running.
        case waiting
        /// The entry waits for the entries on which it depends.
        case blocked
        /// The entry is being sent, or the outbox's handler is deciding about it.
        case sending
        /// An attempt failed. The next attempt starts at this instant, or when the network is back.
        case delayed(until: ContinuousClock.Instant)
        /// The entry was refused, and its lane has stopped.
        case stopped
    }

    /// The entry's number, unique in its outbox.
    public let id: ID
    /// The registered name of the request's type.
    public let name: String
    /// The request's lane: see ``OutboxRequest/outboxLane``.
    public let lane: String
    /// The time when the request was enqueued.
    public let enqueued: Date
    /// The time when the entry expires. It's nil if the entry doesn't expire.
    public let expiry: Date?
    /// The `Idempotency-Key` header of all attempts, without quotation marks.
    public let idempotencyKey: String
    /// The entry's current state.
    public internal(set) var state: State
    /// The number of failed attempts in this process.
    public internal(set) var failures: Int
    /// The last failure as a text without secrets. It's nil before the first failure.
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
    /// The tag's default value, nil, means that the request doesn't come from an outbox.
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

/// The state of an ``Outbox``, for display: its entries, and whether this process sends them.
public struct OutboxState: Sendable {
    /// All entries, oldest first.
    public let entries: [OutboxEntry]
    /// Whether this process sends the entries. It's false if another process sends them, or if the options forbid it.
    public let isSender: Bool
    /// Whether sending is paused. See ``Outbox/pause()``.
    public let isPaused: Bool
    /// The last 100 damaged parts of the file.
    public let damage: [OutboxDamage]
}

/// A damaged part of an outbox's file. It doesn't affect other entries.
public struct OutboxDamage: Sendable, Hashable {
    /// The ID of the lost entry. It's nil if the ID is unknown, for example after a crash during a write.
    public let entry: OutboxEntry.ID?
    /// The number of unreadable bytes.
    public let byteCount: Int
}
