/// The number of an activity within a process.
public struct ActivityID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number, counted from 1.
    public let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Returns whether the first activity started before the second.
    public static func < (a: ActivityID, b: ActivityID) -> Bool { a.rawValue < b.rawValue }

    /// The number after a `#`, such as "#7".
    public var description: String { "#\(rawValue)" }
}
