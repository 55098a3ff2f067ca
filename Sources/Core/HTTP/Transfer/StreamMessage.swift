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

/// The amount received over a stream that replaces a body. It is the `details` of the note that ends an activity of
/// kind `ActivityKind.stream`.
public struct StreamCount: Sendable, Hashable, CustomStringConvertible {
    /// The unit of the count, in the plural: "events", "lines".
    public var unit: String
    /// The number of elements that the reader took.
    public var elements: Int
    /// The number of body bytes, after content codings are decoded.
    public var bytes: Int64
    /// The number of connections that were opened.
    public var connections: Int

    /// Creates a count.
    public init(_ unit: String, elements: Int = 0, bytes: Int64 = 0, connections: Int = 0) {
        (self.unit, self.elements, self.bytes, self.connections) = (unit, elements, bytes, connections)
    }

    /// A line such as `1234 events, 3 connections, 56000 bytes`.
    public var description: String {
        let many = connections > 1 ? ", \(connections) connections" : ""
        return "\(elements) \(unit)\(many), \(bytes) bytes"
    }
}
