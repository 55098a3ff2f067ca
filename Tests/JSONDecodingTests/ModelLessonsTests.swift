import ErrandJSONDecoding
import Foundation
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Models and texts that other decoders got wrong", .endsInTime, .leakChecked)
struct ModelLessonsTests {
    private func read<Value: Decodable>(_ text: String, _ type: Value.Type = Value.self) throws -> Value {
        try FastJSONDecoder().decode(type, from: Data(text.utf8))
    }

    // MARK: Text

    @Test(
        "an escape has four hexadecimal digits, and other text is malformed",
        arguments: [
            (#""\u0160""#, "\u{160}"), (#""\ud83d\udc36""#, "\u{1F436}"), (#""\uD83D\uDE00x""#, "\u{1F600}x"),
            (#""\uD83c\uDF42""#, "\u{1F342}"), (#""\udbff\udfff""#, "\u{10FFFF}"), (#""\u0000""#, "\0"),
            (#""\ufffe""#, "\u{FFFE}"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u 000""#, nil), (#""\u-000""#, nil), (#""\u+000""#, nil), (#""\u0_00""#, nil), (#""\u0x1""#, nil),
            (#""\u12"34""#, nil), (#""\u123""#, nil), (#""\U0041""#, nil), (#""\x41""#, nil), (#""\v""#, nil),
            (#""\ud83d\u+c36""#, nil), (#""\a""#, nil), ("\"\\\n\"", nil),
        ])
    func escapes(text: String, value: String?) {
        #expect((try? read(text, String.self)) == value)
        #expect((try? read("{\"a\":[\(text)]}", [String: [String]].self))?["a"]?.first == value)
        #expect((try? read("{\(text):1}", [String: Int].self))?.first?.key == value)
    }

    @Test(
        "every character beyond the Basic Multilingual Plane is read from its two escapes",
        arguments: [0x1_0000, 0x2_0000, 0x10_0000])
    func supplementary(start: UInt32) throws {
        for value in stride(from: start, to: start + 0x1_0000, by: 251) {
            let scalar = try #require(Unicode.Scalar(value))
            let units = Array(String(Character(scalar)).utf16)
            let text = units.map { "\\u" + String($0, radix: 16) }.joined()
            #expect(try read("\"\(text)\"", String.self).unicodeScalars.elementsEqual([scalar]))
        }
    }

    @Test(
        "a control character in a text is malformed, and so is a word that isn't JSON",
        arguments: [
            "{\"body\":\"text\u{B}\"}", "\u{1B}", "\"\u{7}\"", "\"\t\"", "\"\0\"", "\u{C}[]", "[1]\0", "\u{A0}1",
            "{\"a\":{\"b\":\"c\"}},\"d\":[1]}", "[133]-[sid]", "{,\"a\":\"b\"}", "[1,2,]", "{\"a\":\"b\",}", "[1][2]",
            "{}{}",
        ])
    func controls(text: String) {
        let error = #expect(throws: DecodingError.self) { try read(text, [String: String].self) }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("not the error of a malformed text")
            return
        }
        #expect((context.underlyingError as? JSONDecodingError)?.code == .malformedJSON)
    }

    @Test("a byte order mark is ignored only at the start, and only if it's complete")
    func marks() throws {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let decoder = FastJSONDecoder()
        #expect(try decoder.decode([Int].self, from: Data(mark + Array("[1]".utf8))) == [1])
        #expect(try decoder.decode(String.self, from: Data(Array("\"".utf8) + mark + Array("\"".utf8))) == "\u{FEFF}")
        for wrong in [mark + mark + [0x31], [0x31] + mark, Array(mark.prefix(2)) + [0x31], mark] {
            #expect(throws: DecodingError.self) { try decoder.decode(Int.self, from: Data(wrong)) }
        }
    }

    @Test(
        "bytes that aren't UTF-8 are reported as that error, and keys that differ in one character are different keys")
    func bytesAndKeys() throws {
        let error = #expect(throws: DecodingError.self) {
            try FastJSONDecoder().decode(
                [String: String].self, from: Data([0x7B, 0x22, 0x61, 0x22, 0x3A, 0x22, 0xFF, 0x22, 0x7D]))
        }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("not the error of a malformed text")
            return
        }
        let reason = context.underlyingError as? JSONDecodingError
        #expect(reason?.message == "expected UTF-8, found byte 0xFF" && reason?.byte == 6)
        struct Bug: Decodable {
            let cf_status_firefox67: String
            let cf_status_firefox57: String
        }
        let bug = try read(#"{"cf_status_firefox67": "---", "cf_status_firefox57": "verified"}"#, Bug.self)
        #expect(bug.cf_status_firefox67 == "---" && bug.cf_status_firefox57 == "verified")
    }

    // MARK: Numbers

    @Test(
        "a Decimal has the digits of the text, with and without a fraction",
        arguments: [
            "0.691", "0.6", "1.1172404971672576", "2.6090288509851067", "-80241446968629135069",
            "0.027121761950711698",
            "12345678901234567890.123456789", "-100.78399658203125", "3.14159265358979323846264338327950288",
            "79228162514264337593543950336", "1e-20", "0.1",
        ])
    func decimals(text: String) throws {
        #expect(try read(text, Decimal.self) == Decimal(string: text))
        struct Item: Decodable { let quantity: Decimal? }
        #expect(try read("{\"quantity\":\(text)}", Item.self).quantity == Decimal(string: text))
        #expect(try read(text, Double.self) == Double(text))
    }

    // MARK: Models

    private struct Tag: RawRepresentable, Decodable, Hashable {
        let rawValue: String
    }

    private enum Size: String, Decodable, CodingKeyRepresentable { case small, large }

    @Test("a dictionary has the keys of an object if they are strings, integers or convertible to keys")
    func dictionaryKeys() throws {
        #expect(try read(#"{"1":"a","-2":"b"}"#, [Int: String].self) == [1: "a", -2: "b"])
        #expect(try read(#"{"small":1,"large":2}"#, [Size: Int].self) == [.small: 1, .large: 2])
        // Keys of any other type are in an array, as Swift's own encoders write them.
        #expect(try read(#"["a",1,"b",2]"#, [Tag: Int].self) == [Tag(rawValue: "a"): 1, Tag(rawValue: "b"): 2])
        let data = Data(#"{"a":1}"#.utf8)
        let errors = [
            #expect(throws: DecodingError.self) { try FastJSONDecoder().decode([Tag: Int].self, from: data) },
            #expect(throws: DecodingError.self) { try JSONDecoder().decode([Tag: Int].self, from: data) },
        ]
        for error in errors {
            guard case .typeMismatch(let type, _)? = error else {
                Issue.record("not typeMismatch")
                continue
            }
            #expect(ObjectIdentifier(type) == ObjectIdentifier([Any].self))
        }
    }

    @Test("a strategy converts the keys of a model, and not the keys of its dictionaries")
    func convertedKeys() throws {
        struct Info: Decodable {
            let userInfo: [String: Int]
            let myUrl: String?
            let myURL: String?
        }
        var decoder = FastJSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let info = try decoder.decode(
            Info.self, from: Data(#"{"user_info":{"snake_case":1,"two_words":2},"my_url":"u"}"#.utf8))
        #expect(info.userInfo == ["snake_case": 1, "two_words": 2])
        #expect(info.myUrl == "u" && info.myURL == nil)
    }

    @Test("after a failed value, the decoder stays in place, so another type can be tried")
    func failedAttempts() throws {
        struct Either: Decodable {
            var values: [String] = []
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                while !list.isAtEnd {
                    let index = list.currentIndex
                    if let number = try? list.decode(Int.self) {
                        values.append("\(number)")
                    } else if let model = try? list.decode([String: Int].self) {
                        values.append("\(model["a"] ?? 0)")
                    } else if try list.decodeNil() {
                        values.append("nil")
                    } else {
                        values.append(try list.decode(String.self))
                    }
                    #expect(list.currentIndex == index + 1)
                }
            }
        }
        #expect(try read(#"[1,{"a":2},null,"x",{"a":3}]"#, Either.self).values == ["1", "2", "nil", "x", "3"])
        struct Lenient: Decodable {
            let first: Int?
            let second: Int
            enum CodingKeys: String, CodingKey { case first, second }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                first = try? container.decode([String: [Int]].self, forKey: .first)["a"]?.first
                second = try container.decode(Int.self, forKey: .second)
            }
        }
        #expect(try read(#"{"first":{"a":["x"]},"second":2}"#, Lenient.self).second == 2)
    }

    @Test("decodeIfPresent skips null in a list, and optional models are nil or complete")
    func optionals() throws {
        struct List: Decodable {
            var values: [Int?] = []
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                for _ in 0..<3 { values.append(try list.decodeIfPresent(Int.self)) }
                #expect(list.isAtEnd && list.currentIndex == 3)
                #expect(try list.decodeIfPresent(Int.self) == nil)
            }
        }
        #expect(try read("[1,null,2]", List.self).values == [1, nil, 2])
        struct Sock: Decodable, Equatable {
            let color: String
            let size: Float
        }
        struct Pair: Decodable, Equatable {
            let left: Sock?
            let right: Sock?
        }
        let text = #"{"left":{"color":"black","size":11},"right":null}"#
        #expect(try read(text, Pair.self) == .init(left: Sock(color: "black", size: 11), right: nil))
        #expect(
            try read("[\(text),null,{}]", [Pair?].self) == [
                try read(text, Pair.self), nil, Pair(left: nil, right: nil),
            ])
    }

    @Test("a decoder for a missing superclass reads null, and its error has the key's path")
    func superclass() {
        struct Outer: Decodable {
            struct Inner: Decodable { let isOn: Bool }
            enum CodingKeys: String, CodingKey { case base = "super" }
            init(from decoder: any Decoder) throws {
                _ = try Inner(from: decoder.container(keyedBy: CodingKeys.self).superDecoder(forKey: .base))
            }
        }
        for text in ["{}", #"{"super":null}"#] {
            let error = #expect(throws: DecodingError.self) { try read(text, Outer.self) }
            guard case .valueNotFound(_, let context)? = error else {
                Issue.record("not valueNotFound: \(String(describing: error))")
                continue
            }
            #expect(context.codingPath.map(\.stringValue) == ["super"])
        }
    }

    @Test(
        "a URL with characters beyond ASCII or with blanks is read as by JSONDecoder",
        arguments: [
            "https://example.com/\u{E4}\u{F6}", "https://\u{E4}.example/x", "https://example.com/a b", "", " ", "a",
            "/x?y=\u{E9}",
            "https://example.com/%zz", "mailto:a@b",
        ])
    func urls(text: String) throws {
        let data = try JSONEncoder().encode([text])
        let expected = try? JSONDecoder().decode([URL].self, from: data)
        #expect((try? FastJSONDecoder().decode([URL].self, from: data)) == expected)
    }

    @Test("a date with a formatter's fraction is read, and a date in another format is an error with its path")
    func dates() throws {
        var decoder = FastJSONDecoder()
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy-MM-dd'T'HH:mm:ss.SSSX"
        decoder.dateDecodingStrategy = .formatted(formatter)
        let date = try decoder.decode([Date].self, from: Data(#"["1970-01-01T00:00:01.500Z"]"#.utf8))
        #expect(date == [Date(timeIntervalSince1970: 1.5)])
        let error = #expect(throws: DecodingError.self) {
            try decoder.decode([Date].self, from: Data(#"["1970-01-01T00:00:01.500Z","1970-01-01"]"#.utf8))
        }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.intValue) == [1])
    }

    @Test(
        "Booleans aren't converted to or from numbers and texts, and the error contains the key",
        arguments: [
            #"{"flag":1}"#, #"{"flag":0}"#, #"{"flag":"1"}"#, #"{"flag":"true"}"#, #"{"flag":""}"#, #"{"count":true}"#,
            #"{"count":"7"}"#, #"{"text":7}"#, #"{"text":true}"#, #"{"count":[]}"#, #"{"text":{}}"#,
        ])
    func mismatches(text: String) {
        struct Product: Decodable {
            let flag: Bool?
            let count: Int?
            let text: String?
        }
        let error = #expect(throws: DecodingError.self) { try read(text, Product.self) }
        guard case .typeMismatch(_, let context)? = error else {
            Issue.record("not typeMismatch: \(String(describing: error))")
            return
        }
        #expect(context.codingPath.count == 1 && text.contains("\"\(context.codingPath[0].stringValue)\""))
    }

    @Test("deep optionals of the same type don't mix their paths, in any number of reads")
    func deepOptionals() throws {
        struct Node: Decodable {
            let value: Int?
            let children: [Node]?
        }
        var text = #"{"value":7}"#
        for depth in 0..<20 { text = #"{"value":null,"children":[\#(text),{"value":\#(depth)}]}"# }
        func depth(_ node: Node) -> Int { 1 + (node.children?.first.map(depth) ?? 0) }
        #expect(depth(try read(text, Node.self)) == 21)
        let wrong = text.replacing(#"{"value":7}"#, with: #"{"value":"x"}"#)
        let error = #expect(throws: DecodingError.self) { try read(wrong, Node.self) }
        guard case .typeMismatch(_, let context)? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(context.codingPath.count == 41 && context.codingPath.last?.stringValue == "value")
    }

    @Test(
        "the first of several equal keys counts, as in JSONDecoder, also if the keys differ in their normal form only")
    func repeatedKeys() throws {
        struct Model: Decodable, Equatable { let a: Int? }
        for (text, value) in [
            (#"{"a":1,"a":2}"#, 1), (#"{"\u0061":1,"a":2}"#, 1), (#"{"a":null,"a":2}"#, nil),
            (#"{"b":0,"a":1,"a":2}"#, 1),
        ] {
            #expect(try read(text, Model.self) == Model(a: value), "\(text)")
            #expect(try JSONDecoder().decode(Model.self, from: Data(text.utf8)) == Model(a: value), "\(text)")
            #expect(try read("[\(text)]", [[String: Int?]].self)[0]["a"] == value, "\(text)")
        }
        struct Accent: Decodable {
            let name: Int
            enum CodingKeys: String, CodingKey { case name = "caf\u{E9}" }
        }
        let both = "{\"cafe\u{301}\":1,\"caf\u{E9}\":2}"
        #expect(try read(both, Accent.self).name == 1)
        #expect(try JSONDecoder().decode(Accent.self, from: Data(both.utf8)).name == 1)
    }

    @Test("a number that a Decimal can't hold is an error with its path, and numbers next to it are read")
    func decimalRange() throws {
        for text in ["100e200", "-1e400", "1e128", "1e-200"] {
            let error = #expect(throws: DecodingError.self) {
                try read("{\"a\":[1.5,\(text)]}", [String: [Decimal]].self)
            }
            guard case .dataCorrupted(let context)? = error else {
                Issue.record("another error: \(String(describing: error))")
                continue
            }
            #expect(context.codingPath.map(\.stringValue) == ["a", "Index 1"])
        }
        #expect(try read("[1e127,1e-128,1.5]", [Decimal].self).count == 3)
    }

    @Test("the first of several equal keys counts at every depth, in models and in dictionaries")
    func nestedRepeatedKeys() throws {
        struct Model: Decodable { let key: String }
        let text = #"{"a":{"key":"x","key":"y"},"b":{"c":1},"a":{"key":"z"}}"#
        struct Outer: Decodable { let a: Model }
        #expect(try read(text, Outer.self).a.key == "x")
        let nested = #"{"a":{"b":{"key":"x","key":"y"},"b":{"key":"z"}},"a":{"b":{"key":"w"}}}"#
        let found = try read(nested, [String: [String: [String: String]]].self)
        #expect(found == ["a": ["b": ["key": "x"]]])
        #expect(
            try JSONDecoder().decode([String: [String: [String: String]]].self, from: Data(nested.utf8)) == found)
        #expect(try read(nested, [String: [String: Model]].self)["a"]?["b"]?.key == "x")
    }

    @Test("a case that an enum doesn't have is an error with its index, and a type can keep the other elements")
    func unknownCases() throws {
        enum Service: String, Decodable { case cars, trains }
        struct Trip: Decodable { let services: [Service] }
        let text = #"{"services":["cars","boats","trains"]}"#
        let error = #expect(throws: DecodingError.self) { try read(text, Trip.self) }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == ["services", "Index 1"])
        struct Known<Value: Decodable>: Decodable {
            let values: [Value]
            init(from decoder: any Decoder) throws {
                var (container, values) = (try decoder.unkeyedContainer(), [Value]())
                while !container.isAtEnd {
                    let element = try container.superDecoder()
                    if let value = try? Value(from: element) { values.append(value) }
                }
                self.values = values
            }
        }
        struct Kept: Decodable { let services: Known<Service> }
        #expect(try read(text, Kept.self).services.values == [.cars, .trains])
        #expect(
            try JSONDecoder().decode(Kept.self, from: Data(text.utf8)).services.values == [.cars, .trains])
    }

    @Test("an optional enum without its key is nil, wherever the object is")
    func missingEnum() throws {
        enum Theme: String, Decodable { case dark }
        struct Card: Decodable { let title: String; let theme: Theme? }
        for text in [#"{"title":"a"}"#, #"{"title":"a","theme":null}"#] {
            #expect(try read(text, Card.self).theme == nil)
            #expect(try read("[\(text)]", [Card].self).first?.theme == nil)
            #expect(try read(#"{"x":\#(text)}"#, [String: Card].self)["x"]?.theme == nil)
        }
        #expect(try read(#"{"title":"a","theme":"dark"}"#, Card.self).theme == .dark)
        #expect(throws: DecodingError.self) { try read(#"{"title":"a","theme":"light"}"#, Card.self) }
    }

    @Test("one text may have ISO 8601 dates with and without a fraction and with an offset")
    func mixedDates() throws {
        var decoder = FastJSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let plain = JSONDecoder()
        plain.dateDecodingStrategy = .iso8601
        let text = Data(
            #"["2024-05-06T12:34:56Z","2024-05-06T12:34:56.500Z","2024-05-06T14:34:56+02:00"]"#.utf8)
        let dates = try decoder.decode([Date].self, from: text)
        #expect(dates.map(\.timeIntervalSince1970) == [1_714_998_896, 1_714_998_896.5, 1_714_998_896])
        #expect(try plain.decode([Date].self, from: text) == dates)
    }
}
