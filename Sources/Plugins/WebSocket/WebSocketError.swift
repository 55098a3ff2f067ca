public import Errand
import ErrandEssentials

/// A failure of a WebSocket.
///
/// ```swift
/// do {
///     for try await event in socket { print(event) }
/// } catch let error as WebSocketError where error.code == .closed {
///     print(error.closeCode ?? .noStatusReceived, error.reason)
/// }
/// ```
///
/// If the connection fails, the socket throws an ``Errand/ErrandError`` instead. Descriptions contain neither messages
/// nor the server's `reason`.
public struct WebSocketError: CodedError, RequestFailure, Sendable {
    /// The error codes. More may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<WebSocketError>

    /// The kind of failure. Stable, so you can use it in metrics.
    public var code: Code
    /// Describes the failure, with the expected and the actual result.
    public var message: String
    /// The code in the server's or the client's close frame. It's nil if neither side sent a close frame.
    public var closeCode: CloseCode?
    /// The reason in the server's close frame, or an empty string.
    public var reason = ""
    /// The response to a failed opening handshake. It's nil for other failures.
    public var response: HTTPResponse?
    /// The error that caused this failure, such as a `DecodingError`. It's nil if another error didn't cause it.
    public var underlying: (any Error)?

    init(
        _ code: Code, _ message: String, closeCode: CloseCode? = nil, response: HTTPResponse? = nil,
        underlying: (any Error)? = nil
    ) {
        (self.code, self.message, self.closeCode, self.response) = (code, message, closeCode, response)
        self.underlying = underlying
    }

    /// Whether connecting again may succeed. It may if the server went away, restarts, is overloaded, or doesn't
    /// respond.
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
    /// The server's response to the opening handshake violates RFC 6455, section 4.
    public static var handshakeFailed: Self { Self("handshakeFailed", 1) }
    /// The server's frames violate RFC 6455, or its compressed data is corrupt.
    public static var protocolViolated: Self { Self("protocolViolated", 2) }
    /// A text message isn't valid UTF-8.
    public static var invalidText: Self { Self("invalidText", 3) }
    /// A message exceeds the maximum size.
    public static var tooLarge: Self { Self("tooLarge", 4) }
    /// The server's close code indicates a failure, or the socket was closed before a message could be sent.
    public static var closed: Self { Self("closed", 5) }
    /// The server didn't respond to a ping in time, or a message didn't arrive within the reader's limit.
    public static var timedOut: Self { Self("timedOut", 6) }
    /// A message couldn't be decoded. You can read the next one.
    public static var decodingFailed: Self { Self("decodingFailed", 7) }
    /// A message couldn't be encoded, and wasn't sent.
    public static var encodingFailed: Self { Self("encodingFailed", 8) }
    /// A second reader tried to read the socket's messages.
    public static var alreadyRead: Self { Self("alreadyRead", 9) }
    /// The socket isn't connected, and the options don't allow a message to wait, or too many are waiting.
    public static var notConnected: Self { Self("notConnected", 10) }
    /// The request was sent like an ordinary request. Open it with the agent's `webSocket(_:)` instead.
    public static var notASocket: Self { Self("notASocket", 11) }
}

extension WebSocketError {
    /// The text that users see as `localizedDescription`. For a failed handshake, it depends on the status.
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
