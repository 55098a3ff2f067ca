import ErrandEssentials
import ErrandHTTPSyntax
import Testing

@Suite("Structured fields", .leakChecked) struct StructuredFieldTests {
    typealias Item = StructuredField.Item

    @Test(
        "every type of bare item parses, and serializes to the same text",
        arguments: [
            ("42", .integer(42)), ("-0", .integer(0)), ("999999999999999", .integer(999_999_999_999_999)),
            ("4.5", .decimal(.init(thousandths: 4500))), ("-0.125", .decimal(.init(thousandths: -125))),
            ("999999999999.999", .decimal(.init(thousandths: 999_999_999_999_999))),
            (#""hello \"world\" \\""#, .string(#"hello "world" \"#)), (#""""#, .string("")),
            ("foo123/456", .token("foo123/456")), ("*a:b", .token("*a:b")),
            (":cHJldGVuZCB0aGlzIGlzIGJpbmFyeSBjb250ZW50Lg==:", .bytes(Data("pretend this is binary content.".utf8))),
            ("::", .bytes(Data())), ("?1", .boolean(true)), ("?0", .boolean(false)),
            ("@1659578233", .date(1_659_578_233)), ("@-1", .date(-1)),
            ("@999999999999999", .date(999_999_999_999_999)), ("@-999999999999999", .date(-999_999_999_999_999)),
            (
                #"%"This is intended for display to %c3%bcsers.""#,
                .displayString("This is intended for display to üsers.")
            ),
        ] as [(String, StructuredField.BareItem)])
    func items(_ text: String, _ value: StructuredField.BareItem) throws {
        let item = try Item(parsing: text)
        #expect(item.value == value)
        let again = try item.serialized()
        #expect(again == (text == "-0" ? "0" : text))
        #expect(try Item(parsing: "  \(text)  ").value == value)
    }

    @Test(
        "text that isn't an item is refused completely, with the position",
        arguments: [
            "", "-", "--1", "1.", ".5", "1.2345", "1234567890123456", "1234567890123.1", "1 2", "1,", "\"", "\"a\\b\"",
            "\"\u{7F}\"", "\"\t\"", "\"ü\"", "?2", "?", ":a", ":*:", "@", "@1.5", "@a", "@1234567890123456",
            "99999999999999.1", "%", "%\"%C3\"", "%\"%c3\"",
            "%\"%g0\"", "%\"a", "ü", "a;B=1", "a;", "a; =1", "a;b=", "(a)", "\t1", "=1",
        ])
    func refused(_ text: String) {
        #expect(throws: StructuredField.ParseError.self) { try Item(parsing: text) }
    }

    @Test("parameters keep their order, and a later parameter with the same key replaces the value")
    func parameters() throws {
        let item = try Item(parsing: "text/html; q=0.5;a;charset=\"x\"; q=1.0")
        #expect(item.parameters.all.map(\.key) == ["q", "a", "charset"])
        #expect(item.parameters["q"]?.number == 1)
        #expect(item.parameters["a"] == .boolean(true))
        #expect(try item.serialized() == #"text/html;q=1.0;a;charset="x""#)
        var parameters: StructuredField.Parameters = ["b": 1]
        parameters["b"] = nil
        parameters["c"] = nil
        #expect(parameters.isEmpty)
    }

    @Test(
        "input with over four times the members, parameters or items that parsers must support is refused early"
    )
    func limits() throws {
        func joined(_ count: Int, _ separator: String, _ part: (Int) -> String) -> String {
            (0..<count).map(part).joined(separator: separator)
        }
        let many = try StructuredField.Dictionary(parsing: joined(4_096, ", ") { "k\($0)=\($0)" })
        #expect(many.entries.count == 4_096 && many["k4095"]?.item?.value == 4095 && many["k4096"] == nil)
        #expect(try StructuredField.List(parsing: joined(4_096, ",") { "\($0)" }).members.count == 4_096)
        #expect(try Item(parsing: "a;" + joined(1_024, ";") { "k\($0)" }).parameters.all.count == 1_024)
        let texts = [joined(60_000, ", ") { "k\($0)=\($0)" }, joined(60_000, ", ") { _ in "a" }]
        for text in texts {
            let error = #expect(throws: StructuredField.ParseError.self) {
                try StructuredField.Dictionary(parsing: text)
            }
            #expect((error?.offset ?? .max) < 60_000)
        }
        #expect(throws: StructuredField.ParseError.self) {
            try StructuredField.List(parsing: joined(4_097, ",") { "\($0)" })
        }
        #expect(throws: StructuredField.ParseError.self) {
            try StructuredField.List(parsing: "(" + joined(1_025, " ") { "\($0)" } + ")")
        }
        #expect(throws: StructuredField.ParseError.self) { try Item(parsing: "a;" + joined(1_025, ";") { "k\($0)" }) }
    }

    @Test("each of many keys is found, replaced in its place and removed")
    func manyKeys() {
        var fields = StructuredField.Dictionary()
        // Searching all keys for each of them would take minutes.
        for key in 0..<100_000 { fields["k\(key)"] = .item(.init(.integer(Int64(key)))) }
        for key in 0..<100_000 { fields["k\(key)"] = .item(.init(.integer(Int64(-key)))) }
        #expect(fields.entries.count == 100_000)
        for key in [0, 7, 99_999] { #expect(fields["k\(key)"]?.item?.value == .integer(Int64(-key))) }
        fields["k7"] = nil
        #expect(fields["k7"] == nil && fields["k8"]?.item?.value == -8 && fields.entries[7].key == "k8")
        var small: StructuredField.Parameters = [:]
        for key in 0..<20 { small["k\(key)"] = 1 }
        for key in 0..<15 { small["k\(key)"] = nil }
        small["a"] = 2
        #expect(small.all.map(\.key) == ["k15", "k16", "k17", "k18", "k19", "a"])
        for key in 20..<40 { small["k\(key)"] = 3 }
        #expect(small["a"] == 2 && small["k0"] == nil && small["k39"] == 3 && small.all.count == 26)
    }

    @Test("lists hold items and inner lists, with blanks around the commas")
    func lists() throws {
        let list = try StructuredField.List(parsing: "(\"foo\" \"bar\");lvl=5 ,\t(  ) , sugar;a=?0, 1")
        #expect(list.members.count == 4)
        #expect(list.members[0].innerList?.items.map(\.value) == ["foo", "bar"])
        #expect(list.members[0].parameters["lvl"]?.integer == 5)
        #expect(list.members[1].innerList?.items.isEmpty == true)
        #expect(try list.serialized() == #"("foo" "bar");lvl=5, (), sugar;a=?0, 1"#)
        #expect(try StructuredField.List(parsing: "").members.isEmpty)
        for text in ["a,", ",a", "a,,b", "(a", "(a b", "(a,b)", "(a)b", "(a\tb)", "((a))", "a b"] {
            #expect(throws: StructuredField.ParseError.self) { try StructuredField.List(parsing: text) }
        }
    }

    @Test("dictionaries keep a key's first position and its last member, and a key without a value is true")
    func dictionaries() throws {
        let text = "a=?0, b, c; foo=bar, rating=1.5, feelings=(joy sadness), a=2"
        let dictionary = try StructuredField.Dictionary(parsing: text)
        #expect(dictionary.entries.map(\.key) == ["a", "b", "c", "rating", "feelings"])
        #expect(dictionary["a"]?.item?.value.integer == 2)
        #expect(dictionary["b"]?.item?.value.boolean == true)
        #expect(dictionary["c"]?.parameters["foo"]?.text == "bar")
        #expect(dictionary["feelings"]?.innerList?.items.count == 2)
        #expect(try dictionary.serialized() == "a=2, b, c;foo=bar, rating=1.5, feelings=(joy sadness)")
        for text in ["A=1", "a=", "a=1 b=2", "a,", "a==1", "1=a", "-a=1"] {
            #expect(throws: StructuredField.ParseError.self) { try StructuredField.Dictionary(parsing: text) }
        }
        var made = StructuredField.Dictionary()
        made["limit"] = .item(.init(10, parameters: ["w": 60]))
        made["on"] = .item(.init(true))
        #expect(try made.serialized() == "limit=10;w=60, on")
        let literal: StructuredField.Dictionary = ["limit": .item(10, parameters: ["w": 60]), "on": .item(true)]
        #expect(literal == made)
        let twice: StructuredField.Dictionary = ["a": .item(1), "b": .item(2), "a": .item(3)]
        #expect(try twice.serialized() == "a=3, b=2")
        let list: StructuredField.List = [.item("gzip"), .item(.token("br"), parameters: ["q": 0.5])]
        #expect(try list.serialized() == #""gzip", br;q=0.5"#)
    }

    @Test("values that no field can hold are refused when they are serialized")
    func serialization() {
        let wrong: [StructuredField.BareItem] = [
            .integer(1_000_000_000_000_000), .decimal(.init(thousandths: .min)), .string("ü"), .string("a\n"),
            .token(""), .token("a b"), .token("1a"), .date(.min),
        ]
        for value in wrong {
            #expect(throws: StructuredField.SerializationError.self) { try value.serialized() }
        }
        #expect(throws: StructuredField.SerializationError.self) { try Item(1, parameters: ["A": 1]).serialized() }
        #expect(StructuredField.Decimal(0.0015)?.description == "0.002")
        #expect(StructuredField.Decimal(0.0025)?.description == "0.002")
        #expect(StructuredField.Decimal(1e15) == nil && StructuredField.Decimal(.nan) == nil)
        #expect(StructuredField.Decimal(thousandths: -5).description == "-0.005")
        #expect(StructuredField.BareItem(floatLiteral: .infinity).number == 999_999_999_999.999)
    }

    @Test("random values are unchanged after serializing and parsing")
    func roundTrip() throws {
        var random = SeededGenerator(seed: 7)
        func bareItem() -> StructuredField.BareItem {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: .integer(.random(in: -999_999_999_999_999...999_999_999_999_999, using: &random))
            case 1:
                .decimal(.init(thousandths: .random(in: -999_999_999_999_999...999_999_999_999_999, using: &random)))
            case 2: .string(text(0x20...0x7E))
            case 3: .token("t" + text(0x61...0x7A))
            case 4:
                .bytes(
                    Data((0..<Int.random(in: 0..<9, using: &random)).map { _ in .random(in: 0...255, using: &random) }))
            case 5: .boolean(.random(using: &random))
            case 6: .date(.random(in: -62_135_596_800...253_402_214_400, using: &random))
            default: .displayString(text(0...0x10FFFF))
            }
        }
        func text(_ range: ClosedRange<UInt32>) -> String {
            let scalars = (0..<Int.random(in: 0..<12, using: &random)).compactMap { _ in
                Unicode.Scalar(UInt32.random(in: range, using: &random))
            }
            return String(String.UnicodeScalarView(scalars))
        }
        func item() -> Item {
            var parameters = StructuredField.Parameters()
            for _ in 0..<Int.random(in: 0..<3, using: &random) { parameters["k" + text(0x61...0x7A)] = bareItem() }
            return Item(bareItem(), parameters: parameters)
        }
        for _ in 0..<2000 {
            var dictionary = StructuredField.Dictionary()
            for _ in 0..<Int.random(in: 1..<4, using: &random) {
                let items = (0..<Int.random(in: 0..<3, using: &random)).map { _ in item() }
                dictionary["k" + text(0x61...0x7A)] =
                    Bool.random(using: &random) ? .item(item()) : .innerList(.init(items))
            }
            #expect(try StructuredField.Dictionary(parsing: dictionary.serialized()) == dictionary)
            let list = StructuredField.List(dictionary.entries.map(\.member))
            #expect(try StructuredField.List(parsing: list.serialized()) == list)
        }
    }

    @Test("random text is parsed to a value or an error")
    func nonsense() {
        var random = SeededGenerator(seed: 11)
        let alphabet = Array(#"abz019-*."\:?@%=;,() ü=ABC/"#.unicodeScalars)
        for _ in 0..<20_000 {
            let scalars = (0..<Int.random(in: 0..<24, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            }
            let text = String(String.UnicodeScalarView(scalars))
            if let list = try? StructuredField.List(parsing: text) {
                #expect((try? StructuredField.List(parsing: list.serialized())) == list, "\(text)")
            }
            _ = try? StructuredField.Dictionary(parsing: text)
            _ = try? Item(parsing: text)
        }
    }

    @Test("a decimal is rounded before its digits are counted, and keeps zeros after its point")
    func decimals() {
        for (value, text) in [
            (999_999_999_999.1, "999999999999.1"), (-999_999_999_999.1, "-999999999999.1"), (0.01, "0.01"),
            (0.021, "0.021"), (-0.001, "-0.001"), (1, "1.0"), (-0.0, "0.0"), (0.0004, "0.0"),
        ] { #expect(StructuredField.Decimal(value)?.description == text) }
        for value in [999_999_999_999.9996, -999_999_999_999.9996, 1e12, -1e12, .infinity, .nan] {
            #expect(StructuredField.Decimal(value) == nil, "\(value)")
        }
    }
}
