public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// A charset from the WHATWG Encoding standard.
///
/// The standard reads some labels as a larger charset: `iso-8859-1` and `us-ascii` are windows-1252, and `gb2312` is
/// GBK. The standard doesn't list charsets that allow attacks, such as `utf-7`.
///
/// ```swift
/// let text = Charset(label: "Shift_JIS")?.decode(bytes)
/// ```
public struct Charset: Sendable, Hashable {
    /// The standard's lowercase name for the charset, such as "windows-1252".
    public let name: String

    /// UTF-8.
    public static let utf8 = Charset(name: "utf-8")

    private init(name: String) { self.name = name }

    /// Finds the charset for a label, ignoring case and surrounding white space (WHATWG Encoding, section 4.2). Returns
    /// `nil` for unlisted labels.
    public init?(label: String) {
        let label = label.utf8.drop(while: Self.isSpace).reversed().drop(while: Self.isSpace).reversed()
        guard label.count < 40 else { return nil }
        let key = String(decoding: label.map(ASCII.lowercase), as: UTF8.self)
        guard let name = key == "utf-8" ? key : Self.names[key] else { return nil }
        self.name = name
    }

    /// Decodes bytes to text. Returns `nil` if the bytes aren't valid in the charset, or if the system doesn't have the
    /// charset's characters.
    ///
    /// If the bytes start with a UTF-8 or UTF-16 byte order mark, the mark overrides this charset and isn't part of the
    /// text. Chinese, Japanese and Korean characters come from the system's tables, on Linux from `iconv`.
    ///
    /// - Parameters:
    ///   - bytes: The encoded text.
    ///   - ignoresByteOrderMark: Whether to use this charset despite a byte order mark, for example in the middle of a
    ///     text. Defaults to false.
    public func decode(_ bytes: Data, ignoresByteOrderMark: Bool = false) -> String? {
        if !ignoresByteOrderMark {
            if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Self.utf8.text(bytes.dropFirst(3)) }
            if bytes.starts(with: [0xFE, 0xFF]) { return Charset(name: "utf-16be").text(bytes.dropFirst(2)) }
            if bytes.starts(with: [0xFF, 0xFE]) { return Charset(name: "utf-16le").text(bytes.dropFirst(2)) }
        }
        return text(bytes)
    }

    private func text(_ bytes: Data) -> String? {
        if name == "utf-8" { return String(validating: bytes, as: UTF8.self) }
        if bytes.isEmpty { return "" }
        switch name {
        case "utf-16le", "utf-16be": return Self.utf16(bytes, isBigEndian: name == "utf-16be")
        case "x-user-defined": return Self.singleBytes(bytes) { 0xF780 + UInt32($0 - 0x80) }
        // Attackers can hide markup in these charsets, so the standard doesn't decode them.
        case "replacement": return nil
        default:
            if let table = Self.table(name) {
                return Self.singleBytes(bytes) { table[Int($0) - 0x80] }
            }
            var decoder = DoubleByteDecoder(bytes)
            return decoder.text(name)
        }
    }

    var isAvailable: Bool { DoubleByteDecoder.isAvailable(name) }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x09, 0x0A, 0x0C, 0x0D, 0x20].contains(byte) }

    private static func utf16(_ bytes: Data, isBigEndian: Bool) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        let bytes = Array(bytes)
        let (high, low) = isBigEndian ? (0, 1) : (1, 0)
        let units = stride(from: 0, to: bytes.count, by: 2).map {
            UInt16(bytes[$0 + high]) << 8 | UInt16(bytes[$0 + low])
        }
        return String(validating: units, as: UTF16.self)
    }

    /// Decodes bytes with a closure that returns a byte's character, or zero for a missing character.
    private static func singleBytes(_ bytes: Data, _ scalar: (UInt8) -> UInt32) -> String? {
        var text = ScalarText(capacity: bytes.count)
        for byte in bytes {
            if byte < 0x80 { text.append(ascii: byte) } else if !text.append(scalar(byte)) { return nil }
        }
        return text.string
    }
}

struct ScalarText {
    private var utf8: [UInt8] = []

    init(capacity: Int) { utf8.reserveCapacity(capacity) }

    var string: String { String(decoding: utf8, as: UTF8.self) }

    mutating func append(ascii byte: UInt8) { utf8.append(byte) }

