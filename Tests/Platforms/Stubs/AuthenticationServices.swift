// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation

// Not in the stubs of watchOS, where the framework has no presentation anchors.
#if !os(watchOS)
#if os(macOS)
public import AppKit

public typealias ASPresentationAnchor = NSWindow
#else
public import UIKit

public typealias ASPresentationAnchor = UIWindow
#endif

public struct ASWebAuthenticationSessionError: Error {
    public enum Code: Int, Sendable {
        case canceledLogin = 1, presentationContextNotProvided, presentationContextInvalid
    }
    public var code: Code { fatalError() }
}

@MainActor public protocol ASWebAuthenticationPresentationContextProviding: NSObjectProtocol {
    func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

open class ASWebAuthenticationSession: NSObject {
    public typealias CompletionHandler = (URL?, (any Error)?) -> Void

    open class Callback: NSObject {
        open class func customScheme(_ customScheme: String) -> Self { fatalError() }
        open class func https(host: String, path: String) -> Self { fatalError() }
    }

    public init(url URL: URL, callback: Callback, completionHandler: @escaping CompletionHandler) { fatalError() }
    open weak var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?
    open var prefersEphemeralWebBrowserSession: Bool = false
    @discardableResult open func start() -> Bool { fatalError() }
    open func cancel() { fatalError() }
}
#endif
