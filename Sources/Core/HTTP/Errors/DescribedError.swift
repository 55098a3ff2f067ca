public import ErrandEssentials
public import ErrandMessageSyntax

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

/// A kind of failure to switch over: a name for logs and metrics, and a number for `NSError`.
///
/// Most errors use ``FailureCode``, whose static members let a module add kinds without breaking a caller's `switch`.
/// An enumeration is enough for an error that never gets another kind.
public protocol ErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// A stable number, from 1 and unique within its type.
    var number: Int { get }
}

/// A ``DescribedError`` with codes. Its `errorCode` is the number of its code; see ``FailureCode`` for an example.
public protocol CodedError: DescribedError {
    /// The kinds of failure.
    associatedtype Code: ErrorCode
    /// The kind of this failure.
    var code: Code { get }
}

extension CodedError {
    /// The code's stable number.
    public var errorCode: Int { code.number }
}

/// An error of a request, or of a composite of requests, along with its evidence.
///
/// Passes evidence between modules that don't know each other: if a chain's step is a batch, the chain's error has the
/// response of the batch's failed part.
///
/// ```swift
/// do { _ = try await agent.send(request) } catch let error as any RequestFailure where error.isRetryable {
///     print(error.response?.status ?? 0)
/// }
/// ```
public protocol RequestFailure: Error {
    /// The response that caused the failure, with a bounded copy of its body, if there was one.
    var response: HTTPResponse? { get }
    /// Whether the same request may succeed when sent again later, based on the failure alone.
    var isRetryable: Bool { get }
    /// Whether the service refused the request's credentials with a status other than 401. If an outcome check's error
    /// returns true, a filter that adds credentials renews them and sends the request again. Defaults to false.
    var refusesCredential: Bool { get }
}

extension RequestFailure {
    /// Defaults to `nil`.
    public var response: HTTPResponse? { nil }
    /// Defaults to false.
    public var refusesCredential: Bool { false }
}

extension ErrandError: RequestFailure {}

/// An error that the caller of a request expects, for example a cache miss when only a cached response was requested.
///
/// An activity that ends with an expected error hasn't failed: accessories receive a success without a response, and
/// `mapError` isn't called. `send` still throws the error.
public protocol ExpectedError: Error {
    /// Whether this error is the expected end of its request.
    var isExpected: Bool { get }
}

extension Error {
    /// Whether the error is an expected end of its request.
    package var isExpectedEnd: Bool { (self as? any ExpectedError)?.isExpected == true }
}

extension URLSyntax.Fault: DescribedError {
    /// Always "Errand.URLSyntax.Fault".
    public static var errorDomain: String { "Errand.URLSyntax.Fault" }
    /// Always 1, because there is only one kind.
    public var errorCode: Int { 1 }
}
