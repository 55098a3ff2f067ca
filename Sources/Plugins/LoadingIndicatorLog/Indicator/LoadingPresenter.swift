public import Errand

/// Displays the loading indicator: the seam to a screen.
///
/// ```swift
/// struct Bell: LoadingPresenter {
///     func present(_ state: LoadingState) { if !state.isShown { print("\u{7}done") } }
/// }
/// ```
///
/// Receives each new state, in order, one at a time, on the thread of the change; it has to return quickly. Code on the
/// main actor reads ``LoadingIndicator/states`` instead.
public protocol LoadingPresenter: Sendable {
    /// Shows a state.
    func present(_ state: LoadingState)
    /// Removes the display; no state follows. Called by ``LoadingIndicator/finish()``; does nothing by default.
    func finish()
}

extension LoadingPresenter {
    /// Does nothing, because a hidden state has been presented before.
    public func finish() {}
}

/// The tag for the text that the indicator shows for a request, batch or chain.
///
/// ```swift
/// var tags: Tags { Tags().with(LoadingLabel.self, "Looking for flights…") }
/// ```
public enum LoadingLabel: TagKey {
    /// Nil: the indicator's own text.
    public static let defaultValue: String? = nil
}
