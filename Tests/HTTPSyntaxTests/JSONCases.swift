import ErrandHTTPSyntax

/// Inputs that JSON parsers are known to get wrong, and short ways to parse them.
enum JSONCases {
    static let tokens = [
        "0", "-0", "1", "-1", "10", "1.0", "-1.5e10", "1E+2", "1e-2", "0.0", "0e0", "123456789012345678901234567890",
        "true", "false", "null", "\"\"", "\" \"", "\"a\"", #""\"""#, #""\\""#, #""\/\b\f\n\r\t""#, #""\u0000""#,
        #""\u001F""#,
        #""\uD83D\uDE00""#, #""\uFFFF""#, "\"\u{7F}\"", "\"\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\"",
        "\"\u{2028}\u{2029}\"", "\"eight by\"", "\"seven b\"", "\"a string that is longer than sixteen bytes\"",
        "\"sixteen bytes and one \\n escape behind them\"",
    ]

    static let malformed = malformedTexts.map { (Array($0.utf8), $1, $2) } + notUTF8

    private static let malformedTexts: [(String, JSONFault, Int)] = [
        ("-", .badNumber, 1), ("01", .leadingZero, 1), ("-01", .leadingZero, 2), ("1.", .badNumber, 2),
        ("1.e1", .badNumber, 2), ("1e", .badNumber, 2), ("1e+", .badNumber, 3), ("1e1.5", .badNumber, 3),
        ("--1", .badNumber, 1), ("0x10", .badNumber, 1), ("1_000", .badNumber, 1), ("-Infinity", .badNumber, 1),
        (".5", .value, 0), ("+1", .value, 0), ("NaN", .value, 0), ("True", .value, 0), ("'a'", .value, 0),
        ("undefined", .value, 0), ("@", .value, 0), ("nul", .badLiteral, 0), ("nulll", .badLiteral, 4),
        ("fals", .badLiteral, 0), ("tRUE", .badLiteral, 0), ("\"", .unterminatedString, 1),
        ("\"a", .unterminatedString, 2), (#""\"#, .unterminatedString, 2), (#""\""#, .unterminatedString, 3),
        (#""\x41""#, .badEscape, 1), (#""a\u12G4""#, .badEscape, 2), (#""\u12""#, .badEscape, 1),
        (#""\U0041""#, .badEscape, 1), (#""\ud83d""#, .loneSurrogate, 1), (#""\ude00""#, .loneSurrogate, 1),
        (#""\ud83d\ud83d""#, .loneSurrogate, 1), (#""\ud83dx""#, .loneSurrogate, 1),
        ("\"a\nb\"", .controlCharacter, 2), ("\"\0\"", .controlCharacter, 1), ("\"tab\t\"", .controlCharacter, 4),
        ("\u{FEFF}", .value, 0), ("\u{1}", .value, 0), ("\u{A0}", .value, 0),
    ]

    private static let notUTF8: [([UInt8], JSONFault, Int)] = [
        ([0x22, 0xFF, 0x22], .invalidUTF8, 1), ([0x22, 0xC0, 0xAF, 0x22], .invalidUTF8, 1),
        ([0x22, 0xE0, 0x80, 0x80, 0x22], .invalidUTF8, 1), ([0x22, 0xED, 0xA0, 0x80, 0x22], .invalidUTF8, 1),
        ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], .invalidUTF8, 1), ([0x22, 0x61, 0x80, 0x22], .invalidUTF8, 2),
        ([0x22, 0xC3, 0x22], .invalidUTF8, 1), ([0xFF], .value, 0),
    ]

    static let texts = [
        #"{"id": 7, "name": "Ada \"é\" \u00e9 \ud83d\ude00 日本 😀", "list": [true, false, null, -1.5e+10, 0, ""], "o": {}}"#,
        " [ 1 , 2.5 , 1E-7 , \"a string that is longer than sixteen bytes\" ] ", "[[[[{\"a\":[]}]]]]",
        "\"\u{10FFFF}\u{800}\"",
        #""\ud83d\ude00""#, "-0.5e-10 ", "null",
    ]

    static func tokens(_ text: String, isComplete: Bool = true) -> [JSONToken] {
        tokens(Array(text.utf8), isComplete: isComplete)
    }

    static func tokens(_ bytes: [UInt8], isComplete: Bool = true) -> [JSONToken] {
        var tokenizer = JSONTokenizer(bytes, isComplete: isComplete)
        var tokens: [JSONToken] = []
        while let token = tokenizer.next() { tokens.append(token) }
        return tokens
    }

    static func text(_ content: String, limit: Int = .max) -> String {
        let bytes = ContiguousArray(content.utf8)
        return JSONContent(0, bytes.count).string(in: bytes.span, limit: limit)
    }

    static func number<Value>(_ text: String, _ read: (JSONNumber) -> Value?) -> Value? {
        read(JSONNumber(ContiguousArray(text.utf8).span))
    }
}
