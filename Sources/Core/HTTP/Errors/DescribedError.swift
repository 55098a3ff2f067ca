public import ErrandEssentials
public import ErrandMessageSyntax

#if canImport(Darwin)
/// A public Errand error: it has a description for developers, a sentence for users, and a stable number for each kind
/// of failure.
///
/// Use `description` for logs. Show `localizedDescription`, the text of ``failureSentence``, to users. The error
/// bridges to an `NSError` with its domain and code.
public protocol DescribedError: LocalizedError, CustomNSError, CustomStringConvertible {
    /// The kind of sentence that users see in `localizedDescription`. Defaults to ``FailureSentence/failed``.
    var failureSentence: FailureSentence { get }
}
#else
/// A public Errand error: it has a description for developers, a sentence for users, and a stable number for each kind
/// of failure.
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
/// Use `description` for logs. Show `localizedDescription`, the text of ``failureSentence``, to users. On Apple
/// platforms, the error bridges to an `NSError` with its domain and code.
public protocol DescribedError: LocalizedError, CustomStringConvertible {
    /// The domain of the `NSError`. Defaults to "Errand." and the type's name.
    static var errorDomain: String { get }
    /// A stable number for the kind of failure. Becomes the `code` of the `NSError`.
    var errorCode: Int { get }
    /// The kind of sentence that users see in `localizedDescription`. Defaults to ``FailureSentence/failed``.
    var failureSentence: FailureSentence { get }
}
#endif

extension DescribedError {
    /// Returns ``FailureSentence/failed``.
    public var failureSentence: FailureSentence { .failed }

    /// The text for users: the app's own text, or else the sentence's.
    public var errorDescription: String? { failureSentence.text(for: self) }

    /// Returns "Errand." and the type's name.
    public static var errorDomain: String { "Errand.\(Self.self)" }

    /// The texts for users and developers, under the keys of `NSError`.
    public var errorUserInfo: [String: Any] {
        ["NSLocalizedDescription": FailureSentence.text(of: self), "NSDebugDescription": description]
    }
}

extension URLSyntax.Fault: DescribedError {
    /// Always "Errand.URLSyntax.Fault".
    public static var errorDomain: String { "Errand.URLSyntax.Fault" }
    /// Always 1, because there is only one kind of fault.
    public var errorCode: Int { 1 }
}
