public import ErrandEssentials

/// A WebSocket message or the data of a streamed event, as accessories receive it.
public struct StreamMessage: Sendable, Hashable {
    /// The side that sent a message. No cases will be added.
    public enum Direction: Sendable, Hashable {
        /// Sent by the client.
        case sent
        /// Sent by the server.
        case received
    }

    /// The side that sent the message.
    public var direction: Direction
    /// Whether the message is UTF-8 text instead of bytes.
    public var isText: Bool
    /// The beginning of the message, up to the number of bytes that an accessory asks for. Text may be cut within a
    /// character.
    public var data: Data
    /// The size of the whole message in bytes, after decompression.
    public var length: Int

    /// Creates a message.
    ///
    /// - Parameters:
    ///   - direction: The side that sent the message.
    ///   - isText: Whether the message is UTF-8 text.
    ///   - data: The beginning of the message.
    ///   - length: The size of the whole message. `nil` if `data` is complete.
    public init(_ direction: Direction, isText: Bool, _ data: Data = Data(), length: Int? = nil) {
        (self.direction, self.isText, self.data, self.length) = (direction, isText, data, length ?? data.count)
    }
}

/// How much a client received over a stream. When an activity of kind `ActivityKind.stream` ends, it sends a note that
/// contains this count as its `details`.
public struct StreamCount: Sendable, Hashable, CustomStringConvertible {
    /// The unit of the count, in the plural, such as "events".
    public var unit: String
    /// How many elements the reader took, such as events.
    public var elements: Int
    /// How many bytes of the body were received, after decoding.
    public var bytes: Int64
    /// How many connections were opened, including reconnections.
    public var connections: Int

    /// Creates a count. Each number defaults to 0.
    public init(_ unit: String, elements: Int = 0, bytes: Int64 = 0, connections: Int = 0) {
        (self.unit, self.elements, self.bytes, self.connections) = (unit, elements, bytes, connections)
    }

    /// A line such as `1234 events, 3 connections, 56000 bytes`.
    public var description: String {
        let many = connections > 1 ? ", \(connections) connections" : ""
        return "\(elements) \(unit)\(many), \(bytes) bytes"
    }
}
