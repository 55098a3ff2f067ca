// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation

@MainActor open class NSView: NSObject {}

@MainActor open class NSProgressIndicator: NSView {
    open func startAnimation(_ sender: Any?) { fatalError() }
    open func stopAnimation(_ sender: Any?) { fatalError() }
}

@MainActor open class NSResponder: NSObject {}

@MainActor open class NSWindow: NSResponder {}

@MainActor open class NSApplication: NSResponder {
    public enum ActivationPolicy: Int, Sendable { case regular, accessory, prohibited }
    open class var shared: NSApplication { fatalError() }
    @discardableResult open func setActivationPolicy(_ activationPolicy: ActivationPolicy) -> Bool { fatalError() }
    open func activate() { fatalError() }
}
