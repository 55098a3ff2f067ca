public import ErrandEssentials

/// A message of a WebSocket, or of another stream with messages in both directions, as accessories receive it.
public struct StreamMessage: Sendable, Hashable {
    /// The side that a message comes from. These two cases are all that there are.
    public enum Direction: Sendable, Hashable {
        /// From the client.
        case sent
        /// From the server.
        case received
    }

    /// The side that it comes from.
    public var direction: Direction
    /// Whether it is text in UTF-8; bytes otherwise.
    public var isText: Bool
    /// Its beginning: at most as many bytes as an accessory wants of a body, none by default. A text may be cut within
    /// a character.
    public var data: Data
    /// The size of the whole message in bytes, inflated.
    public var length: Int

    /// Makes a message.
    ///
    /// - Parameters:
    ///   - direction: the side that it comes from.
    ///   - isText: whether it is text in UTF-8.
    ///   - data: its beginning.
    ///   - length: nil for one whose data are all of it.
    public init(_ direction: Direction, isText: Bool, _ data: Data = Data(), length: Int? = nil) {
        (self.direction, self.isText, self.data, self.length) = (direction, isText, data, length ?? data.count)
    }
}
