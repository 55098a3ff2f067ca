public import ErrandEssentials

#if canImport(Darwin)
/// A public error of Errand: a description for developers, a sentence for people, and a number that never changes for
/// each kind of failure.
///
/// `description` is for logs; `localizedDescription` is the text of ``failureSentence``, for people. On Apple's platforms
/// the error is an `NSError` of its domain and code.
public protocol DescribedError: LocalizedError, CustomNSError, CustomStringConvertible {
    /// The sentence for people; ``FailureSentence/failed`` by default.
    var failureSentence: FailureSentence { get }
}
#else
/// A public error of Errand: a description for developers, a sentence for people, and a number that never changes for
/// each kind of failure.
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
/// `description` is for logs; `localizedDescription` is the text of ``failureSentence``, for people. On Apple's platforms
/// the error is an `NSError` of its domain and code.
public protocol DescribedError: LocalizedError, CustomStringConvertible {
    /// "Errand." and the name of the type by default.
    static var errorDomain: String { get }
    /// The number of the kind of failure; it never changes.
    var errorCode: Int { get }
    /// The sentence for people; ``FailureSentence/failed`` by default.
    var failureSentence: FailureSentence { get }
}
#endif

extension DescribedError {
    /// ``FailureSentence/failed``
    public var failureSentence: FailureSentence { .failed }

    /// The text of the sentence, or the app's own.
    public var errorDescription: String? { failureSentence.text(for: self) }

    /// "Errand." and the name of the type.
    public static var errorDomain: String { "Errand.\(Self.self)" }

    /// Both texts, in the form of `NSError`.
    public var errorUserInfo: [String: Any] {
        ["NSLocalizedDescription": FailureSentence.text(of: self), "NSDebugDescription": description]
    }
}

extension ErrandError: CodedError {
    /// Both texts, and the underlying failure.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            "NSLocalizedDescription": FailureSentence.text(of: self), "NSDebugDescription": description,
        ]
        if let underlying { info["NSUnderlyingError"] = underlying }
        return info
    }
}
