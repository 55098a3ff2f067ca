import ErrandEssentials
import ErrandHTTP
import Testing

@Suite("Parameters", .leakChecked) struct ParameterTests {
    private func text(_ parameters: Parameters, _ encoding: ParameterEncoding = ParameterEncoding()) throws -> String {
        try encoding.encode(parameters)
    }

    @Test("names are sorted, containers are nested, sets are repeated, and null doesn't have an equals sign")
    func shapes() throws {
        #expect(try text(["b": 2, "a": 1]) == "a=1&b=2")
        #expect(try text(["user": .object(["name": "Ada", "id": 7])]) == "user%5Bid%5D=7&user%5Bname%5D=Ada")
        #expect(try text(["a": [3, 1, 2]]) == "a%5B%5D=3&a%5B%5D=1&a%5B%5D=2")
        #expect(try text(["s": .set(["b", "a", "c"])]) == "s=a&s=b&s=c")
        #expect(try text(["n": .null, "x": 1.5]) == "n&x=1.5")
        #expect(try text(["deep": ["list": [["k": true]]]]) == "deep%5Blist%5D%5B%5D%5Bk%5D=1")
        #expect(
            try text(Parameters([.init("z", 1), .init("a", 2)]), ParameterEncoding(sortsNames: false)) == "z=1&a=2")
    }

    @Test("all reserved characters except ? and / are escaped, and composed characters stay whole")
    func escaping() throws {
        #expect(try text(["q": "a+b;c&d=e f"]) == "q=a%2Bb%3Bc%26d%3De%20f")
        #expect(
            try text(["q": "日本👩‍👩‍👧é"])
                == "q=%E6%97%A5%E6%9C%AC%F0%9F%91%A9%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7%C3%A9")
        #expect(try text(["p": "a/b?c"]) == "p=a/b?c")
        #expect(try text(["#[]@!$'()*,:": "x"]) == "%23%5B%5D%40%21%24%27%28%29%2A%2C%3A=x")
    }

    @Test("a value marked as encoded is sent unchanged, after a check")
    func encoded() async throws {
        #expect(try text(["q": .encoded("a%20b%2B")]) == "q=a%20b%2B")
        #expect(try text(["q": "a%20b"]) == "q=a%2520b")
        for wrong in ["a b", "100%", "a&b=c", "%2"] {
            #expect(await code { try text(["q": .encoded(wrong)]) } == .encodingFailed)
        }
    }

    @Test(
        "arrays and booleans have named styles",
        arguments: [
            (ParameterEncoding(arrays: .brackets), "a%5B%5D=1&a%5B%5D=x%2Cy&f=1"),
            (ParameterEncoding(arrays: .repeated), "a=1&a=x%2Cy&f=1"),
            (ParameterEncoding(arrays: .indexed), "a%5B0%5D=1&a%5B1%5D=x%2Cy&f=1"),
            (ParameterEncoding(arrays: .commas, booleans: .literal), "a=1,x%2Cy&f=true"),
        ])
    func styles(encoding: ParameterEncoding, expected: String) throws {
        #expect(try text(["a": .array([1, "x,y"]), "f": true], encoding) == expected)
    }

    @Test("values that aren't literals are named or converted")
    func conversions() {
        let (name, page) = ("Ada", UInt64.max)
        #expect(ParameterValue(name) == .string("Ada"))
        #expect(ParameterValue(page) == .decimal(Decimal(UInt64.max)))
        #expect(ParameterValue(Int8(3)) == 3)
        var parameters: Parameters = ["a": 1, "b": 2]
        parameters["a"] = "new"
        parameters["b"] = nil
        parameters["c"] = 3
        #expect(parameters == ["a": "new", "c": 3])
    }

    @Test("a number keeps its digits, in a query and in JSON, whatever its type")
    func digits() throws {
        struct Values: Encodable {
            let price = Decimal(string: "12345678901234567.89")
            let half = Decimal(string: "4503599627370497.5")
            let large = UInt64.max
            let small = Int64.min
            let tiny = Decimal(string: "0.00000000000000000000000000000000000001")
            let round = Decimal(string: "100000000000000000000")
            let power = 1e100
            let tenth = Float(0.1)
            let nested = [[Decimal(string: "0.12345678901234567890123")]]
            let text = "a\"\u{E9}\\\n"
        }
        let parameters = Parameters(encoding: Values())
        #expect(
            try text(parameters, ParameterEncoding(arrays: .repeated))
                == "half=4503599627370497.5&large=18446744073709551615&nested=0.12345678901234567890123"
                + "&power=1\(String(repeating: "0", count: 100))&price=12345678901234567.89&round=100000000000000000000"
                + "&small=-9223372036854775808&tenth=0.1&text=a%22%C3%A9%5C%0A"
                + "&tiny=0.00000000000000000000000000000000000001")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let values = parameters.items.map { ($0.name, $0.value) }
        let json = try encoder.encode(Dictionary(uniqueKeysWithValues: values))
        #expect(try json == encoder.encode(Values()))
        #expect(try encoder.encode([ParameterValue(UInt64.max)]) == Data("[18446744073709551615]".utf8))
        let decoded = try JSONDecoder().decode([String: ParameterValue].self, from: json)
        #expect(decoded["price"] == parameters["price"] && decoded["large"] == parameters["large"])
        #expect(decoded["half"] == parameters["half"] && decoded["power"] == .number(1e100))
        #expect(throws: EncodingError.self) { try encoder.encode([ParameterValue.decimal(.nan)]) }
    }

    @Test(
        "a number in a query has no exponent",
        arguments: [
            (0.000066, "0.000066"), (-0.000066, "-0.000066"), (1e-5, "0.00001"), (-1.25e-7, "-0.000000125"),
            (0.5, "0.5"),
            (1e16, "10000000000000000"), (-1.2345e20, "-123450000000000000000"), (51.477928, "51.477928"), (7, "7.0"),
            (123_456_789_012_345_680, "123456789012345680"), (0, "0.0"),
            (.leastNonzeroMagnitude, "0." + String(repeating: "0", count: 323) + "5"),
        ])
    func exponents(number: Double, digits: String) throws {
        #expect(try text(["q": .number(number)]) == "q=\(digits)")
        #expect(try text(["q": [number]], ParameterEncoding(arrays: .commas)) == "q=\(digits)")
        #expect(Double(digits) == number)
    }

    @Test("a value whose encoder writes blanks and escapes is read back unchanged")
    func formatted() throws {
        struct Nested: Encodable {
            let a = ["x": [1, 2], "y": []], b = [String: [String: Bool]](), c = ["": "/\u{1F600}"]
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted]
        let text = try text(Parameters(encoding: Nested(), encoder: encoder), ParameterEncoding(arrays: .repeated))
        #expect(text == "a%5Bx%5D=1&a%5Bx%5D=2&c%5B%5D=/%F0%9F%98%80")
    }
}
