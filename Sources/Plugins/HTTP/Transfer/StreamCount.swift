/// What has come over a stream, instead of a body that is not kept: the `details` of the note that an activity of the kind
/// ``ActivityKind/stream`` ends with.
public struct StreamCount: Sendable, Hashable, CustomStringConvertible {
    /// What was counted, in the plural: "events", "lines".
    public var unit: String
    /// How many elements the reader took.
    public var elements: Int
    /// Body bytes, after content codings.
    public var bytes: Int64
    /// How many connections were opened.
    public var connections: Int

    /// Makes a count.
    public init(_ unit: String, elements: Int = 0, bytes: Int64 = 0, connections: Int = 0) {
        (self.unit, self.elements, self.bytes, self.connections) = (unit, elements, bytes, connections)
    }

    /// `1234 events, 3 connections, 56000 bytes`
    public var description: String {
        let many = connections > 1 ? ", \(connections) connections" : ""
        return "\(elements) \(unit)\(many), \(bytes) bytes"
    }
}
