public import Errand
public import ErrandBackoff
public import ErrandEssentials

/// The limits and wait times of an ``Outbox``. A value out of range is replaced by the nearest valid value.
///
/// ```swift
/// var options = OutboxOptions(maximumConcurrent: 2)
/// options.maximumAge = .seconds(86_400)
/// let outbox = try await agent.outbox(at: directory, sending: types, options: options)
/// ```
public struct OutboxOptions: Sendable {
    /// The maximum number of lanes whose entries are sent at the same time. Defaults to 4.
    public var maximumConcurrent: Int
    /// How long a lane waits after a temporary failure. By default, the wait is 1 second, and doubles with each failure
    /// up to 5 minutes, with jitter. A server's `Retry-After` can extend the wait, up to one hour.
    public var backoff: Backoff
    /// The maximum number of entries. If the outbox is full, `enqueue` throws `queueFull`. Defaults to 10,000.
    public var maximumEntries = 10_000
    /// The maximum size of all entries in bytes. If a new entry, or a request that replaces an entry, would exceed it,
    /// `enqueue` throws `queueFull`, and an older entry stays. Defaults to 64 MiB.
    public var maximumBytes = 64 << 20
    /// The maximum size of an encoded request in bytes, at most 16 MiB. Defaults to 1 MiB.
    public var maximumEntryBytes = 1 << 20
    /// The maximum age of an entry whose request doesn't set an age. It's measured in calendar time, which continues
    /// while the device is off. Defaults to nil: no limit.
    public var maximumAge: Duration?
    /// Whether this process may send entries. Defaults to true. Set it to false in a process that only enqueues, such
    /// as an app extension.
    public var allowsSending = true
    /// How often the outbox looks for new entries from other processes, and checks whether another process still sends.
    /// Defaults to 2 seconds.
    public var checkInterval: Duration = .seconds(2)
    /// A closure that returns whether an error is temporary. An entry with a temporary error is sent again later.
    /// Network errors, connection security errors, and retryable statuses such as 503 are always temporary. Defaults to
    /// nil.
    public var repeatsError: (@Sendable (any Error) -> Bool)?
    /// The call options with which entries are sent, for example accessories and tags. Defaults to empty options.
    public var call = CallOptions()

    /// Creates options. The default arguments are the defaults of the properties.
    public init(
        maximumConcurrent: Int = 4, backoff: Backoff = Backoff(base: .seconds(1), maximumDelay: .seconds(300))
    ) {
        (self.maximumConcurrent, self.backoff) = (maximumConcurrent, backoff)
    }

    var entryLimit: Int { min(max(1, maximumEntryBytes), OutboxFormat.maximumPayload / 2) }
}

extension Agent {
    /// Opens the outbox in a directory and starts sending its entries.
    ///
    /// ```swift
    /// let outbox = try await agent.outbox(at: directory, sending: [.type("comment", PostComment.self)]) { refusal in
    ///     refusal.response?.status == 409 ? .drop : .stop
    /// }
    /// try await outbox.enqueue(PostComment(thread: 7, text: "Hello"))
    /// ```
    ///
    /// Several processes can open the same directory. One of them sends, and all of them can enqueue. Throws
    /// ``OutboxError``.
    ///
    /// - Parameters:
    ///   - directory: A directory that only this outbox and one user use. It's created if it doesn't exist.
    ///   - types: The request types that the outbox sends. It refuses entries of other types.
    ///   - options: The limits and wait times.
    ///   - time: The clock. Defaults to the system's clock.
    ///   - decide: Decides about refused entries, on any thread. By default, expired entries are dropped, and other
    ///     refused entries stop their lane.
    public func outbox(
        at directory: URL, sending types: [OutboxType], options: OutboxOptions = OutboxOptions(),
        time: some TimeSource = SystemTimeSource(),
        deciding decide: @escaping @Sendable (OutboxRefusal) async -> OutboxDecision = { $0.standardDecision }
    ) async throws -> Outbox {
        let engine = try OutboxEngine(
            directory: directory.path, agent: self, types: types, options: options, time: time, decide: decide)
        try await engine.open()
        return Outbox(engine)
    }
}

extension ActivityKind {
    /// The delivery of an outbox entry, from the time when it's the entry's turn to the delivery's outcome. The entry's
    /// request is a child of this activity.
    public static let outbox = ActivityKind(rawValue: "outbox")
}
