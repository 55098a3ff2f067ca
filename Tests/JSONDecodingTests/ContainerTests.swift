import ErrandJSONDecoding
import Foundation
import Testing

@Suite("Containers and strategies of the fast decoder", .endsInTime, .leakChecked)
struct ContainerTests {
    /// Decodes with a closure and keeps the resulting text.
    private struct Probe: Decodable {
        let text: String

        final class Body: Sendable {
            let run: @Sendable (any Decoder) throws -> String
            init(_ run: @escaping @Sendable (any Decoder) throws -> String) { self.run = run }
        }

        static let key = CodingUserInfoKey(rawValue: "body").unsafelyUnwrapped

        init(from decoder: any Decoder) throws {
            text = try (decoder.userInfo[Self.key] as? Body)?.run(decoder) ?? "none"
        }
    }

    /// Expects both decoders to give the same result for a body that runs at `value` of an object in an array.
    private func same(
        _ text: String, _ pair: Pair? = nil, at location: SourceLocation = #_sourceLocation,
        _ body: @escaping @Sendable (any Decoder) throws -> String
    ) {
        var pair = pair ?? Pair()
        let info: [CodingUserInfoKey: any Sendable] = [Probe.key: Probe.Body(body)]
        pair.fast.userInfo = info
        pair.slow.userInfo = info
        pair.agree([[String: Probe]].self, "[{\"value\":\(text)}]", at: location)
    }

    private static func path(_ path: [any CodingKey]) -> String {
        path.map { "\($0.stringValue)|\($0.intValue ?? -1)" }.joined(separator: "/")
    }

