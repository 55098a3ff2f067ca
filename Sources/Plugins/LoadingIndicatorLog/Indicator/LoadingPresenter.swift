public import Errand

/// Displays the loading indicator, for example on a screen.
///
/// ```swift
/// struct Bell: LoadingPresenter {
///     func present(_ state: LoadingState) { if !state.isShown { print("\u{7}done") } }
/// }
/// ```
///
/// A presenter receives the states in order, one at a time, on the thread that changed them, and must return quickly.
/// On the main actor, read ``LoadingIndicator/states`` instead.
public protocol LoadingPresenter: Sendable {
    /// Shows a state.
    func present(_ state: LoadingState)
    /// Removes the display. Optional. ``LoadingIndicator/finish()`` calls it after the last state.
    func finish()
}

extension LoadingPresenter {
    /// Empty by default, because the presenter has already received `.hidden`.
    public func finish() {}
}

/// A tag for the text that the indicator shows for a request, batch or chain.
///
/// ```swift
/// var tags: Tags { Tags().with(LoadingLabel.self, "Looking for flights…") }
/// ```
public enum LoadingLabel: TagKey {
    /// Defaults to `nil`: the indicator's own label.
    public static let defaultValue: String? = nil
}
