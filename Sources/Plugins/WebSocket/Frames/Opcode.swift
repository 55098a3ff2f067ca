/// The kind of a frame (RFC 6455, section 5.2).
enum Opcode: UInt8 {
    case continuation = 0x0
    case text = 0x1
    case data = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    var isControl: Bool { rawValue >= 0x8 }

    /// The most bytes in a control frame (section 5.5).
    static let maximumControlBytes = 125
}
