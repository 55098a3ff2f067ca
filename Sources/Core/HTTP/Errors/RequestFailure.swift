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
