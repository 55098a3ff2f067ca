// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation

@MainActor open class NSView: NSObject {}

@MainActor open class NSProgressIndicator: NSView {
    open func startAnimation(_ sender: Any?) { fatalError() }
    open func stopAnimation(_ sender: Any?) { fatalError() }
}
