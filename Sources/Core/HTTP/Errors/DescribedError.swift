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

extension ErrandError: CodedError {
    /// The texts for users and developers, and the underlying error, under the keys of `NSError`.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            "NSLocalizedDescription": FailureSentence.text(of: self), "NSDebugDescription": description,
        ]
        if let underlying { info["NSUnderlyingError"] = underlying }
        return info
    }
}

/// A kind of failure that you can switch over. It has a name for logs and metrics, and a number for `NSError`.
///
/// Use ``FailureCode`` for most errors: a module can add kinds to it without breaking a caller's `switch`. Use an
/// enumeration for an error that never gets another kind.
public protocol ErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// A stable number, from 1, that is unique within the type. Becomes the `code` of an `NSError`.
    var number: Int { get }
}

/// A ``DescribedError`` with codes. See ``FailureCode`` for an example.
public protocol CodedError: DescribedError {
    /// The type of the codes, usually ``FailureCode``.
    associatedtype Code: ErrorCode
    /// Identifies the kind of this failure.
    var code: Code { get }
}

extension CodedError {
    /// The number of the code.
    public var errorCode: Int { code.number }
}

/// An error that knows the failed request's response and whether another attempt may help.
///
/// Adopt it for your own errors, so a retry, a log or a composite can read these properties without knowing your type.
/// The errors of composites, such as batches and chains, adopt it too. For example, if a chain's step is a batch, the
/// chain's error has the response of the batch's failed part.
///
/// ```swift
/// do { _ = try await agent.send(request) } catch let error as any RequestFailure where error.isRetryable {
///     print(error.response?.status ?? 0)
/// }
/// ```
public protocol RequestFailure: Error {
    /// The response that caused the failure, with a bounded copy of its body. `nil` if no response arrived.
    var response: HTTPResponse? { get }
    /// Whether the same request may succeed later, based on the failure alone.
    var isRetryable: Bool { get }
    /// Whether the service refused the request's credentials with a status other than 401. Defaults to false.
    ///
    /// If an outcome check throws an error for which this is true, a filter that adds credentials renews them and sends
    /// the request again.
    var refusesCredential: Bool { get }
}

extension RequestFailure {
    /// Returns `nil`.
    public var response: HTTPResponse? { nil }
    /// Returns false.
    public var refusesCredential: Bool { false }
}

extension ErrandError: RequestFailure {}

/// An error that the caller expects, such as a cache miss when only a cached response was requested.
///
/// Accessories receive a success without a response, and `mapError` isn't called. `send` still throws the error.
public protocol ExpectedError: Error {
    /// Whether the request is expected to end with this error, so it isn't a failure.
    var isExpected: Bool { get }
}

extension Error {
    package var isExpectedEnd: Bool { (self as? any ExpectedError)?.isExpected == true }
}

extension URLSyntax.Fault: DescribedError {
    /// Always "Errand.URLSyntax.Fault".
    public static var errorDomain: String { "Errand.URLSyntax.Fault" }
    /// Always 1, because there is only one kind of fault.
    public var errorCode: Int { 1 }
}
