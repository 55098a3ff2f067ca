/// The kind of an activity: a request, background work, or a plugin's own.
public struct ActivityKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name, for logs.
    public let rawValue: String
    /// A kind of one's own.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A request.
    public static let request = ActivityKind(rawValue: "request")
    /// Work that outlives the call that started it.
    public static let background = ActivityKind(rawValue: "background")
    /// A response that is read as it comes: it lasts for as long as its reader reads, so it says nothing about whether
    /// something loads. Its connections are requests of their own, with it as their parent.
    public static let stream = ActivityKind(rawValue: "stream")
    /// The name.
    public var description: String { rawValue }
}
