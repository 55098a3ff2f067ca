import ErrandJSONValidation
import Foundation
import Testing

@Suite("Strict RFC 8259", .endsInTime, .leakChecked)
struct SyntaxTests {
    @Test(
        "JSON is accepted",
        arguments: [
            "null", " true ", "\t\r\n[]\n", "{}", "\"\"", "0", "-0", "-1.5e-10", "1E+2", "[1 , 2]",
            "{\"a\" : 1 , \"b\":[ ]}",
            "\"\\u0000\\u001f\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
            "\"\u{7F}\u{2028}\u{10FFFF}\u{800}\u{FFFF}\u{D7FF}\u{E000}\"",
            "\u{FEFF}[1]", "{\"\":1}", "[[[[[[[[[]]]]]]]]]",
        ])
    func accepts(text: String) { #expect(JSONShape.any.complaints(text) == []) }

    @Test(
        "text that isn't JSON is rejected",
        arguments: [
            ("", "document: not JSON: expected a value, found an empty text (byte 0)"),
            (" \n ", "document: not JSON: expected a value, found an empty text (byte 3)"),
            ("\u{FEFF}", "document: not JSON: expected a value, found an empty text (byte 3)"),
            ("[1,]", "/1: not JSON: expected a value, found ']' (byte 3)"),
            ("[,1]", "/0: not JSON: expected a value, found ',' (byte 1)"),
            ("[1 2]", "document: not JSON: expected a comma or the end of the array, found '2' (byte 3)"),
            ("[1", "document: not JSON: expected a comma or the end of the array, found the end of the text (byte 2)"),
            ("[", "/0: not JSON: expected a value, found the end of the text (byte 1)"),
            ("{\"a\":1,}", "document: not JSON: expected a key in quotes, found '}' (byte 7)"),
            ("{a:1}", "document: not JSON: expected a key in quotes, found 'a' (byte 1)"),
            ("{\"a\" 1}", "document: not JSON: expected a colon, found '1' (byte 5)"),
            ("{\"a\":}", "/a: not JSON: expected a value, found '}' (byte 5)"),
            ("{\"a\":1 \"b\":2}", "document: not JSON: expected a comma or the end of the object, found '\"' (byte 7)"),
            ("[}", "/0: not JSON: expected a value, found '}' (byte 1)"),
            ("[1}", "document: not JSON: expected a comma or the end of the array, found '}' (byte 2)"),
            ("1 2", "document: not JSON: expected the end of the text, found '2' (byte 2)"),
            ("[]]", "document: not JSON: expected the end of the text, found ']' (byte 2)"),
            ("01", "document: not JSON: expected a number without leading zeros, found '1' (byte 1)"),
            ("-", "document: not JSON: expected a digit, found the end of the text (byte 1)"),
            ("1.", "document: not JSON: expected a digit, found the end of the text (byte 2)"),
            ("[1.e2]", "/0: not JSON: expected a digit, found 'e' (byte 3)"),
            ("1e+", "document: not JSON: expected a digit, found the end of the text (byte 3)"),
            (".5", "document: not JSON: expected a value, found '.' (byte 0)"),
            ("+1", "document: not JSON: expected a value, found '+' (byte 0)"),
            ("0x10", "document: not JSON: expected the end of the text, found 'x' (byte 1)"),
            ("NaN", "document: not JSON: expected a value, found 'N' (byte 0)"),
            ("nul", "document: not JSON: expected true, false or null, found 'n' (byte 0)"),
            ("fals", "document: not JSON: expected true, false or null, found 'f' (byte 0)"),
            ("True", "document: not JSON: expected a value, found 'T' (byte 0)"),
            ("truex", "document: not JSON: expected the end of the text, found 'x' (byte 4)"),
            ("'a'", "document: not JSON: expected a value, found ''' (byte 0)"),
            ("\"a", "document: not JSON: expected the end of a string, found the end of the text (byte 2)"),
            ("\"a\\", "document: not JSON: expected the end of a string, found the end of the text (byte 3)"),
            ("[\"a\nb\"]", "/0: not JSON: expected an escape instead of a control character, found byte 0x0A (byte 3)"),
            ("\"\\x41\"", "document: not JSON: expected an escape, found '\\' (byte 1)"),
            ("\"\\u12g4\"", "document: not JSON: expected an escape, found '\\' (byte 1)"),
            ("\"\\ud83d\"", "document: not JSON: expected a pair of surrogates, found half of a pair (byte 1)"),
            ("\"\\ude00\\ud83d\"", "document: not JSON: expected a pair of surrogates, found half of a pair (byte 1)"),
            ("\"\\ud83dx\\ude00\"", "document: not JSON: expected a pair of surrogates, found half of a pair (byte 1)"),
            ("{\"a\\q\":1}", "document: not JSON: expected an escape, found '\\' (byte 3)"),
            ("[1]\u{0}", "document: not JSON: expected the end of the text, found byte 0x00 (byte 3)"),
            ("[1]\u{C}", "document: not JSON: expected the end of the text, found byte 0x0C (byte 3)"),
            ("/* */1", "document: not JSON: expected a value, found '/' (byte 0)"),
        ])
    func refuses(text: String, complaint: String) {
        #expect(JSONShape.any.complaints(text) == [complaint])
        // Alternatives use another reader, which must give the same result.
        let two = JSONShape.recursive { shape in
            .either(
                .array(of: .either(shape, .any)), .array(of: .custom("", { _ in true })),
                .map(of: .either(shape, .any)), .map(of: .custom("", { _ in true })), .number(in: 0...),
                .number(in: ...0), .string(length: 0...), .string(length: 1...), .null, .boolean)
        }
        #expect(two.complaints(text) == [complaint])
    }

    @Test(
        "UTF-8",
        arguments: [
            ([0x80], false), ([0xBF], false), ([0xC0, 0x80], false), ([0xC1, 0xBF], false), ([0xC2, 0x80], true),
            ([0xC2], false),
            ([0xDF, 0xBF], true), ([0xE0, 0x9F, 0xBF], false), ([0xE0, 0xA0, 0x80], true), ([0xED, 0x9F, 0xBF], true),
            ([0xED, 0xA0, 0x80], false), ([0xEE, 0x80, 0x80], true), ([0xE2, 0x82], false), ([0xEF, 0xBF, 0xBF], true),
            ([0xF0, 0x8F, 0xBF, 0xBF], false), ([0xF0, 0x90, 0x80, 0x80], true), ([0xF4, 0x8F, 0xBF, 0xBF], true),
            ([0xF4, 0x90, 0x80, 0x80], false), ([0xF5, 0x80, 0x80, 0x80], false), ([0xF0, 0x9F, 0x98], false),
            ([0xFF], false),
        ] as [([UInt8], Bool)])
    func utf8(bytes: [UInt8], isValid: Bool) {
        for before in 0..<17 {
            let text = [UInt8(ascii: "\"")] + [UInt8](repeating: 0x61, count: before) + bytes + [UInt8(ascii: "\"")]
            do {
                try JSONShape.string.validate(Data(text))
                #expect(isValid)
            } catch {
                #expect(!isValid)
                #expect(error.problems.first?.offset == before + 1)
                #expect(error.problems.first?.expected == "UTF-8")
            }
        }
    }

    @Test("a text cut at any byte is rejected, and no byte after the text is read")
    func cuts() throws {
        let text = Array(
            #"{"name":"a long enough string to fill a word or two","é":[1,-2.5e3,true,false,null,"\u00e9\ud83d\ude00"],"x":{"y":{}}}"#
                .utf8)
        let shape: JSONShape = ["name": .string, "x": ["y": .object]]
        for count in 0...text.count {
            // The rest is in memory after the cut, so a reader that overruns would find it.
            let verdict: Bool = text.withUnsafeBytes { bytes in
                do throws(JSONValidationError) {
                    try shape.validate(bytes: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                } catch {
                    #expect(error.problems.last?.kind == .syntax)
                    return false
                }
                return true
            }
            #expect(verdict == (count == text.count))
        }
    }

    @Test("empty data without an address is rejected")
    func noBytes() {
        #expect(throws: JSONValidationError.self) {
            try JSONShape.any.validate(bytes: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        #expect(throws: JSONValidationError.self) { try JSONShape.any.validate(Data()) }
    }

    @Test("a slice of data is validated by itself")
    func slices() throws {
        let data = Data("xx[1]yy".utf8)
        try JSONShape.array(of: .integer).validate(data[2..<5])
    }
}
