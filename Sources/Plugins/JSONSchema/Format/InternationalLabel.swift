/// A label of an internationalized name (RFC 5891, section 4.2, with the properties and rules of RFC 5892).
struct InternationalLabel {
    private let scalars: [Unicode.Scalar]

    init(_ scalars: [Unicode.Scalar]) { self.scalars = scalars }

    var isValid: Bool {
        guard let first = scalars.first, let last = scalars.last, first != "-", last != "-" else { return false }
        if scalars.count >= 4, scalars[2] == "-", scalars[3] == "-" { return false }
        if Self.isMark(first) { return false }
        return scalars.indices.allSatisfy(isAllowed) && isComposed
    }

    // MARK: Normal form

    /// Whether the label is in the normal form NFC (RFC 5891, section 4.1), given that each of its characters is. A
    /// letter and a mark aren't if a single character represents both, and marks aren't if their order isn't canonical.
    private var isComposed: Bool {
        var (starter, last): (Unicode.Scalar?, UInt8) = (nil, 0)
        for scalar in scalars {
            let (isMark, order) = (Self.isMark(scalar), scalar.properties.canonicalCombiningClass.rawValue)
            if order != 0, last > order { return false }
            // A mark of the same class keeps the next mark from the letter.
            if isMark, let starter, last == 0 || last < order, Composites.contain(starter, scalar) { return false }
            if order == 0 { starter = scalar }
            last = order
        }
        return true
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    private func isAllowed(_ index: Int) -> Bool {
        let scalar = scalars[index]
        switch scalar.value {
        // Exceptions (RFC 5892, section 2.6).
        case 0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007: return true
        case 0x640, 0x7FA, 0x302E, 0x302F, 0x3031...0x3035, 0x303B: return false
        // Contextual rules (appendix A).
        case 0xB7:
            return index > 0 && index + 1 < scalars.count && scalars[index - 1] == "l" && scalars[index + 1] == "l"
        case 0x375: return index + 1 < scalars.count && Self.isGreek(scalars[index + 1])
        case 0x5F3, 0x5F4: return index > 0 && Self.isHebrew(scalars[index - 1])
        case 0x30FB: return scalars.contains { $0.value != 0x30FB && Self.isJapanese($0) }
        case 0x660...0x669: return !scalars.contains { (0x6F0...0x6F9).contains($0.value) }
        case 0x6F0...0x6F9: return !scalars.contains { (0x660...0x669).contains($0.value) }
        case 0x200C: return isAfterVirama(index) || joins(index)
        case 0x200D: return isAfterVirama(index)
        case 0x2D: return true
        default: break
        }
        return Self.isProtocolValid(scalar)
    }

    private func isAfterVirama(_ index: Int) -> Bool {
        index > 0 && scalars[index - 1].properties.canonicalCombiningClass == .virama
    }

    /// A non-joiner is allowed between letters that would join, as in Arabic and related scripts.
    private func joins(_ index: Int) -> Bool {
        func neighbour(_ indices: some Sequence<Int>) -> Unicode.Scalar? {
            indices.lazy.map { scalars[$0] }.first { $0.properties.generalCategory != .nonspacingMark }
        }
        guard let before = neighbour((0..<index).reversed()), let after = neighbour(index + 1..<scalars.count) else {
            return false
        }
        return Self.isJoining(before) && Self.isJoining(after)
    }

    private static func isJoining(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x620...0x64A, 0x66E...0x6D3, 0x6FA...0x6FF, 0x710...0x77F, 0x7CA...0x7EA, 0x8A0...0x8C7, 0x1807,
            0x1820...0x18AA,
            0xA840...0xA871:
            true
        default: false
        }
    }

    /// Letters, digits and marks that no mapping changes (section 3).
    private static func isProtocolValid(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        if properties.isNoncharacterCodePoint || properties.isDefaultIgnorableCodePoint || properties.isWhitespace {
            return false
        }
        // Unstable under normalization or case folding (section 2.2), as far as the standard library knows.
        let lower = properties.lowercaseMapping.unicodeScalars
        if !lower.elementsEqual([scalar]) || isCompatibility(scalar.value) { return false }
        switch scalar.value {
        // Old Hangul Jamo (section 2.9).
        case 0x1100...0x11FF, 0xA960...0xA97C, 0xD7B0...0xD7FB: return false
        default: break
        }
        return switch properties.generalCategory {
        case .lowercaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .spacingMark, .decimalNumber: true
        default: false
        }
    }

