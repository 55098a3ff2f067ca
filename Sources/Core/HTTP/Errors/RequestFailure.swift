/// An error of a request, or of a composite of requests, with what is known of the failure.
///
/// Errors of modules that do not know each other share their evidence through it: a chain whose step is a batch has the
/// response of the batch's part.
///
/// ```swift
/// do { _ = try await agent.send(request) } catch let error as any RequestFailure where error.isRetryable {
///     print(error.response?.status ?? 0)
/// }
/// ```
public protocol RequestFailure: Error {
    /// The response that the request failed with, with a bounded copy of its body, if there was one.
    var response: HTTPResponse? { get }
    /// Whether the same request may succeed when it is sent again later, judged by the failure alone.
    var isRetryable: Bool { get }
    /// Whether the service refused the credential of the request, in a response of another status than 401. The error
    /// of an outcome check says so, and a filter that adds credentials gets a new one and sends the request again.
    /// False by default.
    var refusesCredential: Bool { get }
}

extension RequestFailure {
    /// Nil.
    public var response: HTTPResponse? { nil }
    /// False.
    public var refusesCredential: Bool { false }
}

extension ErrandError: RequestFailure {}
