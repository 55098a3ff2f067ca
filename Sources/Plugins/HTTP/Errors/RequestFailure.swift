/// An error of a request, or of what consists of requests, that says what is known of the failure.
///
/// By it errors of modules that do not know each other show what the others know: a chain whose step is a batch has the
/// response of the batch's part.
///
/// ```swift
/// do { _ = try await agent.send(request) } catch let error as any RequestFailure where error.isRetryable {
///     print(error.response?.status ?? 0)
/// }
/// ```
public protocol RequestFailure: Error {
    /// The response that it failed with, with a bounded copy of its body, if there was one.
    var response: HTTPResponse? { get }
    /// Whether the same may succeed when it is sent again later, judged by the failure alone.
    var isRetryable: Bool { get }
}

extension RequestFailure {
    /// Nil.
    public var response: HTTPResponse? { nil }
}

extension ErrandError: RequestFailure {}
