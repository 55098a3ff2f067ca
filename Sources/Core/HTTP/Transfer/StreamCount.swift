/// The amount that was received over a stream, instead of a body: the `details` of the note with which an activity of
/// the kind `ActivityKind.stream` ends.
public struct StreamCount: Sendable, Hashable, CustomStringConvertible {
    /// The unit of the count, in the plural: "events", "lines".
    public var unit: String
    /// The number of elements that the reader took.
    public var elements: Int
    /// Body bytes, after content codings.
    public var bytes: Int64
    /// The number of connections that were opened.
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
