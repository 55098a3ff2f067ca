public import ErrandEssentials

#if canImport(Darwin)
/// A public error of Errand: a sentence for people, and a number that never changes for each kind of failure.
///
/// `localizedDescription` is the `description`, for a ``CodedError`` without its code. On Apple's platforms the error
/// is an `NSError` of its domain and code.
public protocol DescribedError: LocalizedError, CustomNSError, CustomStringConvertible {}
#else
/// A public error of Errand: a sentence for people, and a number that never changes for each kind of failure.
///
/// ```swift
/// struct QuotaExceeded: DescribedError {
///     let quota: Int
///     var description: String { "the quota of \(quota) requests is used up" }
///     var errorCode: Int { 1 }
/// }
/// ```
///
/// `localizedDescription` is the `description`, for a ``CodedError`` without its code. On Apple's platforms the error
/// is an `NSError` of its domain and code.
public protocol DescribedError: LocalizedError, CustomStringConvertible {
    /// "Errand." and the name of the type by default.
    static var errorDomain: String { get }
    /// The number of the kind of failure; it never changes.
    var errorCode: Int { get }
}
#endif

extension DescribedError {
    /// The same as `description`.
    public var errorDescription: String? { description }

    /// "Errand." and the name of the type.
    public static var errorDomain: String { "Errand.\(Self.self)" }

    /// The description, in the form of `NSError`.
    public var errorUserInfo: [String: Any] { ["NSLocalizedDescription": errorDescription ?? description] }
}

extension ErrandError: CodedError {
    /// The description, and the underlying failure.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = ["NSLocalizedDescription": errorDescription ?? description]
        if let underlying { info["NSUnderlyingError"] = underlying }
        return info
    }
}
