public import Errand
import ErrandEssentials

/// A failure that a service reports in a response's ``ResponseEnvelope``, regardless of the HTTP status.
///
/// ```swift
/// do { try await agent.send(GetUser(id: 7)) } catch let error as EnvelopeError {
///     if error.code == 1004 { show(error.message) }
/// }
/// ```
///
/// `localizedDescription` is the service's message, for users. `description` is for logs and leaves out this message.
public struct EnvelopeError: Error, RequestFailure {
    /// The envelope that reports the failure, with all its members.
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

    /// Creates an error from the envelope in the response of an ``Errand/ErrandError`` with an unacceptable status.
    /// Returns `nil` for other errors, or if the response's body isn't an envelope.
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

    /// The envelope's code.
    public var code: EnvelopeCode { envelope.code }
    /// The envelope's message for users, if it has one.
    public var message: String? { envelope.message }
    /// Whether the service rejected the credential; see ``ResponseEnvelope/refusesCredential``.
    public var refusesCredential: Bool { envelope.refusesCredential }
    /// Whether the status is 408, 425, 429, 500, 502, 503 or 504. To retry by the envelope's code, use
    /// `RetryPolicy.repeatsError`.
    public var isRetryable: Bool { response.map { StatusCodes.retryable.contains($0.status) } ?? false }
}

extension EnvelopeError: DescribedError, CustomDebugStringConvertible {
    /// The code, the status and the URL. Leaves out query values and the message.
    public var description: String {
        "the service reported the code \(code)" + (response.map { " (\($0))" } ?? "")
    }

    /// The same text as `description`.
    public var debugDescription: String { description }

    /// The sentence for users if the envelope has no message. It depends on the status.
    public var failureSentence: FailureSentence {
        guard let response, response.status >= 400 else { return .refused }
        return .status(response.status)
    }

    /// The text of `localizedDescription`: the envelope's message, otherwise ``failureSentence``.
    public var errorDescription: String? { failureSentence.text(for: self, message: message) }

    /// The `NSError` code: the envelope's code if it is a number, otherwise 1.
    public var errorCode: Int { code.number ?? 1 }
}

/// A service's code for the outcome of a request: a number, or text such as `"A0401"`.
///
/// ```swift
/// let code = EnvelopeCode("0000")
/// let isSuccess = code == 0 || code == "SUCCESS"
/// ```
///
/// Services write the same code in different ways, so `0`, `"0"`, `"0000"` and `0.0` are equal. `true` equals 1, and
/// `false` equals 0.
public struct EnvelopeCode: Sendable, Hashable {
    private enum Form: Hashable {
        case number(Int64)
        case text(String)
    }

    private let form: Form

    /// Creates a code from a number.
    public init(_ number: some BinaryInteger) { form = Int64(exactly: number).map(Form.number) ?? .text("\(number)") }

    /// Creates a code from text. If the text is a number, so is the code.
    public init(_ text: String) { form = Int64(text).map(Form.number) ?? .text(text) }

    /// The code as a number, or `nil` if it is text or doesn't fit in an `Int`.
    public var number: Int? {
        if case .number(let number) = form { return Int(exactly: number) }
        return nil
    }
}

extension EnvelopeCode: CustomStringConvertible, LosslessStringConvertible {
    /// The number or text.
    public var description: String {
        switch form {
        case .number(let number): "\(number)"
        case .text(let text): text
        }
    }
}

extension EnvelopeCode: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    /// Creates a code from a number.
    public init(integerLiteral value: Int64) { form = .number(value) }
    /// Creates a code from text. If the text is a number, so is the code.
    public init(stringLiteral value: String) { self.init(value) }
}

extension EnvelopeCode: Codable {
    /// Decodes a number, a string or a Boolean. Throws the decoder's error for other values.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        // An `Int64` or `Double` would lose digits of a long number.
        if let number = try? container.decode(Decimal.self) {
            self.init("\(number)")
        } else if let text = try? container.decode(String.self) {
            self.init(text)
        } else {
            self.init(try container.decode(Bool.self) ? 1 : 0)
        }
    }

    /// Encodes a number or a string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch form {
        case .number(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        }
    }
}
