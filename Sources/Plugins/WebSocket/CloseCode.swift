/// The reason for closing a WebSocket (RFC 6455, section 7.4).
///
/// ```swift
/// await socket.close(.goingAway)
/// ```
public struct CloseCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number of the code, from 1000 to 4999.
    public let rawValue: UInt16

    /// Creates a code from its number. Codes from 3000 to 3999 are registered with IANA. Apps can use 4000 to 4999
    /// freely.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// 1000: the connection has fulfilled its purpose.
    public static let normalClosure = CloseCode(rawValue: 1000)
    /// 1001: a server shuts down, or a client leaves.
    public static let goingAway = CloseCode(rawValue: 1001)
    /// 1002: the peer violated the protocol.
    public static let protocolError = CloseCode(rawValue: 1002)
    /// 1003: the peer sent a kind of data that can't be accepted.
    public static let unsupportedData = CloseCode(rawValue: 1003)
    /// 1005: the peer's close frame contained no code. Never sent.
    public static let noStatusReceived = CloseCode(rawValue: 1005)
    /// 1007: a text isn't UTF-8, or a message's content doesn't match its type.
    public static let invalidPayload = CloseCode(rawValue: 1007)
    /// 1008: a message violated a policy.
    public static let policyViolation = CloseCode(rawValue: 1008)
    /// 1009: a message is too large.
    public static let messageTooBig = CloseCode(rawValue: 1009)
    /// 1010: the server didn't accept an extension that the client requires.
    public static let mandatoryExtension = CloseCode(rawValue: 1010)
    /// 1011: the server encountered an unexpected condition.
    public static let internalError = CloseCode(rawValue: 1011)
    /// 1012: the server restarts.
    public static let serviceRestart = CloseCode(rawValue: 1012)
    /// 1013: the server is overloaded.
    public static let tryAgainLater = CloseCode(rawValue: 1013)

    var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The number in decimal.
    public var description: String { "\(rawValue)" }
}
