/// What a person sees of the work that is on its way.
public struct LoadingState: Sendable, Hashable {
    /// Whether "loading…" stands on the screen.
    public var isShown = false
    /// The text beside it: the ``LoadingLabel`` of what began last and has one, else the indicator's.
    public var label: String?
    /// How many activities run; the parts of a batch or a chain count as one with it.
    public var running = 0
    /// From 0 to 1, the mean of all that run; nil if one does not know its total.
    public var fraction: Double?

    /// Nothing to show.
    public static let hidden = LoadingState()

    /// A state to test a presenter with.
    public init(isShown: Bool = false, label: String? = nil, running: Int = 0, fraction: Double? = nil) {
        (self.isShown, self.label, self.running, self.fraction) = (isShown, label, running, fraction)
    }
}
