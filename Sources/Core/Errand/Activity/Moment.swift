/// A point in time as plain bytes. Only the runtime knows the layout of `ContinuousClock.Instant`: each copy of one in
/// an optional, an enum or an object costs calls of it.
struct Moment: Comparable, Sendable {
    private let offset: Duration

    /// What all are counted from.
    private static let origin = ContinuousClock.now

    init(_ instant: ContinuousClock.Instant) { offset = Self.origin.duration(to: instant) }

    var instant: ContinuousClock.Instant { Self.origin.advanced(by: offset) }

    static func < (a: Moment, b: Moment) -> Bool { a.offset < b.offset }
}
