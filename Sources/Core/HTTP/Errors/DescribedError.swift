public import ErrandEssentials

#if canImport(Darwin)
/// A public error of Errand: a description for developers, a sentence for users, and a stable number for each kind of
/// failure.
///
/// Use `description` for logs and `localizedDescription`, the text of ``failureSentence``, for users. On Apple
/// platforms, the error bridges to an `NSError` with its domain and code.
public protocol DescribedError: LocalizedError, CustomNSError, CustomStringConvertible {
    /// The sentence for users; defaults to ``FailureSentence/failed``.
    var failureSentence: FailureSentence { get }
}
#else
/// A public error of Errand: a description for developers, a sentence for users, and a stable number for each kind of
/// failure.
///
/// ```swift
/// struct QuotaExceeded: DescribedError {
///     let quota: Int
///     var description: String { "the quota of \(quota) requests is used up" }
///     var failureSentence: FailureSentence { .busy }
///     var errorCode: Int { 1 }
/// }
/// ```
///
/// Use `description` for logs and `localizedDescription`, the text of ``failureSentence``, for users. On Apple
/// platforms, the error bridges to an `NSError` with its domain and code.
public protocol DescribedError: LocalizedError, CustomStringConvertible {
    /// The error's domain; defaults to "Errand." and the type's name.
    static var errorDomain: String { get }
    /// A stable number for the kind of failure.
    var errorCode: Int { get }
    /// The sentence for users; defaults to ``FailureSentence/failed``.
    var failureSentence: FailureSentence { get }
}
#endif

extension DescribedError {
    /// Defaults to ``FailureSentence/failed``.
    public var failureSentence: FailureSentence { .failed }

    /// The sentence's text, or the app's own text.
    public var errorDescription: String? { failureSentence.text(for: self) }

    /// Defaults to "Errand." and the type's name.
    public static var errorDomain: String { "Errand.\(Self.self)" }

    /// Both texts, under the keys of `NSError`.
    public var errorUserInfo: [String: Any] {
        ["NSLocalizedDescription": FailureSentence.text(of: self), "NSDebugDescription": description]
    }
}

extension ErrandError: CodedError {
    /// Both texts and the underlying error.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            "NSLocalizedDescription": FailureSentence.text(of: self), "NSDebugDescription": description,
        ]
        if let underlying { info["NSUnderlyingError"] = underlying }
        return info
    }
}
