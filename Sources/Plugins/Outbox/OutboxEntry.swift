public import Errand
public import ErrandEssentials

/// A request waiting in an ``Outbox``, for display. Read the request itself with ``Outbox/request(_:of:)``.
///
/// The requests of a delivery carry the entry as a tag: `activity.tags[OutboxEntry.self]`.
public struct OutboxEntry: Sendable, Hashable, Identifiable {
    /// The number of an entry. It never changes and is never reused in the directory. Later entries have greater
    /// numbers.
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

    /// The progress of an entry. More cases may be added, so write a `default`.
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

    /// The entry's number.
    public let id: ID
    /// The registered name of the request's type.
    public let name: String
    /// The request's lane.
    public let lane: String
    /// When the request was enqueued.
    public let enqueued: Date
    /// When the entry expires, or `nil` if it doesn't.
    public let expiry: Date?
    /// The value of the `Idempotency-Key` header, without quotation marks. All attempts use the same key.
    public let idempotencyKey: String
    /// The entry's progress.
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