    /// Appends a character. Returns false for zero, which represents a missing character, and for an invalid scalar.
    mutating func append(_ value: UInt32) -> Bool {
        guard value != 0, let encoded = Unicode.Scalar(value).flatMap(UTF8.encode) else { return false }
        utf8.append(contentsOf: encoded)
        return true
    }
}

extension Charset {
    static let names: [String: String] = {
        var names: [String: String] = [:]
        for (name, labels) in labels {
            for label in labels.split(separator: " ") { names[String(label)] = name }
        }
        return names
    }()

    /// The charsets' labels (WHATWG Encoding, section 4.2).
    private static let labels = [
        ("utf-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8"),
        ("ibm866", "866 cp866 csibm866 ibm866"),
        ("iso-8859-2", "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"),
        ("iso-8859-3", "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"),
        ("iso-8859-4", "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"),
        (
            "iso-8859-5",
            """
            csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 \
            iso_8859-5:1988
            """
        ),
        (
            "iso-8859-6",
            """
            arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e \
            iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
            """
        ),
        (
            "iso-8859-7",
            """
            csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 \
            iso_8859-7 iso_8859-7:1987 sun_eu_greek
            """
        ),
        (
            "iso-8859-8",
            """
            csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 \
            iso_8859-8 iso_8859-8:1988 visual
            """
        ),
        ("iso-8859-8-i", "csiso88598i iso-8859-8-i logical"),
        ("iso-8859-10", "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
        ("iso-8859-13", "iso-8859-13 iso8859-13 iso885913"),
        ("iso-8859-14", "iso-8859-14 iso8859-14 iso885914"),
        ("iso-8859-15", "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9"),
        ("iso-8859-16", "iso-8859-16"),
        ("koi8-r", "cskoi8r koi koi8 koi8-r koi8_r"),
        ("koi8-u", "koi8-ru koi8-u"),
        ("macintosh", "csmacintosh mac macintosh x-mac-roman"),
        ("windows-874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"),
        ("windows-1250", "cp1250 windows-1250 x-cp1250"),
        ("windows-1251", "cp1251 windows-1251 x-cp1251"),
        (
            "windows-1252",
            """
            ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 \
            iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252
            """
        ),
        ("windows-1253", "cp1253 windows-1253 x-cp1253"),
        (
            "windows-1254",
            """
            cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 \
            latin5 windows-1254 x-cp1254
            """
        ),
        ("windows-1255", "cp1255 windows-1255 x-cp1255"),
        ("windows-1256", "cp1256 windows-1256 x-cp1256"),
        ("windows-1257", "cp1257 windows-1257 x-cp1257"),
        ("windows-1258", "cp1258 windows-1258 x-cp1258"),
        ("x-mac-cyrillic", "x-mac-cyrillic x-mac-ukrainian"),
        ("gbk", "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk"),
        ("gb18030", "gb18030"),
        ("big5", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
        ("euc-jp", "cseucpkdfmtjapanese euc-jp x-euc-jp"),
        ("iso-2022-jp", "csiso2022jp iso-2022-jp"),
        ("shift_jis", "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"),
        (
            "euc-kr",
            """
            cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 \
            ksc_5601 windows-949
            """
        ),
        ("replacement", "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement"),
        ("utf-16be", "unicodefffe utf-16be"),
        ("utf-16le", "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le"),
        ("x-user-defined", "x-user-defined"),
    ]
}

extension Charset {
    /// The characters for bytes from 0x80. Zero marks a missing character.
    static func table(_ name: String) -> [UInt32]? {
        guard let text = singleByteTables[name == "iso-8859-8-i" ? "iso-8859-8" : name] else { return nil }
        let scalars = text.unicodeScalars.map { $0 == "?" ? 0 : $0.value }
        return (scalars.count == 96 ? Array(0x80...0x9F) : []) + scalars
    }

    /// WHATWG Encoding, section 5: the characters for bytes from 0x80, or from 0xA0 if the preceding bytes are control
    /// characters. `?` marks a missing character.
    private static let singleByteTables = [
        "ibm866": """
        АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмноп░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀рсту\
        фхцчшщъыьэюяЁёЄєЇїЎў°∙·√№¤■\u{A0}
        """,
        "iso-8859-2": """
        \u{A0}Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u{AD}ŽŻ°ą˛ł´ľśˇ¸šşťź˝žżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řů\
        úűüýţ˙
        """,
        "iso-8859-3": """
        \u{A0}Ħ˘£¤?Ĥ§¨İŞĞĴ\u{AD}?Ż°ħ²³´µĥ·¸ışğĵ½?żÀÁÂ?ÄĊĈÇÈÉÊËÌÍÎÏ?ÑÒÓÔĠÖ×ĜÙÚÛÜŬŜßàáâ?äċĉçèéêëìíîï?ñòóôġö÷ĝù\
        úûüŭŝ˙
        """,
        "iso-8859-4": """
        \u{A0}ĄĸŖ¤ĨĻ§¨ŠĒĢŦ\u{AD}Ž¯°ą˛ŗ´ĩļˇ¸šēģŧŊžŋĀÁÂÃÄÅÆĮČÉĘËĖÍÎĪĐŅŌĶÔÕÖ×ØŲÚÛÜŨŪßāáâãäåæįčéęëėíîīđņōķôõö÷øų\
        úûüũū˙
        """,
        "iso-8859-5": """
        \u{A0}ЁЂЃЄЅІЇЈЉЊЋЌ\u{AD}ЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя№ёђѓєѕіїјљ\
        њћќ§ўџ
        """,
        "iso-8859-6": """
        \u{A0}???¤???????،\u{AD}?????????????\u{61B}???\u{61F}?\u{621}\u{622}\u{623}\u{624}\u{625}\u{626}\
        \u{627}\u{628}\u{629}\u{62A}\u{62B}\u{62C}\u{62D}\u{62E}\u{62F}\u{630}\u{631}\u{632}\u{633}\u{634}\
        \u{635}\u{636}\u{637}\u{638}\u{639}\u{63A}?????\u{640}\u{641}\u{642}\u{643}\u{644}\u{645}\u{646}\
        \u{647}\u{648}\u{649}\u{64A}\u{64B}\u{64C}\u{64D}\u{64E}\u{64F}\u{650}\u{651}\u{652}?????????????
        """,
        "iso-8859-7": """
        \u{A0}‘’£€₯¦§¨©ͺ«¬\u{AD}?―°±²³΄΅Ά·ΈΉΊ»Ό½ΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ?ΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςστυφχψω\
        ϊϋόύώ?
        """,
        "iso-8859-8": """
        \u{A0}?¢£¤¥¦§¨©×«¬\u{AD}®¯°±²³´µ¶·¸¹÷»¼½¾????????????????????????????????‗\u{5D0}\u{5D1}\u{5D2}\
        \u{5D3}\u{5D4}\u{5D5}\u{5D6}\u{5D7}\u{5D8}\u{5D9}\u{5DA}\u{5DB}\u{5DC}\u{5DD}\u{5DE}\u{5DF}\u{5E0}\
        \u{5E1}\u{5E2}\u{5E3}\u{5E4}\u{5E5}\u{5E6}\u{5E7}\u{5E8}\u{5E9}\u{5EA}??\u{200E}\u{200F}?
        """,
        "iso-8859-10": """
        \u{A0}ĄĒĢĪĨĶ§ĻĐŠŦŽ\u{AD}ŪŊ°ąēģīĩķ·ļđšŧž―ūŋĀÁÂÃÄÅÆĮČÉĘËĖÍÎÏÐŅŌÓÔÕÖŨØŲÚÛÜÝÞßāáâãäåæįčéęëėíîïðņōóôõöũøų\
        úûüýþĸ
        """,
        "iso-8859-13": """
        \u{A0}”¢£¤„¦§Ø©Ŗ«¬\u{AD}®Æ°±²³“µ¶·ø¹ŗ»¼½¾æĄĮĀĆÄÅĘĒČÉŹĖĢĶĪĻŠŃŅÓŌÕÖ×ŲŁŚŪÜŻŽßąįāćäåęēčéźėģķīļšńņóōõö÷ųł\
        śūüżž’
        """,
        "iso-8859-14": """
        \u{A0}Ḃḃ£ĊċḊ§Ẁ©ẂḋỲ\u{AD}®ŸḞḟĠġṀṁ¶ṖẁṗẃṠỳẄẅṡÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏŴÑÒÓÔÕÖṪØÙÚÛÜÝŶßàáâãäåæçèéêëìíîïŵñòóôõöṫøù\
        úûüýŷÿ
        """,
        "iso-8859-15": """
        \u{A0}¡¢£€¥Š§š©ª«¬\u{AD}®¯°±²³Žµ¶·ž¹º»ŒœŸ¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øù\
        úûüýþÿ
        """,
        "iso-8859-16": """
        \u{A0}ĄąŁ€„Š§š©Ș«Ź\u{AD}źŻ°±ČłŽ”¶·žčș»ŒœŸżÀÁÂĂÄĆÆÇÈÉÊËÌÍÎÏĐŃÒÓÔŐÖŚŰÙÚÛÜĘȚßàáâăäćæçèéêëìíîïđńòóôőöśűù\
        úûüęțÿ
        """,
        "koi8-r": """
        ─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u{A0}⌡°²·÷═║╒ё╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡Ё╢╣╤╥╦╧╨╩╪╫╬©юабцдефгхийклмнопярстужвьызшэщч\
        ъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ
        """,
        "koi8-u": """
        ─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u{A0}⌡°²·÷═║╒ёє╔ії╗╘╙╚╛ґў╞╟╠╡ЁЄ╣ІЇ╦╧╨╩╪ҐЎ©юабцдефгхийклмнопярстужвьызшэщч\
        ъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ
        """,
        "macintosh": """
        ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{A0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁ\
        ﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{F8FF}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ
        """,
        "windows-874": """
        €\u{81}\u{82}\u{83}\u{84}…\u{86}\u{87}\u{88}\u{89}\u{8A}\u{8B}\u{8C}\u{8D}\u{8E}\u{8F}\u{90}‘’“”•–—\
        \u{98}\u{99}\u{9A}\u{9B}\u{9C}\u{9D}\u{9E}\u{9F}\u{A0}กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรฤลฦวศษสหฬอฮ\
        ฯะ\u{E31}าำ\u{E34}\u{E35}\u{E36}\u{E37}\u{E38}\u{E39}\u{E3A}????฿เแโใไๅๆ\u{E47}\u{E48}\u{E49}\u{E4A}\
        \u{E4B}\u{E4C}\u{E4D}\u{E4E}๏๐๑๒๓๔๕๖๗๘๙๚๛????
        """,
        "windows-1250": """
        €\u{81}‚\u{83}„…†‡\u{88}‰Š‹ŚŤŽŹ\u{90}‘’“”•–—\u{98}™š›śťžź\u{A0}ˇ˘Ł¤Ą¦§¨©Ş«¬\u{AD}®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľżŔ\
        ÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙
        """,
        "windows-1251": """
        ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–—\u{98}™љ›њќћџ\u{A0}ЎўЈ¤Ґ¦§Ё©Є«¬\u{AD}®Ї°±Ііґµ¶·ё№є»јЅѕїАБВГДЕЖЗИЙКЛМНОПРСТУФ\
        ХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя
        """,
        "windows-1252": """
        €\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ\u{A0}¡¢£¤¥¦§¨©ª«¬\u{AD}®¯°±²³´µ¶·¸¹º»¼½¾¿À\
        ÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ
        """,
        "windows-1253": """
        €\u{81}‚ƒ„…†‡\u{88}‰\u{8A}‹\u{8C}\u{8D}\u{8E}\u{8F}\u{90}‘’“”•–—\u{98}™\u{9A}›\u{9C}\u{9D}\u{9E}\
        \u{9F}\u{A0}΅Ά£¤¥¦§¨©?«¬\u{AD}®―°±²³΄µ¶·ΈΉΊ»Ό½ΎΏΐΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡ?ΣΤΥΦΧΨΩΪΫάέήίΰαβγδεζηθικλμνξοπρςσ\
        τυφχψωϊϋόύώ?
        """,
        "windows-1254": """
        €\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}\u{8E}\u{8F}\u{90}‘’“”•–—˜™š›œ\u{9D}\u{9E}Ÿ\u{A0}¡¢£¤¥¦§¨©ª«¬\u{AD}®¯°±²³´µ¶\
        ·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏĞÑÒÓÔÕÖ×ØÙÚÛÜİŞßàáâãäåæçèéêëìíîïğñòóôõö÷øùúûüışÿ
        """,
        "windows-1255": """
        €\u{81}‚ƒ„…†‡ˆ‰\u{8A}‹\u{8C}\u{8D}\u{8E}\u{8F}\u{90}‘’“”•–—˜™\u{9A}›\u{9C}\u{9D}\u{9E}\u{9F}\u{A0}¡¢\
        £₪¥¦§¨©×«¬\u{AD}®¯°±²³´µ¶·¸¹÷»¼½¾¿\u{5B0}\u{5B1}\u{5B2}\u{5B3}\u{5B4}\u{5B5}\u{5B6}\u{5B7}\u{5B8}\
        \u{5B9}\u{5BA}\u{5BB}\u{5BC}\u{5BD}\u{5BE}\u{5BF}\u{5C0}\u{5C1}\u{5C2}\u{5C3}\u{5F0}\u{5F1}\u{5F2}\
        \u{5F3}\u{5F4}???????\u{5D0}\u{5D1}\u{5D2}\u{5D3}\u{5D4}\u{5D5}\u{5D6}\u{5D7}\u{5D8}\u{5D9}\u{5DA}\
        \u{5DB}\u{5DC}\u{5DD}\u{5DE}\u{5DF}\u{5E0}\u{5E1}\u{5E2}\u{5E3}\u{5E4}\u{5E5}\u{5E6}\u{5E7}\u{5E8}\
        \u{5E9}\u{5EA}??\u{200E}\u{200F}?
        """,
        "windows-1256": """
        €\u{67E}‚ƒ„…†‡ˆ‰\u{679}‹Œ\u{686}\u{698}\u{688}\u{6AF}‘’“”•–—\u{6A9}™\u{691}›œ\u{200C}\u{200D}\u{6BA}\
        \u{A0}،¢£¤¥¦§¨©\u{6BE}«¬\u{AD}®¯°±²³´µ¶·¸¹\u{61B}»¼½¾\u{61F}\u{6C1}\u{621}\u{622}\u{623}\u{624}\
        \u{625}\u{626}\u{627}\u{628}\u{629}\u{62A}\u{62B}\u{62C}\u{62D}\u{62E}\u{62F}\u{630}\u{631}\u{632}\
        \u{633}\u{634}\u{635}\u{636}×\u{637}\u{638}\u{639}\u{63A}\u{640}\u{641}\u{642}\u{643}à\u{644}â\
        \u{645}\u{646}\u{647}\u{648}çèéêë\u{649}\u{64A}îï\u{64B}\u{64C}\u{64D}\u{64E}ô\u{64F}\u{650}÷\u{651}\
        ù\u{652}ûü\u{200E}\u{200F}\u{6D2}
        """,
        "windows-1257": """
        €\u{81}‚\u{83}„…†‡\u{88}‰\u{8A}‹\u{8C}¨ˇ¸\u{90}‘’“”•–—\u{98}™\u{9A}›\u{9C}¯˛\u{9F}\u{A0}?¢£¤?¦§Ø©Ŗ«¬\
        \u{AD}®Æ°±²³´µ¶·ø¹ŗ»¼½¾æĄĮĀĆÄÅĘĒČÉŹĖĢĶĪĻŠŃŅÓŌÕÖ×ŲŁŚŪÜŻŽßąįāćäåęēčéźėģķīļšńņóōõö÷ųłśūüżž˙
        """,
        "windows-1258": """
        €\u{81}‚ƒ„…†‡ˆ‰\u{8A}‹Œ\u{8D}\u{8E}\u{8F}\u{90}‘’“”•–—˜™\u{9A}›œ\u{9D}\u{9E}Ÿ\u{A0}¡¢£¤¥¦§¨©ª«¬\
        \u{AD}®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂĂÄÅÆÇÈÉÊË\u{300}ÍÎÏĐÑ\u{309}ÓÔƠÖ×ØÙÚÛÜƯ\u{303}ßàáâăäåæçèéêë\u{301}íîïđñ\
        \u{323}óôơö÷øùúûüư₫ÿ
        """,
        "x-mac-cyrillic": """
        АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ†°Ґ£§•¶І®©™Ђђ≠Ѓѓ∞±≤≥іµґЈЄєЇїЉљЊњјЅ¬√ƒ≈∆«»…\u{A0}ЋћЌќѕ–—“”‘’÷„ЎўЏџ№Ёё\
        яабвгдежзийклмнопрстуфхцчшщъыьэю€
        """,
    ]
}
