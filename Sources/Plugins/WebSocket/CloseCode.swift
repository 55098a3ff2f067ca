/// The reason for which an end of a WebSocket closes it (RFC 6455, section 7.4).
///
/// ```swift
/// await socket.close(.goingAway)
/// ```
public struct CloseCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number, from 1000 to 4999.
    public let rawValue: UInt16

    /// A code of one's own: 4000 to 4999 between parties that agree on it, 3000 to 3999 for what is registered.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// 1000: the purpose is fulfilled.
    public static let normalClosure = CloseCode(rawValue: 1000)
    /// 1001: a server stops, or an app leaves.
    public static let goingAway = CloseCode(rawValue: 1001)
    /// 1002: the peer has broken the protocol.
    public static let protocolError = CloseCode(rawValue: 1002)
    /// 1003: data of a kind that cannot be accepted.
    public static let unsupportedData = CloseCode(rawValue: 1003)
    /// 1005: the peer has sent no code. Never sent.
    public static let noStatusReceived = CloseCode(rawValue: 1005)
    /// 1007: text that is not UTF-8, or a message whose content is not of its type.
    public static let invalidPayload = CloseCode(rawValue: 1007)
    /// 1008: against a policy.
    public static let policyViolation = CloseCode(rawValue: 1008)
    /// 1009: too large.
    public static let messageTooBig = CloseCode(rawValue: 1009)
    /// 1010: the server has not accepted an extension that the client needs.
    public static let mandatoryExtension = CloseCode(rawValue: 1010)
    /// 1011: the server has met a condition that it did not expect.
    public static let internalError = CloseCode(rawValue: 1011)
    /// 1012: the server restarts.
    public static let serviceRestart = CloseCode(rawValue: 1012)
    /// 1013: the server is overloaded.
    public static let tryAgainLater = CloseCode(rawValue: 1013)

    /// Whether the code may stand in a close frame.
    var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }

    /// The number.
    public var description: String { "\(rawValue)" }
}
