/// The entries of an ``Outbox`` at a moment, for display.
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
    /// The number of damaged bytes.
    public let byteCount: Int
}
