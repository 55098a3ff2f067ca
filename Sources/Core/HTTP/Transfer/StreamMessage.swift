public import ErrandEssentials

/// A message of a WebSocket, or of another bidirectional stream, as accessories receive it.
public struct StreamMessage: Sendable, Hashable {
    /// The side that sent a message. No cases will be added.
    public enum Direction: Sendable, Hashable {
        /// The client sent the message.
        case sent
        /// The server sent the message.
        case received
    }

    /// The side that sent the message.
    public var direction: Direction
    /// Whether the message is UTF-8 text instead of bytes.
    public var isText: Bool
    /// The beginning of the message, up to the body bytes that an accessory asks for, 0 by default. Text may be cut
    /// within a character.
    public var data: Data
    /// The size of the whole message in bytes, after decompression.
    public var length: Int

    /// Creates a message.
    ///
    /// - Parameters:
    ///   - direction: The side that sent the message.
    ///   - isText: Whether the message is UTF-8 text.
    ///   - data: The beginning of the message.
    ///   - length: The size of the whole message; `nil` if `data` is complete.
    public init(_ direction: Direction, isText: Bool, _ data: Data = Data(), length: Int? = nil) {
        (self.direction, self.isText, self.data, self.length) = (direction, isText, data, length ?? data.count)
    }
}
