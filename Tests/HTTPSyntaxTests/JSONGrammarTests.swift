import ErrandHTTPSyntax
import Foundation
import Testing

@Suite("The grammar of JSON text", .leakChecked) struct JSONGrammarTests {
    @Test("a token that RFC 8259 allows is whole, in a text that is complete", arguments: JSONCases.tokens)
    func valid(text: String) {
        let tokens = JSONCases.tokens(text)
        #expect(tokens.count == 1 && tokens.allSatisfy { $0.state == .whole })
        #expect(tokens.first?.range == 0..<text.utf8.count)
        #expect((try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil)
    }

    @Test("a token that RFC 8259 does not allow is malformed, at its byte", arguments: JSONCases.malformed)
    func malformed(bytes: [UInt8], fault: JSONFault, place: Int) {
        #expect(JSONCases.tokens(bytes).map(\.state) == [.malformed(fault, at: place)])
    }

    @Test("after a malformed token, the next token is read")
    func goesOn() {
        let tokens = JSONCases.tokens("[\"a\\q\\\"b\", 01, nul, @x, \u{1}true]")
        #expect(
            tokens.map(\.kind) == [
                .openBracket, .string, .comma, .number, .comma, .literal, .comma, .invalid, .comma, .invalid, .literal,
                .closeBracket,
            ])
        #expect(tokens.filter { $0.state == .whole }.count == 7)
    }

    @Test("a token contains its bytes, and a string its content without quotes")
    func ranges() {
        let text = #" { "id" : [ -1.5e3 , "" ] , "é\"" : null } "#
        let bytes = Array(text.utf8)
        let tokens = JSONCases.tokens(text)
        let words = tokens.map { String(decoding: bytes[$0.range], as: UTF8.self) }
        #expect(words == ["{", #""id""#, ":", "[", "-1.5e3", ",", #""""#, "]", ",", #""é\"""#, ":", "null", "}"])
        let contents = tokens.filter { $0.kind == .string }.map { String(decoding: bytes[$0.content], as: UTF8.self) }
        #expect(contents == ["id", "", #"é\""#])
        #expect(tokens.allSatisfy { $0.state == .whole })
    }

    @Test(
        "a text that is cut at any byte has whole tokens, and only its last token can be cut",
        arguments: JSONCases.texts)
    func cuts(text: String) {
        let bytes = Array(text.utf8)
        let whole = JSONCases.tokens(bytes)
        for count in bytes.indices {
            let tokens = JSONCases.tokens(Array(bytes[..<count]), isComplete: false)
            #expect(tokens.dropLast().allSatisfy { $0.state == .whole }, "cut at \(count)")
            guard let last = tokens.last else { continue }
            #expect(last.state == .whole || last.state == .cut, "cut at \(count)")
            // The token is cut if it continues after the last byte, or might: a number has no terminator.
            let goesOn = whole.contains { $0.range.lowerBound < count && count < $0.range.upperBound }
            let mightGoOn = last.kind == .number && last.range.upperBound == count
            #expect((last.state == .cut) == (goesOn || mightGoOn), "cut at \(count)")
            if last.kind == .string, last.state == .cut { #expect(last.content.upperBound == count) }
            // If no more input follows, the same bytes are malformed at the cut.
            let complete = JSONCases.tokens(Array(bytes[..<count]))
            if goesOn, last.kind == .string { #expect(complete.last?.state != .whole) }
        }
    }

    @Test(
        "text that can't be completed by further bytes is malformed before the string ends",
        arguments: [
            #""\ud83dx"#, #""\ud83d\n"#, #""\ud83d\ud8"#, #""\ude00"#, #""\u12g"#, #""\x"#, "\"a\u{1}", "-x", "1.x",
            "1ex",
            "01", "tru3", "nulL", "trueX",
        ])
    func beyondMending(text: String) {
        guard case .malformed = JSONCases.tokens(text, isComplete: false).last?.state else {
            Issue.record("\(text) can be mended")
            return
        }
    }

    @Test("a string that is read in pieces has the same end and the same first fault as in one piece")
    func pieces() throws {
        let texts = [
            #"plain text that is longer than eight bytes" rest"#, #"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00\\" rest"#,
            #"" rest"#,
            #"日本語 \u65E5" "rest"#, "no end \\", "tab \t here and \u{1} there\"", #"bad \q escape \u12g4 here" x"#,
            #"short \u12"x"#,
        ]
        for text in texts {
            let bytes = Array(text.utf8)
            for checks in [false, true] {
                var whole = JSONStringScan(checks: checks)
                let end = whole.end(in: bytes)
                for size in 1...9 {
                    var scan = JSONStringScan(checks: checks)
                    var (found, start, fault) = (Int?.none, 0, (fault: JSONFault, index: Int)?.none)
                    while found == nil, start < bytes.count {
                        let piece = Array(bytes[start..<min(start + size, bytes.count)])
                        let end = scan.end(in: piece).map { start + $0 }
                        if fault == nil { fault = scan.fault.map { ($0.fault, $0.index + start) } }
                        found = end
                        start += piece.count
                    }
                    #expect(found == end, "\(text) by \(size)")
                    #expect(fault?.fault == whole.fault?.fault && fault?.index == whole.fault?.index)
                    #expect(checks || fault == nil)
                }
            }
        }
    }

    @Test("a scan of a string continues in the middle of a piece")
    func middle() {
        var scan = JSONStringScan()
        #expect(scan.end(in: Array(#"["a b",1]"#.utf8), from: 2) == 6)
        #expect(JSONStringScan(checks: true).fault == nil)
    }

    @Test("escapes in a string are resolved, and numbers have their values")
    func values() {
        #expect(JSONCases.text(#"a\"\\\/\b\f\n\r\t\u00e9\u65E5\ud83d\ude00"#) == "a\"\\/\u{8}\u{C}\n\r\té日😀")
        #expect(JSONCases.text("") == "")
        #expect(JSONCases.text("日本語", limit: 4) == "日本…")
        for (text, integer) in [("70", 70), ("70.0", 70), ("7e1", 70), ("-0", 0), ("7.5", nil), ("1e400", nil)] {
            #expect(JSONCases.number(text) { $0.integer } == integer, "\(text)")
        }
        for text in ["0.1", "-1.5e3", "3.141592653589793238462643383279", "1e-400", "123456789012345678901234567890"] {
            #expect(JSONCases.number(text) { $0.double } == Double(text), "\(text)")
        }
    }

    @Test("escapes in an array of bytes are resolved like escapes in memory, valid or not")
    func unescaped() {
        let contents = [
            "", "plain", #"a\"\\\/\b\f\n\r\t\u00e9\u65E5\ud83d\ude00 end"#, "日本語 \\u65E5 and more than eight bytes",
            #"bad \q escape"#, #"\u12"#, #"ends with \"#, #"lone \ud83d half"#, #"pair \ud83d\u0041 without its half"#,
            "a \"quote\" and a tab \t, which no string has", #"\ude00"#,
        ]
        for content in contents {
            let bytes = Array("[\"\(content)\"]".utf8)
            let unescaped = JSONGrammar.unescaped(bytes[2..<bytes.count - 2])
            #expect(String(decoding: unescaped, as: UTF8.self) == JSONCases.text(content), "\(content)")
        }
        #expect(JSONGrammar.unescaped(Array(#"\u00e9"#.utf8)[...]) == [0xC3, 0xA9])
    }

    @Test("a token ends at its index in the text, and a fault has the index of its byte")
    func indices() {
        let text = ContiguousArray(#"{"key\n": -12.5e3, "x": tru}"#.utf8)
        #expect(JSONGrammar.string(in: text.span, from: 2) == JSONTokenEnd(8))
        #expect(JSONGrammar.skipSpace(in: text.span, from: 9) == 10)
        let number = JSONGrammar.number(in: text.span, from: 10)
        #expect(number.end == JSONTokenEnd(17) && !number.isPlain)
        #expect(JSONNumber(text[10..<17].span).integer == -12_500)
        #expect(JSONGrammar.literal(in: text.span, from: 24) == JSONTokenEnd(24, .badLiteral))
        #expect(JSONGrammar.literal(in: ContiguousArray("true".utf8).span, from: 0) == JSONTokenEnd(4))
        #expect(JSONFault.badLiteral.found(in: text.span, at: 24) == "'t'")
        #expect(JSONFault.end.found(in: text.span, at: text.count) == "the end of the text")
    }

    @Test("numbers of many digits are exact, and round once")
    func longNumbers() {
        for text in [
            "0.00000000000000000000012345", "12345678901234567890123.5", "100000000000000000000000", "-0.0", "-0",
            "0.10000000000000000000000000000000000000000001", "9007199254740993", "1e-320", "-1.7976931348623159e309",
            "9223372036854775808", "2.2250738585072011e-308", "123456789012345678.9e1", "5e-324", "0e999999999999",
        ] {
            #expect(JSONCases.number(text) { $0.double }?.bitPattern == Double(text)?.bitPattern, "\(text)")
            #expect(JSONCases.number(text) { $0.float }?.bitPattern == Float(text)?.bitPattern, "\(text)")
        }
        #expect(JSONCases.number("9223372036854775807") { $0.integer } == .max)
        #expect(JSONCases.number("-9223372036854775808") { $0.integer } == .min)
        #expect(JSONCases.number("9223372036854775808") { $0.integer } == nil)
        #expect(JSONCases.number("9223372036854775808") { $0.integer(UInt64.self) } == 1 << 63)
        #expect(JSONCases.number("-1") { $0.integer(UInt64.self) } == nil)
        #expect(JSONCases.number("1000000000000000000000e-21") { $0.integer } == 1)
        #expect(JSONCases.number("0.00000000000000000001e20") { $0.integer } == 1)
        #expect(JSONCases.number("-0.0") { $0.integer } == 0)
        #expect(JSONCases.number("300") { $0.integer(UInt8.self) } == nil)
        #expect(JSONCases.number("2.55e2") { $0.integer(UInt8.self) } == 255)
        #expect(JSONCases.number("0.0000000000000000000000") { $0.isZero } == true)
        #expect(JSONCases.number("10000000000000000000000.5") { $0.isIntegral } == false)
    }

    @Test("deep, long or hostile text takes one step per byte, without allocating")
    func hostile() {
        for unit in ["[", "{\"a\":", "\"\\", "\\u", "\"", "-", "e", "\u{0}", "\u{FF}", "[}", "9", "\"\\ud83d"] {
            let bytes = Array(String(repeating: unit, count: 20_000).utf8)
            for isComplete in [true, false] {
                let tokens = JSONCases.tokens(bytes, isComplete: isComplete)
                let isInOrder = zip(tokens, tokens.dropFirst()).allSatisfy { one, next in
                    one.range.upperBound <= next.range.lowerBound
                }
                let isWithin = tokens.allSatisfy { token in
                    let (range, content) = (token.range, token.content)
                    return !range.isEmpty && range.lowerBound <= content.lowerBound
                        && content.upperBound <= range.upperBound && range.upperBound <= bytes.count
                }
                #expect(isInOrder && isWithin && !tokens.isEmpty, "\(unit)")
            }
        }
    }

    @Test("random bytes and random cuts are read without memory errors, as a whole text or its beginning")
    func random() {
        var generator = SeededGenerator(seed: 27)
        let alphabet = Array("\"\\u{}[],:0123456789.-+eEtrufalsn dDcC\u{1}é\u{1F600}".utf8) + [0xFF, 0xED, 0xA0, 0xC0]
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...40, using: &generator)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let whole = JSONCases.tokens(bytes)
            let begun = JSONCases.tokens(bytes, isComplete: false)
            #expect(whole.map(\.range) == begun.map(\.range))
            #expect(whole.dropLast().map(\.state) == begun.dropLast().map(\.state))
            #expect(!whole.contains { $0.state == .cut })
        }
    }

    @Test("a copy of a tokenizer reads the same tokens again, and white space doesn't have tokens")
    func copies() {
        let bytes = Array("[1, 2] ".utf8)
        var tokenizer = JSONTokenizer(bytes)
        _ = tokenizer.next()
        var ahead = tokenizer
        #expect(ahead.next() == tokenizer.next())
        while tokenizer.next() != nil {}
        #expect(tokenizer.position == bytes.count && tokenizer.next() == nil)
        #expect(JSONCases.tokens("") == [] && JSONCases.tokens(" \t\r\n        \n") == [])
    }

    @Test("escapes and numbers are read from arrays of bytes, and the end of plain text is found")
    func arrays() {
        let bytes = ContiguousArray(#"xx"a\u0061é","#.utf8)
        #expect(JSONGrammar.plainEnd(in: bytes.span, from: 0) == 2)
        #expect(JSONGrammar.plainEnd(in: bytes.span, from: 3) == 4)
        #expect(JSONGrammar.plainEnd(in: bytes.span, from: bytes.count) == bytes.count)
        #expect(String(decoding: JSONGrammar.unescaped(bytes[3..<12]), as: UTF8.self) == "aaé")
        #expect(JSONGrammar.unescaped([]) == [])
        #expect(JSONNumber.double(Array("-1.5e1".utf8)) == -15)
        #expect(JSONNumber.double(Array("1x".utf8)) == nil)
        #expect(JSONNumber.double(Array("01".utf8)) == nil)
        #expect(JSONNumber.double([]) == nil)
    }
}
