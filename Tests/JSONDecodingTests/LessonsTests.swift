import Errand
import ErrandJSONDecoding
import ErrandTesting
import Foundation
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Numbers and texts that other decoders got wrong", .endsInTime, .leakChecked)
struct DecodingLessonsTests {
    private func read<Value: Decodable>(_ text: String, _ type: Value.Type = Value.self) throws -> Value {
        try FastJSONDecoder().decode(type, from: Data(text.utf8))
    }

    private func context(_ body: () throws -> Void) -> DecodingError.Context? {
        do { try body() } catch DecodingError.dataCorrupted(let context) { return context } catch {}
        return nil
    }

    private struct Order: Decodable {
        let foo: Int?
        let price: Double?
        let tags: [UInt8]?
        let ratio: Float?
        let total: Decimal?
    }

    // MARK: Numbers

    @Test(
        "a Double is the nearest value, even for digits that need more than 64 bits",
        arguments: [
            ("1000000000.000000001", 1e9), ("0.95000000000000000000", 0.95),
            ("-65.619720000000029", -65.61972000000003),
            ("7e23", 7e23), ("0.8825149536132812", 0.8825149536132812), ("44.411101", 44.411101),
            ("117.63331139400017", 117.63331139400017), ("98.88339545701953", 98.88339545701953),
            ("1289.8126064735945", 1289.8126064735945), ("1.5777777777770001", 1.5777777777770001),
            ("0.004750000000000001", 0.004750000000000001), ("1626175065.5934923", 1626175065.5934923),
            ("-12345678901234.56789012", -12345678901234.56789012), ("0.6", 0.6), ("1.234567899E8", 123456789.9),
            ("1.0e-308", 1.0e-308), ("0.1e-308", Double("0.1e-308") ?? .nan),
            ("0.01e-307", Double("0.01e-307") ?? .nan),
            ("92233720368547758423", 9.223372036854776e19),
            ("2.2250738585072011e-308", Double("2.2250738585072011e-308") ?? .nan),
            ("4.9e-324", .leastNonzeroMagnitude),
        ] as [(String, Double)])
    func nearest(text: String, value: Double) throws {
        #expect(try read(text, Double.self).bitPattern == value.bitPattern)
        #expect(try read("{\"price\":\(text)}", Order.self).price == value)
        #expect(try read("[\(text),0]", [Double].self).first == value)
    }

    @Test("a Float is read from the digits, not from a Double")
    func floats() throws {
        #expect(try read("5.55", Float.self) == 5.55 && String(describing: try read("5.55", Float.self)) == "5.55")
        // These numbers are between two floats. Converting them to doubles first would round twice.
        #expect(try read("1.000000059604644775390626", Float.self) == Float("1.000000059604644775390626"))
        #expect(try read("7.038531e-26", Float.self) == 7.038531e-26)
    }

