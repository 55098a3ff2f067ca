public import ErrandEssentials

#if canImport(Darwin)
/// What every public error of Errand is: a sentence for people, and a number that never changes for each kind of failure.
///
/// `localizedDescription` is the `description`; on Apple's platforms the error is an `NSError` of its domain and code.
public protocol DescribedError: LocalizedError, CustomNSError, CustomStringConvertible {}
#else
/// What every public error of Errand is: a sentence for people, and a number that never changes for each kind of failure.
///
/// ```swift
/// struct QuotaExceeded: DescribedError {
///     let quota: Int
///     var description: String { "the quota of \(quota) requests is used up" }
///     var errorCode: Int { 1 }
/// }
/// ```
///
/// `localizedDescription` is the `description`; on Apple's platforms the error is an `NSError` of its domain and code.
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

    /// The description, as `NSError` has it.
    public var errorUserInfo: [String: Any] { ["NSLocalizedDescription": description] }
}

extension ErrandError: CodedError {
    /// The description, and the failure below this one.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = ["NSLocalizedDescription": description]
        if let underlying { info["NSUnderlyingError"] = underlying }
        return info
    }
}
