#if canImport(UIKit) && !os(watchOS)
public import UIKit

extension UIActivityIndicatorView {
    /// Animates while the indicator is shown.
    ///
    /// ```swift
    /// override func viewDidLoad() { spinner.follow(indicator) }
    /// ```
    ///
    /// The view is held weakly, and needs no code at its end; see ``LoadingIndicator/follow(_:_:)``.
    @discardableResult
    public func follow(_ indicator: LoadingIndicator) -> Task<Void, Never> {
        indicator.follow(self) { view, state in
            if state.isShown { view.startAnimating() } else { view.stopAnimating() }
        }
    }
}
#elseif canImport(AppKit)
public import AppKit

extension NSProgressIndicator {
    /// Animates while the indicator is shown.
    ///
    /// ```swift
    /// override func viewDidLoad() { spinner.follow(indicator) }
    /// ```
    ///
    /// The view is held weakly, and needs no code at its end; see ``LoadingIndicator/follow(_:_:)``.
    @discardableResult
    public func follow(_ indicator: LoadingIndicator) -> Task<Void, Never> {
        indicator.follow(self) { view, state in
            if state.isShown { view.startAnimation(nil) } else { view.stopAnimation(nil) }
        }
    }
}
#endif
