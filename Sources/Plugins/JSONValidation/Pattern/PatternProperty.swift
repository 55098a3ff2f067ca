import ErrandJSONSyntax
import Synchronization

/// The sets for `\p{…}` (ECMA-262, section 22.2.1, tables 67 to 70).
enum PatternProperty {
    /// Kept for the lifetime of the process.
    private static let known = Mutex<[String: PatternSet]>([:])

    /// For example `L`, `Letter`, `General_Category=L`, `gc=Letter`, `Alphabetic`, `Script=Greek` or `scx=Grek`.
    static func set(_ text: String) -> PatternSet? {
        if let known = known.withLock({ $0[text] }) { return known }
        guard let made = make(text) else { return nil }
        known.withLock { $0[text] = made }
        return made
    }

    private static func make(_ text: String) -> PatternSet? {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2 {
            switch parts[0] {
            case "General_Category", "gc": return category(parts[1])
            case "Script", "sc": return PatternScripts.set(parts[1], isExtended: false)
            case "Script_Extensions", "scx": return PatternScripts.set(parts[1], isExtended: true)
            default: return nil
            }
        }
        guard parts.count == 1 else { return nil }
        return category(text) ?? binary(text)
    }

    private static func category(_ name: String) -> PatternSet? {
        guard let wanted = categories[name] else { return nil }
        return PatternSet(byCategory.filter { wanted.contains($0.0) }.flatMap(\.1))
    }

    private static func binary(_ name: String) -> PatternSet? {
        switch name {
        case "Any": return PatternSet([PatternSet.all])
        case "ASCII": return PatternSet([0...0x7F])
        case "Assigned": return category("Cn")?.inverted
        case "Regional_Indicator", "RI": return PatternSet([0x1_F1E6...0x1_F1FF])
        default: break
        }
        if let list = lists.first(where: { $0.long == name || $0.short == name }) {
            return PatternSet(PatternScripts.ranges(list.ranges.split(whereSeparator: \.isWhitespace)[...]))
        }
        guard let property = properties.first(where: { $0.long == name || $0.short == name }) else { return nil }
        return scan { property.holds($0.properties) }
    }

    /// Checks unassigned regions of planes 4 to 16 only once, because their characters share all properties, except for
    /// the last two of each plane.
    private static func scan(_ holds: (Unicode.Scalar) -> Bool) -> PatternSet {
        var found: [ClosedRange<UInt32>] = []
        func add(_ range: ClosedRange<UInt32>) {
            guard let scalar = Unicode.Scalar(range.lowerBound), holds(scalar) else { return }
            if let last = found.last, last.upperBound + 1 == range.lowerBound {
                found[found.count - 1] = last.lowerBound...range.upperBound
            } else {
                found.append(range)
            }
        }
        for value: UInt32 in 0..<0x4_0000 { add(value...value) }
        for plane: UInt32 in 4...16 {
            let first = plane << 16
            var next = first
            if plane == 14 {
                next += 0x1000
                for value in first..<next { add(value...value) }
            }
            add(next...first + 0xFFFD)
            add(first + 0xFFFE...first + 0xFFFF)
        }
        return PatternSet(found)
    }

    // MARK: General categories

    private static let names: [(Unicode.GeneralCategory, short: String, long: String)] = [
        (.uppercaseLetter, "Lu", "Uppercase_Letter"), (.lowercaseLetter, "Ll", "Lowercase_Letter"),
        (.titlecaseLetter, "Lt", "Titlecase_Letter"), (.modifierLetter, "Lm", "Modifier_Letter"),
        (.otherLetter, "Lo", "Other_Letter"), (.nonspacingMark, "Mn", "Nonspacing_Mark"),
        (.spacingMark, "Mc", "Spacing_Mark"), (.enclosingMark, "Me", "Enclosing_Mark"),
        (.decimalNumber, "Nd", "Decimal_Number"), (.letterNumber, "Nl", "Letter_Number"),
        (.otherNumber, "No", "Other_Number"), (.connectorPunctuation, "Pc", "Connector_Punctuation"),
        (.dashPunctuation, "Pd", "Dash_Punctuation"), (.openPunctuation, "Ps", "Open_Punctuation"),
        (.closePunctuation, "Pe", "Close_Punctuation"), (.initialPunctuation, "Pi", "Initial_Punctuation"),
        (.finalPunctuation, "Pf", "Final_Punctuation"), (.otherPunctuation, "Po", "Other_Punctuation"),
        (.mathSymbol, "Sm", "Math_Symbol"), (.currencySymbol, "Sc", "Currency_Symbol"),
        (.modifierSymbol, "Sk", "Modifier_Symbol"), (.otherSymbol, "So", "Other_Symbol"),
        (.spaceSeparator, "Zs", "Space_Separator"), (.lineSeparator, "Zl", "Line_Separator"),
        (.paragraphSeparator, "Zp", "Paragraph_Separator"), (.control, "Cc", "Control"), (.format, "Cf", "Format"),
        (.surrogate, "Cs", "Surrogate"), (.privateUse, "Co", "Private_Use"), (.unassigned, "Cn", "Unassigned"),
    ]

