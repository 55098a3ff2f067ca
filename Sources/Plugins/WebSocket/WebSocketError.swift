public import Errand
import ErrandEssentials

/// A failure of a WebSocket: a code, a sentence, and what the server has said.
///
/// ```swift
/// do {
///     for try await event in socket { print(event) }
/// } catch let error as WebSocketError where error.code == .closed {
///     print(error.closeCode ?? .noStatusReceived, error.reason)
/// }
/// ```
///
/// A connection that fails throws an ``Errand/ErrandError``, as a request does. The description contains no part of a
/// message; the `reason` that a server gives is not part of it either.
public struct WebSocketError: CodedError, RequestFailure, Sendable {
    /// The kind of failure; stable, of low cardinality, fit for metrics.
    public typealias Code = FailureCode<WebSocketError>

    /// The kind of failure.
    public var code: Code
    /// A sentence with what was expected and what came.
    public var message: String
    /// The code of the close frame of either side, if there was one.
    public var closeCode: CloseCode?
    /// The reason in the server's close frame; empty without one.
    public var reason = ""
    /// The response to the opening handshake, if that failed.
    public var response: HTTPResponse?
    /// The underlying failure, such as a `DecodingError`.
    public var underlying: (any Error)?

    init(
        _ code: Code, _ message: String, closeCode: CloseCode? = nil, response: HTTPResponse? = nil,
        underlying: (any Error)? = nil
    ) {
        (self.code, self.message, self.closeCode, self.response) = (code, message, closeCode, response)
        self.underlying = underlying
    }

    /// Whether another connection may succeed: the server went away, restarts or is overloaded, or is silent.
    public var isRetryable: Bool {
        switch code {
        case .timedOut: true
        case .closed: closeCode.map { [1001, 1011, 1012, 1013, 1014].contains($0.rawValue) } ?? true
        default: false
        }
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }

    static func violation(_ message: String, _ closeCode: CloseCode = .protocolError) -> WebSocketError {
        WebSocketError(.protocolViolated, message, closeCode: closeCode)
    }
}

extension FailureCode<WebSocketError> {
    /// The server has not opened the socket as RFC 6455, section 4, requires.
    public static var handshakeFailed: Self { Self("handshakeFailed", 1) }
    /// The server has sent frames against RFC 6455, or deflated data that is corrupt.
    public static var protocolViolated: Self { Self("protocolViolated", 2) }
    /// Text is not UTF-8.
    public static var invalidText: Self { Self("invalidText", 3) }
    /// A message is longer than the limit.
    public static var tooLarge: Self { Self("tooLarge", 4) }
    /// The server has closed the socket with a code that stands for a failure; or the socket was closed before a
    /// message could be sent.
    public static var closed: Self { Self("closed", 5) }
    /// The server has not responded to a ping in time, or no message has come in the time that its reader waits.
    public static var timedOut: Self { Self("timedOut", 6) }
    /// A message cannot be decoded. Reading may continue with the next one.
    public static var decodingFailed: Self { Self("decodingFailed", 7) }
    /// A message cannot be encoded; nothing of it was sent.
    public static var encodingFailed: Self { Self("encodingFailed", 8) }
    /// A second reader began to read a socket.
    public static var alreadyRead: Self { Self("alreadyRead", 9) }
    /// There is no connection at the moment, and messages do not wait for one.
    public static var notConnected: Self { Self("notConnected", 10) }
    /// The request was sent as a request, and not opened as a socket.
    public static var notASocket: Self { Self("notASocket", 11) }
}

extension WebSocketError {
    /// The sentence for people; for a handshake that failed, that of its status.
    public var failureSentence: FailureSentence {
        switch code {
        case .handshakeFailed: .status(response?.status ?? 0)
        case .protocolViolated, .invalidText, .decodingFailed: .unusableResponse
        case .tooLarge: .tooLarge
        case .closed, .notConnected: .connectionLost
        case .timedOut: .timedOut
        default: .failed
        }
    }
}
