import ErrandHTTP
import Testing

@Suite("Parameters", .leakChecked) struct ParameterTests {
    private func text(_ parameters: Parameters, _ encoding: ParameterEncoding = ParameterEncoding()) throws -> String {
        try encoding.encode(parameters)
    }

    @Test("names are sorted, containers are nested, sets are repeated, and null has no equals sign")
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

    @Test("everything reserved except ? and / is escaped, and composed characters stay whole")
    func escaping() throws {
        #expect(try text(["q": "a+b;c&d=e f"]) == "q=a%2Bb%3Bc%26d%3De%20f")
        #expect(
            try text(["q": "日本👩‍👩‍👧é"])
                == "q=%E6%97%A5%E6%9C%AC%F0%9F%91%A9%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7%C3%A9")
        #expect(try text(["p": "a/b?c"]) == "p=a/b?c")
        #expect(try text(["#[]@!$'()*,:": "x"]) == "%23%5B%5D%40%21%24%27%28%29%2A%2C%3A=x")
    }

    @Test("what is encoded already is left alone where it says so, and checked")
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

    @Test("values that are no literals are named or converted")
    func conversions() {
        let (name, page) = ("Ada", UInt64.max)
        #expect(ParameterValue(name) == .string("Ada"))
        #expect(ParameterValue(page) == .string("18446744073709551615"))
        #expect(ParameterValue(Int8(3)) == 3)
        var parameters: Parameters = ["a": 1, "b": 2]
        parameters["a"] = "new"
        parameters["b"] = nil
        parameters["c"] = 3
        #expect(parameters == ["a": "new", "c": 3])
    }
}