    private static let byCategory: [(Unicode.GeneralCategory, [ClosedRange<UInt32>])] = {
        var found: [Unicode.GeneralCategory: [ClosedRange<UInt32>]] = [.surrogate: [0xD800...0xDFFF]]
        var last: (Unicode.GeneralCategory, ClosedRange<UInt32>)?
        for values: Range<UInt32> in [0..<0x4_0000, 0xE_0000..<0xE_1000] {
            for value in values {
                guard let category = Unicode.Scalar(value)?.properties.generalCategory else { continue }
                if let open = last, open.0 == category, open.1.upperBound + 1 == value {
                    last = (category, open.1.lowerBound...value)
                } else {
                    if let last { found[last.0, default: []].append(last.1) }
                    last = (category, value...value)
                }
            }
        }
        if let last { found[last.0, default: []].append(last.1) }
        found[.unassigned, default: []] += [
            0x4_0000...0xD_FFFF, 0xE_1000...0xE_FFFF, 0xF_FFFE...0xF_FFFF, 0x10_FFFE...0x10_FFFF,
        ]
        found[.privateUse, default: []] += [0xF_0000...0xF_FFFD, 0x10_0000...0x10_FFFD]
        return found.map { ($0.key, $0.value) }
    }()

    private static let categories: [String: Set<Unicode.GeneralCategory>] = {
        var found: [String: Set<Unicode.GeneralCategory>] = [:]
        for (category, short, long) in names {
            found[short] = [category]
            found[long] = [category]
            found[String(short.prefix(1)), default: []].insert(category)
        }
        found["LC"] = [.uppercaseLetter, .lowercaseLetter, .titlecaseLetter]
        for (long, short) in [
            ("Letter", "L"), ("Cased_Letter", "LC"), ("Mark", "M"), ("Combining_Mark", "M"), ("Number", "N"),
            ("Punctuation", "P"), ("punct", "P"), ("Symbol", "S"), ("Separator", "Z"), ("Other", "C"),
            ("digit", "Nd"), ("cntrl", "Cc"),
        ] { found[long] = found[short] }
        return found
    }()

    // MARK: Binary properties

    private typealias Property = (long: String, short: String, holds: @Sendable (Unicode.Scalar.Properties) -> Bool)

