/// The number of an activity, counted from 1 in a process.
public struct ActivityID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Whether `a` began before `b`.
    public static func < (a: ActivityID, b: ActivityID) -> Bool { a.rawValue < b.rawValue }

    /// The number behind a `#`.
    public var description: String { "#\(rawValue)" }
}
