public import Errand

/// Where the loading indicator appears: the seam to a screen.
///
/// ```swift
/// struct Bell: LoadingPresenter {
///     func present(_ state: LoadingState) { if !state.isShown { print("\u{7}done") } }
/// }
/// ```
///
/// Receives each new state, in order, never two at a time, on whatever thread the change happens; be brief. What belongs
/// to the main actor reads ``LoadingIndicator/states`` there instead.
public protocol LoadingPresenter: Sendable {
    /// Shows a state.
    func present(_ state: LoadingState)
    /// Takes away whatever it shows; no state follows. Called by ``LoadingIndicator/finish()``; does nothing by default.
    func finish()
}

extension LoadingPresenter {
    /// Does nothing: a hidden state has been presented before.
    public func finish() {}
}

/// The tag that gives a request, batch or chain a text of its own in the indicator.
///
/// ```swift
/// var tags: Tags { Tags().with(LoadingLabel.self, "Looking for flights…") }
/// ```
public enum LoadingLabel: TagKey {
    /// None: the indicator's own.
    public static let defaultValue: String? = nil
}
