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
    /// The reason why the request wasn't sent, if the reason is its user. Defaults to `nil`.
    ///
    /// A queue that sends requests later uses it to wait for the user.
    var userFailure: UserFailure? { get }
}

/// The reason why a request wasn't sent for its user.
public enum UserFailure: Sendable, Hashable {
    /// No user is signed in.
    case signedOut
    /// Another user has signed in since the request was started or stored.
    case userChanged
}

extension RequestFailure {
    /// Returns `nil`.
    public var response: HTTPResponse? { nil }
    /// Returns false.
    public var refusesCredential: Bool { false }
    /// Returns `nil`.
    public var userFailure: UserFailure? { nil }
}

extension ErrandError: RequestFailure {
    /// The reason for the code ``Code/userChanged``. `nil` for other codes.
    public var userFailure: UserFailure? { code == .userChanged ? .userChanged : nil }
}

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
