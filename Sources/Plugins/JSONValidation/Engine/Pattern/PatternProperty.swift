import ErrandHTTPSyntax

/// A Unicode property of `\p{…}`, by the data of the standard library (ECMA-262, section 22.2.1, tables 67 to 69).
enum PatternProperty: Sendable {
    /// A bit for each general category.
    case category(UInt32)
    case binary(@Sendable (Unicode.Scalar) -> Bool)

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        switch self {
        case .category(let bits): bits & Self.bit(scalar.properties.generalCategory) != 0
        case .binary(let holds): holds(scalar)
        }
    }

    /// The property of `L`, `Letter`, `General_Category=L`, `gc=Letter`, `Alphabetic` …; nil for an unknown one.
    init?(_ text: String) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 1:
            if let bits = Self.categories[text] {
                self = .category(bits)
            } else if let holds = Self.binary[text] {
                self = .binary(holds)
            } else {
                return nil
            }
        case 2:
            guard ["General_Category", "gc"].contains(parts[0]), let bits = Self.categories[parts[1]] else {
                return nil
            }
            self = .category(bits)
        default: return nil
        }
    }

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

    private static let places: [Unicode.GeneralCategory: UInt32] = Dictionary(
        uniqueKeysWithValues: names.enumerated().map { ($0.element.0, UInt32($0.offset)) })

    private static func bit(_ category: Unicode.GeneralCategory) -> UInt32 { places[category].map { 1 << $0 } ?? 0 }

    private static let categories: [String: UInt32] = {
        var found: [String: UInt32] = [:]
        for (category, short, long) in names {
            found[short] = bit(category)
            found[long] = bit(category)
            found[String(short.prefix(1)), default: 0] |= bit(category)
        }
        found["LC"] = found["Lu", default: 0] | found["Ll", default: 0] | found["Lt", default: 0]
        for (long, short) in [
            ("Letter", "L"), ("Cased_Letter", "LC"), ("Mark", "M"), ("Combining_Mark", "M"), ("Number", "N"),
            ("Punctuation", "P"), ("punct", "P"), ("Symbol", "S"), ("Separator", "Z"), ("Other", "C"),
            ("digit", "Nd"), ("cntrl", "Cc"),
        ] { found[long] = found[short] }
        return found
    }()

    private static let binary: [String: @Sendable (Unicode.Scalar) -> Bool] = {
        var found: [String: @Sendable (Unicode.Scalar) -> Bool] = [
            "Any": { _ in true }, "ASCII": { $0.isASCII }, "Assigned": { $0.properties.generalCategory != .unassigned },
        ]
        let known: [(String, String, @Sendable (Unicode.Scalar.Properties) -> Bool)] = [
            ("Alphabetic", "Alpha", { $0.isAlphabetic }), ("ASCII_Hex_Digit", "AHex", { $0.isASCIIHexDigit }),
            ("Case_Ignorable", "CI", { $0.isCaseIgnorable }), ("Cased", "Cased", { $0.isCased }),
            ("Dash", "Dash", { $0.isDash }), ("Diacritic", "Dia", { $0.isDiacritic }),
            ("Emoji", "Emoji", { $0.isEmoji }), ("Emoji_Modifier", "EMod", { $0.isEmojiModifier }),
            ("Emoji_Modifier_Base", "EBase", { $0.isEmojiModifierBase }),
            ("Emoji_Presentation", "EPres", { $0.isEmojiPresentation }), ("Extender", "Ext", { $0.isExtender }),
            ("Hex_Digit", "Hex", { $0.isHexDigit }), ("ID_Continue", "IDC", { $0.isIDContinue }),
            ("ID_Start", "IDS", { $0.isIDStart }), ("Ideographic", "Ideo", { $0.isIdeographic }),
            ("Lowercase", "Lower", { $0.isLowercase }), ("Math", "Math", { $0.isMath }),
            ("Quotation_Mark", "QMark", { $0.isQuotationMark }), ("Radical", "Radical", { $0.isRadical }),
            ("Unified_Ideograph", "UIdeo", { $0.isUnifiedIdeograph }), ("Uppercase", "Upper", { $0.isUppercase }),
            ("Variation_Selector", "VS", { $0.isVariationSelector }),
            ("White_Space", "space", { $0.isWhitespace }), ("XID_Continue", "XIDC", { $0.isXIDContinue }),
            ("XID_Start", "XIDS", { $0.isXIDStart }),
        ]
        for (long, short, holds) in known {
            found[long] = { holds($0.properties) }
            found[short] = { holds($0.properties) }
        }
        return found
    }()
}
