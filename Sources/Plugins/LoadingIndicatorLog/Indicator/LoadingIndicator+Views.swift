#if canImport(UIKit) && !os(watchOS)
public import UIKit

extension UIActivityIndicatorView {
    /// Animates while the indicator is shown; returns when the indicator ends or the task is cancelled.
    ///
    /// ```swift
    /// let following = Task { await spinner.follow(indicator) }
    /// ```
    public func follow(_ indicator: LoadingIndicator) async {
        for await state in indicator.states {
            if state.isShown { startAnimating() } else { stopAnimating() }
        }
        stopAnimating()
    }
}
#elseif canImport(AppKit)
public import AppKit

extension NSProgressIndicator {
    /// Animates while the indicator is shown; returns when the indicator ends or the task is cancelled.
    ///
    /// ```swift
    /// let following = Task { await spinner.follow(indicator) }
    /// ```
    public func follow(_ indicator: LoadingIndicator) async {
        for await state in indicator.states {
            if state.isShown { startAnimation(nil) } else { stopAnimation(nil) }
        }
        stopAnimation(nil)
    }
}
#endif