    @Test("nested containers and super decoders have their paths, and are null for missing keys")
    func nested() {
        same(#"{"a":{"b":[1,{"c":2}]},"super":{"x":1}}"#) { decoder in
            let container = try decoder.container(keyedBy: AnyKey.self)
            let a = try container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(stringValue: "a"))
            var b = try a.nestedUnkeyedContainer(forKey: AnyKey(stringValue: "b"))
            let one = try b.decode(Int.self)
            let c = try b.superDecoder()
            let parent = try container.superDecoder()
            let none = try container.superDecoder(forKey: AnyKey(stringValue: "none"))
            return """
                \(one) \(Self.path(a.codingPath)) \(Self.path(b.codingPath)) \(Self.path(c.codingPath)) \(b.isAtEnd)
                \(try c.container(keyedBy: AnyKey.self).decode(Int.self, forKey: AnyKey(stringValue: "c")))
                \(Self.path(parent.codingPath)) \(try parent.container(keyedBy: AnyKey.self).allKeys.count)
                \(Self.path(none.codingPath)) \(try none.singleValueContainer().decodeNil())
                """
        }
        same("[]") { decoder in
            var container = try decoder.unkeyedContainer()
            return try "\(container.decode(Int.self))"
        }
        same("[1]") { try "\($0.container(keyedBy: AnyKey.self).allKeys)" }
        same("null") { try "\($0.container(keyedBy: AnyKey.self).allKeys)" }
        same("null") { try "\($0.unkeyedContainer().count ?? 0)" }
        same("{}") { decoder in
            let none = try decoder.container(keyedBy: AnyKey.self).superDecoder()
            return try "\(none.container(keyedBy: AnyKey.self).allKeys)"
        }
    }

    @Test("errors of elements and members name them")
    func errors() {
        let pair = Pair()
        pair.agree([[Int]].self, "[[1],[2,\"x\"]]")
        pair.agree([String: [Int]].self, "{\"a\":[1,null]}")
        pair.agree([[String: Bool]].self, "[{},{\"b\":1}]")
        pair.agree([Int: [String]].self, "{\"7\":[1]}")
        pair.agree([Int: String].self, "{\"x\":\"y\"}")
        pair.agree([Role].self, "[\"admin\",\"none\"]")
        pair.agree([Form].self, "[{\"circle\":{\"radius\":null}}]")
        pair.agree(Tree.self, "{\"children\":[{\"children\":[7]}]}")
        pair.agree([Double].self, "[1,1e999]")
        pair.agree([URL].self, "[\"https://example.com\",\"\"]")
        pair.agree([Data].self, "[\"AAEC\",\"!\"]")
        pair.agree([Date].self, "[1,\"x\"]")
        pair.agree([Decimal].self, "[1,\"x\"]")
        pair.agree([Int8].self, "[1,300]")
        pair.agree(Bool.self, "null")
        pair.agree(String.self, "null")
    }

    @Test("a decoder that a type has stored keeps its text, value and path")
    func kept() throws {
        final class Keeper: Decodable {
            let decoder: any Decoder
            let container: KeyedDecodingContainer<AnyKey>
            init(from decoder: any Decoder) throws {
                self.decoder = decoder
                container = try decoder.container(keyedBy: AnyKey.self)
            }
        }
        let keepers = try {
            let text = "{\"list\":[{\"id\":1},{\"id\":2},{\"id\":3}]}"
            return try FastJSONDecoder().decode([String: [Keeper]].self, from: Data(text.utf8))["list"] ?? []
        }()
        #expect(keepers.count == 3)
        for (index, keeper) in keepers.enumerated() {
            #expect(try keeper.container.decode(Int.self, forKey: AnyKey(stringValue: "id")) == index + 1)
            #expect(keeper.decoder.codingPath.map(\.stringValue) == ["list", "Index \(index)"])
            #expect(keeper.decoder.codingPath.last?.intValue == index)
        }
    }

    @Test("the first of equal keys counts, in any order in which a type reads them")
    func duplicates() throws {
        let text = #"{"a":1,"b":2,"a":3,"c":4,"b":5,"":6,"":7}"#
        for order in [["a", "b", "c", "a", ""], ["c", "b", "a"], ["b", "a", "b", "c"], ["", "c", "b", "a", "none"]] {
            same(text) { decoder in
                let container = try decoder.container(keyedBy: AnyKey.self)
                return try order.map {
                    "\(try container.decodeIfPresent(Int.self, forKey: AnyKey(stringValue: $0)) ?? -1)"
                }.joined(separator: ",") + "\(container.allKeys.count)"
            }
        }
        for text in ["{\"K\":1}", "{\"\u{212A}\":1}", "{\"a\":1,\"K\":2,\"\u{212A}\":3}"] {
            for key in ["K", "\u{212A}"] {
                same(text) { decoder in
                    let container = try decoder.container(keyedBy: AnyKey.self)
                    return "\(try container.decodeIfPresent(Int.self, forKey: AnyKey(stringValue: key)) ?? -1)"
                }
            }
        }
        let many = (0..<500).map { "\"key \($0 % 300)\":\($0)" }.joined(separator: ",")
        Pair().agree([String: Int].self, "{\(many)}")
    }

    @Test("dates are decoded by every strategy")
    func dates() {
        var pair = Pair()
        let strategies: [JSONDecoder.DateDecodingStrategy] = [
            .deferredToDate, .secondsSince1970, .millisecondsSince1970, .iso8601,
            .custom { Date(timeIntervalSince1970: Double($0.codingPath.count)) },
        ]
        for strategy in strategies {
            pair.date(strategy)
            for text in [
                "0", "1.5", "-1e3", "null", "\"x\"", "\"2024-02-29T23:59:59Z\"", "\"2023-02-29T00:00:00Z\"",
                "\"1600-01-01T00:00:00Z\"", "\"9999-12-31T23:59:59Z\"", "\"2024-13-01T00:00:00Z\"",
                "\"2024-05-06T12:34:56+02:00\"", "\"2024-05-06\"", "\"2024-05-06T24:00:00Z\"",
                "\"2024-05-06T12:34:60Z\"", "\"2024-00-10T12:34:56Z\"", "\"2024-04-31T12:34:56Z\"",
                "\"1899-12-31T12:34:56Z\"", "\"0001-01-01T00:00:00Z\"", "\"2024-05-06 12:34:56Z\"",
            ] {
                pair.agree([Date].self, "[\(text)]")
                pair.agree([String: Date?].self, "{\"d\":\(text)}")
            }
        }
        pair.date(.iso8601)
        for day in stride(from: 0, to: 3_000_000, by: 997) {
            let date = Date(timeIntervalSince1970: Double(day - 130_000) * 86_400 + 3_661)
            pair.agree(Date.self, "\"\(date.ISO8601Format())\"")
        }
    }

    @Test("a date that isn't ISO 8601 has the path of the type that reads it, even in nested containers")
    func nestedDates() {
        var pair = Pair()
        pair.date(.iso8601)
        let (a, b) = (AnyKey(stringValue: "a"), AnyKey(stringValue: "b"))
        let text = #"{"a":{"b":["x"],"a":"x"}}"#
        same(text, pair) {
            let inner = try $0.container(keyedBy: AnyKey.self).nestedContainer(keyedBy: AnyKey.self, forKey: a)
            return "\(try inner.decode(Date.self, forKey: a))"
        }
        same(text, pair) {
            let inner = try $0.container(keyedBy: AnyKey.self).nestedContainer(keyedBy: AnyKey.self, forKey: a)
            var elements = try inner.nestedUnkeyedContainer(forKey: b)
            return "\(try elements.decode(Date.self))"
        }
        same(text, pair) {
            let inner = try $0.container(keyedBy: AnyKey.self).nestedContainer(keyedBy: AnyKey.self, forKey: a)
            return "\(try inner.decode([Date].self, forKey: b))"
        }
        same(text, pair) {
            let inner = try $0.container(keyedBy: AnyKey.self).nestedContainer(keyedBy: AnyKey.self, forKey: a)
            return "\(try inner.superDecoder(forKey: a).singleValueContainer().decode(Date.self))"
        }
        pair.agree([Date].self, #"["x"]"#)
        pair.agree([[String: Date]].self, #"[{"d":"x"}]"#)
    }

    @Test("data and floats are decoded by every strategy")
    func dataAndFloats() {
        var pair = Pair()
        let strategies: [JSONDecoder.DataDecodingStrategy] = [
            .base64, .deferredToData, .custom { Data(try $0.singleValueContainer().decode(String.self).utf8) },
        ]
        for strategy in strategies {
            pair.data(strategy)
            for text in ["\"AAEC\"", "[1,2]", "null", "7", "\"\\u0041AEC\"", "\"A\"", "[1,300]"] {
                pair.agree([Data].self, "[\(text)]")
            }
        }
        pair.floats(.convertFromString(positiveInfinity: "+∞", negativeInfinity: "-inf", nan: "nan"))
        for text in ["\"+∞\"", "\"-inf\"", "\"nan\"", "\"inf\"", "1", "\"\\u006ean\""] {
            pair.agree([Double].self, "[\(text)]")
            pair.agree([Float].self, "[\(text)]")
        }
    }

    @Test("keys are converted by every strategy, except keys of dictionaries")
    func keys() {
        struct Profile: Decodable {
            let userName: String?
            let homeURL: URL?
            let _privateKey_: Int?
            let extra: [String: [String: Int]]?
        }
        var pair = Pair()
        let strategies: [JSONDecoder.KeyDecodingStrategy] = [
            .convertFromSnakeCase, .custom { AnyKey(stringValue: ($0.last?.stringValue ?? "").lowercased()) },
            .custom { AnyKey(stringValue: "\($0.count)\($0.last?.stringValue ?? "")") },
        ]
        let texts = [
            #"{"user_name":"Ada","home_url":"https://a.b","_private_key_":7,"extra":{"a_b":{"c_d":1}}}"#,
            #"{"userName":"a","user_name":"b"}"#, #"{"__":1,"_":2,"":3}"#, #"{"user__name":"x","USER_NAME":"y"}"#,
            #"{"extra":{"a_b":{"c_d":"x"}}}"#, #"{"extra":[]}"#, #"{"extra":null}"#,
        ]
        for strategy in strategies {
            pair.keys(strategy)
            for text in texts {
                pair.agree(Profile.self, text)
                pair.agree([String: AnyJSON].self, text)
                same(text, pair) { try "\($0.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue).sorted())" }
            }
        }
    }
}
