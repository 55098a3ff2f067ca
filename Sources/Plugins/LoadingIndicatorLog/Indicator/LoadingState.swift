/// The state that a loading indicator shows.
public struct LoadingState: Sendable, Hashable {
    /// Whether the indicator is visible.
    public var isShown = false
    /// The text beside it: the ``LoadingLabel`` of the activity that started last and has one, else the indicator's.
    public var label: String?
    /// The number of running activities; a batch or a chain counts as one with its parts.
    public var running = 0
    /// The progress from 0 to 1, the mean of all running activities; nil if the total of one is not known.
    public var fraction: Double?

    /// The indicator is hidden.
    public static let hidden = LoadingState()

    /// Makes a state, to test a presenter with.
    public init(isShown: Bool = false, label: String? = nil, running: Int = 0, fraction: Double? = nil) {
        (self.isShown, self.label, self.running, self.fraction) = (isShown, label, running, fraction)
    }
}
