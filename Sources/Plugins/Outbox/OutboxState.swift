/// The entries of an ``Outbox`` at a moment, for a screen.
public struct OutboxState: Sendable {
    /// All entries, the oldest first.
    public let entries: [OutboxEntry]
    /// Whether this process sends; false while another one that has the directory open does.
    public let isSender: Bool
    /// Whether ``Outbox/pause()`` was called.
    public let isPaused: Bool
    /// The last hundred places at which files were damaged.
    public let damage: [OutboxDamage]
}

/// Bytes of an outbox's file that are damaged; other entries are not affected.
public struct OutboxDamage: Sendable, Hashable {
    /// The entry that is lost; nil where the bytes do not say, as after a write that a crash interrupted.
    public let entry: OutboxEntry.ID?
    /// The number of damaged bytes.
    public let byteCount: Int
}