    @Test("integers beyond 2^53 keep every digit, at any depth")
    func integers() throws {
        struct Item: Decodable {
            let sequence: Int64
            let id: UInt64?
            let time: Int!
        }
        let item = try read(
            #"{"sequence":1433156836801288448,"id":18446744073709551615,"time":1495208399999}"#, Item.self)
        #expect(item.sequence == 1_433_156_836_801_288_448 && item.id == .max && item.time == 1_495_208_399_999)
        #expect(try read("[210730104612219452]", [Int].self) == [210_730_104_612_219_452])
        #expect(try read("-9223372036854775808", Int64.self) == .min)
        for text in ["-9223372036854775809", "9223372036854775808", "-9223372036854775809.0", "-9223372036854775809e0"]
        {
            #expect(throws: DecodingError.self) { try read(text, Int64.self) }
        }
    }

    @Test(
        "an exponent or a fraction that an integer can't have is an error, never a crash or a rounded number",
        arguments: [
            "1147e0286", "1147e02864", "1.7976931348623157e308", "9999999999.99", "42.123", "1e-1", "1e9999999999",
        ])
    func noInteger(text: String) {
        for body in [
            { _ = try read(text, Int.self) }, { _ = try read(text, UInt8.self) }, { _ = try read(text, Int128.self) },
            { _ = try read("{\"foo\":\(text)}", Order.self) },
        ] {
            let error = context(body)?.underlyingError as? JSONDecodingError
            #expect(error?.code == .numberNotRepresentable)
        }
    }

    @Test("a number that doesn't fit its type is reported with its path, and not as a text that isn't JSON")
    func paths() throws {
        let cases: [(String, [String])] = [
            (#"{"foo":123.45}"#, ["foo"]), (#"{"foo":99999999999999999999}"#, ["foo"]),
            (#"{"price":1e400}"#, ["price"]),
            (#"{"tags":[1,2,256]}"#, ["tags", "Index 2"]), (#"{"tags":[-1]}"#, ["tags", "Index 0"]),
            (#"{"ratio":1e39}"#, ["ratio"]),
        ]
        for (text, path) in cases {
            for document in [text, "[\(text)]"] {
                let isList = document.hasPrefix("[")
                let found = context {
                    if isList { _ = try read(document, [Order].self) } else { _ = try read(document, Order.self) }
                }
                #expect(found?.codingPath.map(\.stringValue) == (isList ? ["Index 0"] : []) + path, "\(document)")
                #expect(found?.debugDescription.contains("JSON") == false)
            }
        }
        let wrong = context { _ = try read(#"{"foo":12"#, Order.self) }
        #expect(wrong?.codingPath.isEmpty == true && wrong?.debugDescription.contains("not valid JSON") == true)
    }

    @Test("the agent's error names the number, with either decoder, and doesn't call the body malformed")
    func agentErrors() async throws {
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json(#"[{"foo":1},{"foo":123.45}]"#)))
        let plain = await #expect(throws: ErrandError.self) { try await agent.send(Call<[Order]>(.get, "orders")) }
        #expect(
            plain?.message.hasSuffix("valid JSON, or a number in the body doesn't fit the type of its property")
                == true)
        agent.configure { $0.decoder = .fast }
        let fast = await #expect(throws: ErrandError.self) { try await agent.send(Call<[Order]>(.get, "orders")) }
        #expect(fast?.message.hasPrefix("expected Array<Order>: /1/foo: not valid, numberNotRepresentable") == true)
        #expect(fast?.message.contains("123") == false)
        // Without the body, for example in the error of a stream's element, both are possible.
        let error = try #require(plain?.underlying)
        #expect(
            error.briefDescription.hasSuffix(
                "valid JSON, or a number in the body doesn't fit the type of its property"))
    }

    @Test("numbers with millions of digits or a huge exponent take no longer than reading them")
    func costlyNumbers() throws {
        let digits = String(repeating: "9", count: 2_000_000)
        let texts = [digits, "1e100000000", "10000000e100000000", "0.\(digits)", "\(digits).\(digits)", "1e-100000000"]
        for text in texts {
            _ = try? read(text, Int.self)
            _ = try? read(text, UInt128.self)
            _ = try? read(text, Double.self)
            _ = try? read(text, Decimal.self)
            var decoder = FastJSONDecoder()
            for strategy: JSONDecoder.DateDecodingStrategy in [.secondsSince1970, .millisecondsSince1970] {
                decoder.dateDecodingStrategy = strategy
                let date = try? decoder.decode(Date.self, from: Data(text.utf8))
                #expect(date.map { $0.timeIntervalSince1970.isFinite } ?? true)
            }
        }
    }

    @Test("a Decimal of any length equals JSONDecoder's")
    func decimals() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<2_000 {
            var text = "\(1 + random.below(9))" + (0..<random.below(60)).map { _ in "\(random.below(10))" }.joined()
            if random.chance(2) { text += "." + (0...random.below(60)).map { _ in "\(random.below(10))" }.joined() }
            if random.chance(3) { text += "e\(random.below(300) - 150)" }
            Pair().agree(Decimal.self, text)
        }
    }

    // MARK: Texts

    @Test(
        "escapes are read next to any other text",
        arguments: [
            (#""\u2019d delete""#, "\u{2019}d delete"), (#""\u0022wei\u00DF\u0022""#, "\"wei\u{DF}\""),
            (#""Gu\u00DFteil G\u00D6WEIL""#, "Gu\u{DF}teil G\u{D6}WEIL"), (#""\u0000a\u0000""#, "\u{0}a\u{0}"),
            (#""\ud83d\ude00\u20ac\/\b\f""#, "\u{1F600}\u{20AC}/\u{8}\u{C}"), (#""\uE000\uD7FF""#, "\u{E000}\u{D7FF}"),
        ])
    func escapes(text: String, value: String) throws {
        #expect(try Array(read(text, String.self).unicodeScalars) == Array(value.unicodeScalars))
        #expect(try read("{\(text):\(text)}", [String: String].self) == [value: value])
    }

    @Test(
        "unpaired surrogates and pairs in the wrong order are errors everywhere",
        arguments: [
            #"["\uDFF3"]"#, #"{"name":"\udc00\ud800\uggggxy"}"#, #"{"a":"\ufffdSC\udee4\udff0L"}"#,
            #"["\uD800\uD800"]"#, #"["\ud800"]"#, #"["\udbffa"]"#, #"["\uD800\n"]"#, #"{"\ud800":1}"#,
            #"["\uD83Dx"]"#, #"{"\uDFF3":1}"#, #"["\uD83D\n\uDE00"]"#,
        ])
    func surrogates(text: String) {
        struct Nothing: Decodable { init(from decoder: any Decoder) {} }
        let error = context { _ = try read(text, Nothing.self) }?.underlyingError as? JSONDecodingError
        #expect(error?.code == .malformedJSON)
    }

    @Test(
        "bytes that aren't UTF-8 are errors, after any text",
        arguments: [
            [0xF0, 0x8F, 0xBF, 0xBF], [0xFF], [0xF5, 0x80, 0x80, 0x80], [0xED, 0xBF, 0xB3], [0xC0, 0x80], [0xE2, 0x82],
        ])
    func encoding(bytes: [UInt8]) {
        struct Nothing: Decodable { init(from decoder: any Decoder) {} }
        for count in [0, 1, 15, 31, 62, 63, 64, 127] {
            for isText in [true, false] {
                let blank = [UInt8](repeating: isText ? 0x61 : 0x20, count: count)
                let text = isText ? [0x22] + blank + bytes + [0x22] : blank + bytes
                #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(Nothing.self, from: Data(text)) }
            }
        }
    }

    @Test(
        "text that only lenient parsers accept is malformed",
        arguments: [
            #"{"foo" = 1, "bar" = 2}"#, "not json", #"{"rsvHour":11",rsvMin":30}"#, "{foo:1}", "[[]", "[1] x",
            "{'a':1}",
            "[1,]", "{\"X\n\":1}", "\u{1F}[1]", "<html></html>", "NaN", "[01]", "Infinity", "[1;2]",
            "{\"a\":1 \"b\":2}",
            "/* c */ 1", "\"a", "+1", "[.5]", "tru", "\u{A0}1",
        ])
    func lenience(text: String) {
        struct Nothing: Decodable { init(from decoder: any Decoder) {} }
        let error = context { _ = try read(text, Nothing.self) }?.underlyingError as? JSONDecodingError
        #expect(error?.code == .malformedJSON)
    }

    @Test("null and values of another type cause an error or nil, but not a crash")
    func nulls() throws {
        struct User: Decodable {
            let name: String?
            let image: String?
            let state: Int?
        }
        let user = try read(#"{"name":null,"state":0}"#, User.self)
        #expect(user.name == nil && user.image == nil && user.state == 0)
        for wrong in [#"{"state":"1"}"#, #"{"name":7}"#, #"{"image":{"url":""}}"#, "null", "[]", #""""#] {
            #expect(throws: DecodingError.self) { try read(wrong, User.self) }
        }
    }

    @Test("an error in a nested element has the whole path, as text in the agent's error")
    func farInside() async throws {
        let agent = NetworkAgent(
            baseURL: "https://api.example.com",
            transport: .stub(.json(#"{"orders":[{"foo":1},{"foo":2},{"foo":"x"}]}"#)))
        for decoder: any BodyDecoder in [JSONDecoder(), FastJSONDecoder()] {
            agent.configure { $0.decoder = decoder }
            let error = await #expect(throws: ErrandError.self) {
                try await agent.send(Call<[String: [Order]]>(.get, "orders"))
            }
            #expect(error?.message.hasSuffix("/orders/2/foo: expected Int") == true)
        }
    }
}
