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
