public import Errand
public import ErrandEssentials

/// A request that waits in an ``Outbox``, as a screen shows it. It has no content: ``Outbox/request(_:of:)`` reads
/// that.
///
/// The requests of a delivery carry it as a tag: `activity.tags[OutboxEntry.self]`.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
    /// The number of an entry. It never changes, no other entry of the directory gets it, and a later entry has a
    /// greater one.
    public struct ID: RawRepresentable, Hashable, Sendable, Codable, Comparable, CustomStringConvertible {
        /// The number, from 1.
        public let rawValue: UInt64
        /// A number that an app has stored.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// Whether the first entry is older.
        public static func < (a: ID, b: ID) -> Bool { a.rawValue < b.rawValue }
        /// The number.
        public var description: String { "\(rawValue)" }
    }

    /// Where an entry is on its way. Cases may be added: write a `default`.
    public enum State: Sendable, Hashable {
        /// Its turn has not come: others of its lane are before it, or others are being sent.
        case waiting
        /// It waits for the entries that it was enqueued after.
        case blocked
        /// It is being sent, or its handler decides.
        case sending
        /// An attempt failed; the next one is at this instant, or when the network is back.
        case delayed(until: ContinuousClock.Instant)
        /// It was refused, and its lane has stopped.
        case stopped
    }

    /// The number of the entry.
    public let id: ID
    /// The registered name of the request's type.
    public let name: String
    /// The lane of the request.
    public let lane: String
    /// When it was enqueued.
    public let enqueued: Date
    /// The time after which it is no longer worth sending; nil for no limit.
    public let expiry: Date?
    /// The value of its `Idempotency-Key`, without quotation marks: the same for all of its attempts.
    public let idempotencyKey: String
    /// Where it is on its way.
    public internal(set) var state: State
    /// How many attempts have failed in this process.
    public internal(set) var failures: Int
    /// The last failure, in a sentence without secrets; nil for none.
    public internal(set) var lastError: String?
}

extension OutboxEntry: TagKey {
    /// Nil: the request does not come from an outbox.
    public static var defaultValue: OutboxEntry? { nil }
}
