/// The kind of an activity: a request, background work, or a plugin's own kind.
public struct ActivityKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name, for logs.
    public let rawValue: String
    /// Creates a custom kind.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A request.
    public static let request = ActivityKind(rawValue: "request")
    /// Work that outlives the call that started it.
    public static let background = ActivityKind(rawValue: "background")
    /// A response that's read as it arrives. It lasts as long as its reader reads, so it doesn't indicate loading. Each
    /// connection is a separate request with this activity as its parent.
    public static let stream = ActivityKind(rawValue: "stream")
    /// The name.
    public var description: String { rawValue }
}
