/// The state that a loading indicator shows.
public struct LoadingState: Sendable, Hashable {
    /// Whether the indicator is visible.
    public var isShown = false
    /// The text to show: the ``LoadingLabel`` of the newest activity that has one, otherwise the indicator's label.
    public var label: String?
    /// The number of running activities. A batch or chain and its parts count as one.
    public var running = 0
    /// The progress from 0 to 1, averaged over all running activities, or `nil` if any of them has an unknown total.
    public var fraction: Double?

    /// The state of a hidden indicator.
    public static let hidden = LoadingState()

    /// Creates a state, for testing a presenter.
    public init(isShown: Bool = false, label: String? = nil, running: Int = 0, fraction: Double? = nil) {
        (self.isShown, self.label, self.running, self.fraction) = (isShown, label, running, fraction)
    }
}
