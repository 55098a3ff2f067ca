// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
@_exported public import Foundation

@MainActor open class UIView: NSObject {}

@MainActor open class UIActivityIndicatorView: UIView {
    open func startAnimating() { fatalError() }
    open func stopAnimating() { fatalError() }
}
