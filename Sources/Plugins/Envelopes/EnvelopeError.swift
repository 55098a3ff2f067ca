public import Errand
import ErrandEssentials

/// The failure that a service reports in the envelope of its response, whatever the status.
///
/// ```swift
/// do { try await agent.send(GetUser(id: 7)) } catch let error as EnvelopeError {
///     if error.code == 1004 { show(error.message) }
/// }
/// ```
///
/// Its `localizedDescription` is the message of the service, for people; its `description` is for logs, and leaves that out.
public struct EnvelopeError: Error, RequestFailure {
    /// The envelope, with its other members.
    public var envelope: any ResponseEnvelope
    /// The response, with at most the first 64 KiB of its body.
    public var response: HTTPResponse?

    private static let maximumBodyBytes = 64 << 10

    /// Makes an error of an envelope and the response that it was read from.
    public init(_ envelope: some ResponseEnvelope, response: HTTPResponse) {
        self.envelope = envelope
        self.response = response
        guard let data = response.body.data else { return }
        if data.count > Self.maximumBodyBytes {
            self.response?.body = HTTPBody(Data(data.prefix(Self.maximumBodyBytes)))
        }
    }

    /// Makes an error of one that Errand throws for a status that the request does not accept, if the body of its response is
    /// an envelope; nil otherwise.
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

    /// The code of the service.
    public var code: EnvelopeCode { envelope.code }
    /// The sentence that the service has for people.
    public var message: String? { envelope.message }
    /// Whether the service refuses the credential.
    public var refusesCredential: Bool { envelope.refusesCredential }
    /// By the status: 408, 425, 429, 500, 502, 503 and 504. Codes of services that may be repeated are a matter of
    /// `RetryPolicy.repeatsError`.
    public var isRetryable: Bool { response.map { StatusCodes.retryable.contains($0.status) } ?? false }
}

extension EnvelopeError: DescribedError, CustomDebugStringConvertible {
    /// The code, status and URL of the response, without the values of its query and without the message.
    public var description: String {
        "the service reported the code \(code)" + (response.map { " (\($0))" } ?? "")
    }

    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }

    /// The sentence of the status, or that the service refused the request.
    public var failureSentence: FailureSentence {
        guard let response, response.status >= 400 else { return .refused }
        return .status(response.status)
    }

    /// The message of the service; the sentence if there is none.
    public var errorDescription: String? { failureSentence.text(for: self, message: message) }

    /// The code, if it is a number; 1 otherwise.
    public var errorCode: Int { code.number ?? 1 }
}
