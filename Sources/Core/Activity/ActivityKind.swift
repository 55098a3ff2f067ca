/// What kind of thing an activity is; plugins add their own.
public struct ActivityKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The name, for logs.
    public let rawValue: String
    /// A kind of one's own.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// A request.
    public static let request = ActivityKind(rawValue: "request")
    /// Work that outlives the call that started it.
    public static let background = ActivityKind(rawValue: "background")
    /// The name.
    public var description: String { rawValue }
}