    private static let properties: [Property] = [
        ("Alphabetic", "Alpha", { $0.isAlphabetic }),
        ("ASCII_Hex_Digit", "AHex", { $0.isASCIIHexDigit }),
        ("Bidi_Control", "Bidi_C", { $0.isBidiControl }),
        ("Bidi_Mirrored", "Bidi_M", { $0.isBidiMirrored }),
        ("Case_Ignorable", "CI", { $0.isCaseIgnorable }),
        ("Cased", "Cased", { $0.isCased }),
        ("Changes_When_Casefolded", "CWCF", { $0.changesWhenCaseFolded }),
        ("Changes_When_Casemapped", "CWCM", { $0.changesWhenCaseMapped }),
        ("Changes_When_Lowercased", "CWL", { $0.changesWhenLowercased }),
        ("Changes_When_NFKC_Casefolded", "CWKCF", { $0.changesWhenNFKCCaseFolded }),
        ("Changes_When_Titlecased", "CWT", { $0.changesWhenTitlecased }),
        ("Changes_When_Uppercased", "CWU", { $0.changesWhenUppercased }),
        ("Dash", "Dash", { $0.isDash }),
        ("Default_Ignorable_Code_Point", "DI", { $0.isDefaultIgnorableCodePoint }),
        ("Deprecated", "Dep", { $0.isDeprecated }),
        ("Diacritic", "Dia", { $0.isDiacritic }),
        ("Emoji", "Emoji", { $0.isEmoji }),
        ("Emoji_Modifier", "EMod", { $0.isEmojiModifier }),
        ("Emoji_Modifier_Base", "EBase", { $0.isEmojiModifierBase }),
        ("Emoji_Presentation", "EPres", { $0.isEmojiPresentation }),
        ("Extender", "Ext", { $0.isExtender }),
        ("Grapheme_Base", "Gr_Base", { $0.isGraphemeBase }),
        ("Grapheme_Extend", "Gr_Ext", { $0.isGraphemeExtend }),
        ("Hex_Digit", "Hex", { $0.isHexDigit }),
        ("ID_Continue", "IDC", { $0.isIDContinue }),
        ("ID_Start", "IDS", { $0.isIDStart }),
        ("Ideographic", "Ideo", { $0.isIdeographic }),
        ("IDS_Binary_Operator", "IDSB", { $0.isIDSBinaryOperator }),
        ("IDS_Trinary_Operator", "IDST", { $0.isIDSTrinaryOperator }),
        ("Join_Control", "Join_C", { $0.isJoinControl }),
        ("Logical_Order_Exception", "LOE", { $0.isLogicalOrderException }),
        ("Lowercase", "Lower", { $0.isLowercase }),
        ("Math", "Math", { $0.isMath }),
        ("Noncharacter_Code_Point", "NChar", { $0.isNoncharacterCodePoint }),
        ("Pattern_White_Space", "Pat_WS", { $0.isPatternWhitespace }),
        ("Quotation_Mark", "QMark", { $0.isQuotationMark }),
        ("Radical", "Radical", { $0.isRadical }),
        ("Sentence_Terminal", "STerm", { $0.isSentenceTerminal }),
        ("Soft_Dotted", "SD", { $0.isSoftDotted }),
        ("Terminal_Punctuation", "Term", { $0.isTerminalPunctuation }),
        ("Unified_Ideograph", "UIdeo", { $0.isUnifiedIdeograph }),
        ("Uppercase", "Upper", { $0.isUppercase }),
        ("Variation_Selector", "VS", { $0.isVariationSelector }),
        ("White_Space", "space", { $0.isWhitespace }),
        ("XID_Continue", "XIDC", { $0.isXIDContinue }),
        ("XID_Start", "XIDS", { $0.isXIDStart }),
    ]

    /// Missing from the standard library. In the format of ``PatternScriptData``.
    private static let lists: [(long: String, short: String, ranges: String)] = [
        (
            "Emoji_Component", "EComp",
            """
            z 0 6 0 5 9 6ab 0 5x 0 17or 0 1c5y p e3 4 14g 3 gw30 2n
            """
        ),
        (
            "Extended_Pictographic", "ExtPict",
            """
            4p 0 4 0 68d 0 c 0 60 0 m 0 2i 5 f 1 a7 1 c 0 4m 0 p a 4 2 5j 0 6f 1 a 0 9 0 1m 3 1 4 9 0 2 0 2 1 2
            0 4 0 2 0 1 1 2 0 3 0 3 1 8 2 5 0 1 0 5 b b 1 2 0 1 1 1 0 i 0 2 1 i 5 1 0 1 1 3 1 5 0 2 1 4 1 b 1 5
            1 2 0 5 1 1 0 1 1 k 1 5 5 1 3 2 0 4 0 2 0 2 5 1 0 2 0 1 0 1 0 6 0 3 0 6 0 a 1 f 0 2 0 4 0 1 0 4 2 1
            0 b 1 1c 2 9 0 e 0 e 0 ac 1 cv 2 j 1 1f 0 4 0 yi 0 c 0 gp 0 1 0 2fze 0 13 3 2s b f 1 f 0 e 1 11 9 34
            1 c 1 e 0 2 9 j 1j r e a 0 k 0 2 8 1 3 9 m 6 57 2 33 2 1 1 2 2 2a 2 2 1 3 5 71 1 1q b 5 1 n 7 1 2 7
            c 0 2 3 2 0 4 1 d 1 2 0 8 1 9 0 5 2 c 2 8 2 2 0 1 0 4 0 6 0 3 0 6 2d 1c 1x 5 7 2 g 3 0 1 5 2 c 62 11
            c 3 1k 7 a 5 14 7 u 1 c 3 2 d 9 12 c 1a 1 9 1 54 2g 7 e 41 74 sd
            """
        ),
        (
            "Pattern_Syntax", "Pat_Syn",
            """
            x e a 6 q 3 1 0 q 3 y 6 1 0 1 1 1 0 1 1 4 0 4 0 3 0 n 0 v 0 654 n 8 e 2 i 1 9 8h jz 4g hh u vf e8 3j
            ap 2 4 o f 0 14i5 1 79 1
            """
        ),
    ]
}
