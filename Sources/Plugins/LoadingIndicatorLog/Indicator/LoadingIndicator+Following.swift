extension LoadingIndicator {
    /// Passes each state to a view, now and after each change, on the main actor, for as long as the view exists.
    ///
    /// ```swift
    /// @MainActor func viewDidLoad() {
    ///     indicator.follow(spinner) { spinner, state in spinner.isHidden = !state.isShown }
    /// }
    /// ```
    ///
    /// The view is held weakly: it may be the view controller itself. The returned task ends with the indicator, with
    /// the first change after the view's end, or when it is cancelled.
    @MainActor @discardableResult
    public func follow<View: AnyObject>(
        _ view: View, _ change: @escaping @MainActor (View, LoadingState) -> Void
    ) -> Task<Void, Never> {
        let states = states
        return Task { [weak view] in
            for await state in states {
                guard let view else { return }
                change(view, state)
            }
        }
    }
}