    /// Compatibility and canonical mappings, by blocks that also contain some characters without a mapping.
    private static func isCompatibility(_ value: UInt32) -> Bool {
        switch value {
        case 0xAA, 0xB2...0xB5, 0xB9, 0xBA, 0x132...0x133, 0x13F...0x140, 0x149, 0x17F, 0x1C4...0x1CC, 0x1F1...0x1F3,
            0x2B0...0x2B8, 0x2E0...0x2E4, 0x340...0x341, 0x343...0x345, 0x374, 0x37A, 0x3D0...0x3D6, 0x3F0...0x3F2,
            0x3F5,
            0x587, 0x675...0x678, 0x958...0x95F, 0xE33, 0xEB3, 0xEDC...0xEDD, 0xF77, 0xF79, 0x1D2C...0x1D2E,
            0x1D30...0x1D3A,
            0x1D3C...0x1D4D, 0x1D4F...0x1D6A, 0x1D78, 0x1D9B...0x1DBF, 0x1E9A...0x1E9B, 0x1FBD...0x1FC1,
            0x1FCD...0x1FCF,
            0x1FDD...0x1FDF, 0x1FED...0x1FEF, 0x1FFD...0x1FFE, 0x2000...0x20CF, 0x2100...0x214D, 0x2150...0x2188,
            0x2460...0x24FF, 0x2C7C...0x2C7D, 0x2D6F, 0x3036, 0x309B...0x309C, 0x309F, 0x30FF, 0x3131...0x318E,
            0x3200...0x33FF, 0xF900...0xFA0D, 0xFA10, 0xFA12, 0xFA15...0xFA1E, 0xFA20, 0xFA22, 0xFA25...0xFA26,
            0xFA2A...0xFAD9, 0xFB00...0xFDFF, 0xFE30...0xFE6F, 0xFE70...0xFFEF, 0x1D400...0x1D7FF, 0x1EE00...0x1EEFF,
            0x2F800...0x2FA1D:
            true
        default: false
        }
    }

    // MARK: Scripts, by blocks

    private static func isGreek(_ scalar: Unicode.Scalar) -> Bool {
        (0x370...0x3FF).contains(scalar.value) || (0x1F00...0x1FFF).contains(scalar.value)
    }

    private static func isHebrew(_ scalar: Unicode.Scalar) -> Bool { (0x591...0x5F4).contains(scalar.value) }

    private static func isJapanese(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x3005, 0x3007, 0x3021...0x3029, 0x3041...0x309F, 0x30A1...0x30FA, 0x30FD...0x30FF, 0x31F0...0x31FF,
            0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAFF, 0x20000...0x323AF:
            true
        default: false
        }
    }
}

/// The characters that represent a letter with a mark.
private enum Composites {
    /// Letters and marks by canonical equivalence, with which Swift compares and hashes strings. A string of two
    /// characters is equal to an element of this set if the element represents both.
    private static let all: Set<String> = {
        // The blocks of scripts whose letters have such marks.
        let blocks: [ClosedRange<UInt32>] = [
            0xC0...0x1FFF, 0x3040...0x30FF, 0x105C0...0x105FF, 0x11080...0x11FFF, 0x16100...0x1613F,
        ]
        var all: Set<String> = []
        for value in blocks.joined() {
            guard let scalar = Unicode.Scalar(value), !scalar.properties.isFullCompositionExclusion else { continue }
            switch scalar.properties.generalCategory {
            case .unassigned, .control, .decimalNumber, .otherPunctuation: break
            default: all.insert(String(scalar))
            }
        }
        return all
    }()

    static func contain(_ letter: Unicode.Scalar, _ mark: Unicode.Scalar) -> Bool {
        var text = String.UnicodeScalarView()
        text.append(letter)
        text.append(mark)
        return all.contains(String(text))
    }
}
