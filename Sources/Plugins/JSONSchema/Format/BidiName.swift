/// The rule for names that are written from right to left (RFC 5893, section 2): it binds every label of a name in which one
/// label is.
enum BidiName {
    /// The bidirectional classes of the characters that labels have.
    private enum Direction { case left, right, arabicNumber, europeanNumber, neutral, mark }

    static func fits(_ labels: [[Unicode.Scalar]]) -> Bool {
        let isBidi = labels.contains { $0.contains { isRightToLeft($0) || isArabicNumber($0) } }
        return !isBidi || labels.allSatisfy { isLabel($0.map { direction($0) }) }
    }

    private static func isLabel(_ label: [Direction]) -> Bool {
        let last = label.last { $0 != .mark }
        switch label.first {
        case .right:
            if label.contains(.left) || label.contains(.europeanNumber) && label.contains(.arabicNumber) {
                return false
            }
            return last == .right || last == .europeanNumber || last == .arabicNumber
        case .left:
            if label.contains(.right) || label.contains(.arabicNumber) { return false }
            return last == .left || last == .europeanNumber
        default: return false
        }
    }

    private static func direction(_ scalar: Unicode.Scalar) -> Direction {
        if isRightToLeft(scalar) { return .right }
        if isArabicNumber(scalar) { return .arabicNumber }
        switch scalar.value {
        case 0x30...0x39, 0x6F0...0x6F9: return .europeanNumber
        // The hyphen, joiners, and those letters that have no direction.
        case 0x2D, 0xB7, 0x2B9...0x2BA, 0x2C6...0x2CF, 0x2EC, 0x375, 0x200C...0x200D, 0x2E2F, 0x30FB, 0xA67F,
            0xA717...0xA71F, 0xA788:
            return .neutral
        default: break
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return .mark
        default: return .left
        }
    }

    private static func isArabicNumber(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x660...0x669, 0x10D30...0x10D39: true
        default: false
        }
    }

    private static func isRightToLeft(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.properties.generalCategory == .nonspacingMark { return false }
        return switch scalar.value {
        case 0x10D30...0x10D39: false
        case 0x5D0...0x5F4, 0x620...0x64A, 0x66E...0x6D5, 0x6E5...0x6E6, 0x6EE...0x6EF, 0x6FA...0x710, 0x712...0x72F,
            0x74D...0x7A5, 0x7B1...0x7EA, 0x7F4...0x7F5, 0x7FA...0x815, 0x81A, 0x824, 0x828, 0x830...0x858,
            0x85E...0x8C9, 0xFB1D...0xFB4F, 0xFB50...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF:
            true
        default: false
        }
    }
}
