import ErrandMessageSyntax
import ErrandPunycode

/// Hostnames in ASCII (RFC 1123, section 2.1), in Punycode (RFC 5890, section 2.3.2.1) or in Unicode.
enum HostnameFormat {
    static func isHostname(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty, bytes.count <= 253 else { return false }
        var labels: [[Unicode.Scalar]] = []
        for label in bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            guard let decoded = self.label(label) else { return false }
            labels.append(decoded)
        }
        return BidiName.fits(labels)
    }

    /// Decodes Punycode. Returns `nil` for an invalid label.
    private static func label(_ label: ArraySlice<UInt8>) -> [Unicode.Scalar]? {
        guard (1...63).contains(label.count), label.first != UInt8(ascii: "-"), label.last != UInt8(ascii: "-"),
            label.allSatisfy({ ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-") })
        else { return nil }
        guard label.count >= 4, label.dropFirst(2).prefix(2).elementsEqual("--".utf8) else {
            return label.map { Unicode.Scalar($0) }
        }
        // Labels with two hyphens at this position are reserved, except for Punycode.
        guard label.prefix(2).map({ $0 | 0x20 }) == Array("xn".utf8) else { return nil }
        // The case of Punycode doesn't matter, but another text for the same characters isn't Punycode (RFC 5891,
        // section 5.3).
        let text = label.dropFirst(4).map(ASCII.lowercase)
        guard let decoded = Punycode.decode(text), decoded.contains(where: { !$0.isASCII }),
            Punycode.encode(decoded).map({ Array($0.utf8) }) == text, InternationalLabel(decoded).isValid
        else { return nil }
        return decoded
    }

    static func isInternational(_ text: String) -> Bool {
        // A name has at most 253 ASCII bytes. A character takes at least one of these bytes, and at most 4 bytes in
        // UTF-8.
        guard text.utf8.count <= 253 * 4 else { return false }
        let labels = text.unicodeScalars.split(
            omittingEmptySubsequences: false,
            whereSeparator: { $0 == "." || $0 == "\u{3002}" || $0 == "\u{FF0E}" || $0 == "\u{FF61}" })
        var length = labels.count - 1
        var decoded: [[Unicode.Scalar]] = []
        for label in labels {
            if label.allSatisfy(\.isASCII) {
                guard let scalars = self.label(Array(String(label).utf8)[...]) else { return false }
                decoded.append(scalars)
                length += label.count
            } else {
                let scalars = Array(label)
                guard let encoded = Punycode.encode(scalars), encoded.utf8.count <= 59,
                    InternationalLabel(scalars).isValid
                else { return false }
                decoded.append(scalars)
                length += encoded.utf8.count + 4
            }
        }
        return length <= 253 && BidiName.fits(decoded)
    }
}

/// The rule for right-to-left names (RFC 5893, section 2). If a name has a right-to-left label, the rule applies to the
/// whole name.
enum BidiName {
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
        // The hyphen, joiners and letters without a direction.
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
