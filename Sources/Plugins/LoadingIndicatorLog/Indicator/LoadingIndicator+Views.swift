#if canImport(UIKit) && !os(watchOS)
public import UIKit

extension UIActivityIndicatorView {
    /// Animates the view while the indicator is shown.
    ///
    /// ```swift
    /// override func viewDidLoad() { spinner.follow(indicator) }
    /// ```
    ///
    /// The indicator holds the view weakly, so you don't need to clean up. See ``LoadingIndicator/follow(_:_:)``.
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
    /// Animates the view while the indicator is shown.
    ///
    /// ```swift
    /// override func viewDidLoad() { spinner.follow(indicator) }
    /// ```
    ///
    /// The indicator holds the view weakly, so you don't need to clean up. See ``LoadingIndicator/follow(_:_:)``.
    @discardableResult
    public func follow(_ indicator: LoadingIndicator) -> Task<Void, Never> {
        indicator.follow(self) { view, state in
            if state.isShown { view.startAnimation(nil) } else { view.stopAnimation(nil) }
        }
    }
}
#endif
