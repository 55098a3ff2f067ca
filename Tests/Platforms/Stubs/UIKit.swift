// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation

// UIKit has no views on watchOS.
#if !os(watchOS)
@MainActor open class UIView: NSObject {}

@MainActor open class UIWindow: UIView {}

@MainActor open class UIActivityIndicatorView: UIView {
    open func startAnimating() { fatalError() }
    open func stopAnimating() { fatalError() }
}

public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }
    public static let invalid = Self(rawValue: 0)
}

@MainActor open class UIApplication: NSObject {
    open class var shared: UIApplication { fatalError() }
    open func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { fatalError() }
    open func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) { fatalError() }
}
#endif
