public import Errand
import ErrandEssentials

/// A failure that a service reports in a response's envelope, whatever the HTTP status.
///
/// ```swift
/// do { try await agent.send(GetUser(id: 7)) } catch let error as EnvelopeError {
///     if error.code == 1004 { show(error.message) }
/// }
/// ```
///
/// `localizedDescription` is the service's message, for users. `description` is for logs and leaves out the message.
public struct EnvelopeError: Error, RequestFailure {
    /// The envelope, with all its members.
    public var envelope: any ResponseEnvelope
    /// The response, with at most the first 64 KiB of its body.
    public var response: HTTPResponse?

    private static let maximumBodyBytes = 64 << 10

    /// Creates an error from an envelope and its response.
    public init(_ envelope: some ResponseEnvelope, response: HTTPResponse) {
        self.envelope = envelope
        self.response = response
        guard let data = response.body.data else { return }
        if data.count > Self.maximumBodyBytes {
            self.response?.body = HTTPBody(Data(data.prefix(Self.maximumBodyBytes)))
        }
    }

    /// Creates an error from an ``Errand/ErrandError`` with an unacceptable status, if the response's body is an
    /// envelope. Returns `nil` for other errors.
    ///
    /// ```swift
    /// agent.configure { $0.mapError = { EnvelopeError($0, in: Reply.self) ?? $0 } }
    /// ```
    public init?<Envelope: ResponseEnvelope>(_ error: any Error, in type: Envelope.Type) {
        guard let error = error as? ErrandError, error.code == .unacceptableStatus, let response = error.response,
            let envelope = try? response.decoded(as: type)
        else { return nil }
        self.init(envelope, response: response)
    }

    /// The service's code.
    public var code: EnvelopeCode { envelope.code }
    /// The service's message for users.
    public var message: String? { envelope.message }
    /// Whether the service rejects the credential.
    public var refusesCredential: Bool { envelope.refusesCredential }
    /// Whether the status is 408, 425, 429, 500, 502, 503 or 504. To retry by the service's codes, use
    /// `RetryPolicy.repeatsError`.
    public var isRetryable: Bool { response.map { StatusCodes.retryable.contains($0.status) } ?? false }
}

extension EnvelopeError: DescribedError, CustomDebugStringConvertible {
    /// The response's code, status and URL, without query values and the message.
    public var description: String {
        "the service reported the code \(code)" + (response.map { " (\($0))" } ?? "")
    }

    /// The same as `description`.
    public var debugDescription: String { description }

    /// The sentence for the status, or that the service refused the request.
    public var failureSentence: FailureSentence {
        guard let response, response.status >= 400 else { return .refused }
        return .status(response.status)
    }

    /// The service's message, or the sentence if the message is missing.
    public var errorDescription: String? { failureSentence.text(for: self, message: message) }

    /// The code if it is a number, otherwise 1.
    public var errorCode: Int { code.number ?? 1 }
}
