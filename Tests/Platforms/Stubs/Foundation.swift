// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Foundation of Apple's platforms, as far as Errand uses it. The essentials come from the toolchain, which has the
// same code on both; the rest is declared as in the SDK, with its annotations.
@_exported public import Dispatch
@_exported public import FoundationEssentials

public protocol NSObjectProtocol: AnyObject {}

open class NSObject: NSObjectProtocol, Hashable, CustomStringConvertible {
    public init() {}
    open func copy() -> Any { fatalError() }
    open var description: String { fatalError() }
    public static func == (a: NSObject, b: NSObject) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) { fatalError() }
}

/// Darwin declares this, with all of the system's codes.
public enum POSIXErrorCode: Int32, Hashable, Sendable {
    case EPERM = 1, EMFILE = 24
    case EACCES = 13, EPIPE = 32, EADDRNOTAVAIL = 49, ENETDOWN, ENETUNREACH
    case ECONNABORTED = 53, ECONNRESET, ENOTCONN = 57, ETIMEDOUT = 60, ECONNREFUSED
    case EHOSTDOWN = 64, EHOSTUNREACH, ECANCELED = 89
}

public protocol LocalizedError: Error {
    var errorDescription: String? { get }
    var failureReason: String? { get }
    var recoverySuggestion: String? { get }
    var helpAnchor: String? { get }
}

extension LocalizedError {
    public var errorDescription: String? { fatalError() }
    public var failureReason: String? { fatalError() }
    public var recoverySuggestion: String? { fatalError() }
    public var helpAnchor: String? { fatalError() }
}

public protocol CustomNSError: Error {
    static var errorDomain: String { get }
    var errorCode: Int { get }
    var errorUserInfo: [String: Any] { get }
}

extension CustomNSError {
    public static var errorDomain: String { fatalError() }
    public var errorCode: Int { fatalError() }
    public var errorUserInfo: [String: Any] { fatalError() }
}

extension Error {
    public var localizedDescription: String { fatalError() }
}

open class Bundle: NSObject, @unchecked Sendable {
    open class var main: Bundle { fatalError() }
    open class var allBundles: [Bundle] { fatalError() }
    open var bundlePath: String { fatalError() }
    open var bundleURL: URL { fatalError() }
    open var bundleIdentifier: String? { fatalError() }
    open var infoDictionary: [String: Any]? { fatalError() }
    open func object(forInfoDictionaryKey key: String) -> Any? { fatalError() }
}

public struct URLResourceValues: Sendable {
    public var isDirectory: Bool? { nil }
    public init() {}
    public var isExcludedFromBackup: Bool?
}

extension URL {
    public mutating func setResourceValues(_ values: URLResourceValues) throws { fatalError() }
    public func resourceValues(forKeys keys: Set<URLResourceKey>) throws -> URLResourceValues { fatalError() }
}

open class OperationQueue: NSObject, @unchecked Sendable {
    open class var main: OperationQueue { fatalError() }
    open var maxConcurrentOperationCount: Int {
        get { fatalError() }
        set { fatalError() }
    }
    open var underlyingQueue: DispatchQueue? {
        get { fatalError() }
        set { fatalError() }
    }
}

// MARK: Core Foundation. A bridged type and its value type are the same here.

public typealias CFData = Data
public typealias CFString = String
public typealias CFArray = [Any]
public typealias CFDictionary = [AnyHashable: Any]
public typealias CFStringEncoding = UInt32
public typealias CFIndex = Int
open class CFError: Error, @unchecked Sendable {}
public func CFErrorCopyDescription(_ error: CFError!) -> CFString! { fatalError() }
public let kCFStringEncodingInvalidId: CFStringEncoding = 0xFFFF_FFFF
public func CFStringConvertIANACharSetNameToEncoding(_ name: CFString!) -> CFStringEncoding { fatalError() }
public func CFStringConvertEncodingToNSStringEncoding(_ encoding: CFStringEncoding) -> UInt { fatalError() }
public let NSLocalizedDescriptionKey = "NSLocalizedDescription"
