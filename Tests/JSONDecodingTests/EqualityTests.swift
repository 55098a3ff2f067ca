import ErrandJSONDecoding
import ErrandJSONValidation
import Foundation
import Testing

@Suite("The fast decoder, compared with JSONDecoder", .endsInTime, .leakChecked)
struct EqualityTests {
    private static let parts = 20
    /// 6,000 documents and types; set `ERRAND_DOCUMENTS=1000000` for the long form.
    private static let count =
        (ProcessInfo.processInfo.environment["ERRAND_DOCUMENTS"].flatMap { Int($0) } ?? 6_000) / parts

    @Test(
        "generated documents and types have the same values, or errors of the same kind at the same path",
        arguments: 0..<parts)
    func generated(part: Int) {
        var (values, failures) = (0, 0)
        for seed in part * Self.count..<(part + 1) * Self.count {
            var random = RandomPlan(seed: seed)
            let plan = random.plan()
            let text = random.text(plan)
            let current = Plan.Current(plan)
            var pair = Pair([Plan.Current.key: current])
            if seed % 7 == 0 { pair.keys(.convertFromSnakeCase) }
            if seed % 11 == 0 { pair.date(.iso8601) }
            let fast = Outcome { try pair.fast.decode(Planned.self, from: Data(text.utf8)) }
            current.plan = plan
            let slow = Outcome { try pair.slow.decode(Planned.self, from: Data(text.utf8)) }
            if fast != slow { Issue.record("seed \(seed): \(fast), JSONDecoder \(slow): \(text.debugDescription)") }
            if case .value = fast { values += 1 } else { failures += 1 }
        }
        #expect(values > Self.count / 10 && failures > Self.count / 20)
    }

    @Test("damaged texts are refused, or have JSONDecoder's value", arguments: 0..<parts)
    func damaged(part: Int) throws {
        for seed in part * Self.count..<(part + 1) * Self.count {
            var random = RandomPlan(seed: seed)
            let plan = random.plan()
            var bytes = Array(random.text(plan).utf8)
            let place = random.random.below(bytes.count + 1)
            switch random.random.below(4) {
            case 0: bytes.removeSubrange(place...)
            case 1: bytes.insert(random.random.pick(Array("{}[],:\"\\u0e-.tfn \u{0}".utf8)), at: place)
            case 2: if place < bytes.count { bytes[place] = UInt8(truncatingIfNeeded: random.random.next()) }
            default: if place < bytes.count { bytes.remove(at: place) }
            }
            let current = Plan.Current(plan)
            let pair = Pair([Plan.Current.key: current])
            let data = Data(bytes)
            let fast = Outcome { try pair.fast.decode(Planned.self, from: data) }
            current.plan = plan
            let slow = Outcome { try pair.slow.decode(Planned.self, from: data) }
            // JSONDecoder doesn't examine the whole text, and truncates fractions of large integers and tiny numbers.
            let isRefused = fast == .failure("corrupted", path: []) || fast == .otherError("Failure()")
            let isCut = isRefused && [".", "e-", "E-"].contains { bytes.contains($0.utf8) }
            if fast != slow, !isCut, (try? JSONShape.any.validate(data)) != nil {
                Issue.record("seed \(seed): \(fast), JSONDecoder \(slow): \(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }

    @Test("recorded traffic has the same values", arguments: ["chromium", "firefox", "mitmproxy"])
    func traffic(name: String) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Traffic")
        let data = try Data(contentsOf: folder.appending(path: "\(name).json"))
        let fast = try FastJSONDecoder().decode(AnyJSON.self, from: data)
        #expect(try fast == JSONDecoder().decode(AnyJSON.self, from: data))
        #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(AnyJSON.self, from: data.dropLast(3)) }
    }

    @Test(
        "texts that are hard for parsers have the same result",
        arguments: [
            "", " ", "7", "-7", "\"a\"", "null", "true", "[]", "{}", "[1,2", "{\"a\"}", "{\"a\":}", "[1 2]", "[1]]",
            "nul", "nulll", "01", "1.", ".5", "1e", "-", "\"", "\"\\\"", "\"\\x\"", "\"\\ud83d\"", "\"\\ude00\"",
            "\"\\ud83d\\u0041\"", "\"\\u12\"", "\"\t\"", "[\"\\ud83d\\ude00\"]", "{\"\\u0061\":1}", " \n\t\r[ 1 , 2 ] ",
            "'a'", "NaN", "Infinity", "//", "{a:1}", "7 8",
        ])
    func stumbling(text: String) {
        let isJSON = (try? JSONShape.any.validate(Data(text.utf8))) != nil
        func check<Value: Decodable>(_ type: Value.Type) {
            let outcomes = Pair().outcomes(type, Data(text.utf8))
            // JSONDecoder may report an earlier fault, or no fault.
            #expect(outcomes.fast == (isJSON ? outcomes.slow : .failure("corrupted", path: [])), "\(type)")
        }
        check(AnyJSON.self)
        check([Int].self)
        check([String: Int].self)
        check(Int.self)
        check(String.self)
        check(Int?.self)
    }

    @Test("UTF-16 and UTF-32 are read with and without a byte order mark")
    func encodings() {
        let encodings: [String.Encoding] = [
            .utf8, .utf16, .utf16BigEndian, .utf16LittleEndian, .utf32, .utf32BigEndian, .utf32LittleEndian,
        ]
        for text in ["{\"é😀\":[1,\"ü\"]}", "7", "[]"] {
            for encoding in encodings {
                let data = text.data(using: encoding) ?? Data()
                let outcomes = Pair().outcomes(AnyJSON.self, data)
                #expect(outcomes.fast == outcomes.slow, "\(encoding) \(text)")
            }
        }
        Pair().agree(Int.self, "\u{FEFF}7")
        let outcomes = Pair().outcomes(AnyJSON.self, Data([0xFF, 0xFE, 0x00, 0xD8]))
        #expect(outcomes.fast == outcomes.slow)
    }

    @Test("the fast decoder refuses text that isn't JSON and rounded numbers, which JSONDecoder accepts")
    func differences() throws {
        for text in ["[1,]", "{\"a\":1,}", "{\"a\":1,\"b\":01}", "{\"a\":1,\"b\":\"\\x\"}"] {
            #expect(throws: DecodingError.self) { try FastJSONDecoder().decode(AnyJSON?.self, from: Data(text.utf8)) }
        }
        #expect(try JSONDecoder().decode(Int.self, from: Data("1.0000000000000000001".utf8)) == 1)
        #expect(throws: DecodingError.self) {
            try FastJSONDecoder().decode(Int.self, from: Data("1.0000000000000000001".utf8))
        }
    }
}

/// Any JSON value, as text.
struct AnyJSON: Decodable, Equatable {
    let text: String

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyKey.self) {
            text = try container.allKeys.map(\.stringValue).sorted().map { name in
                "\(name): \(try container.decode(AnyJSON.self, forKey: AnyKey(stringValue: name)).text)"
            }.description
        } else if var container = try? decoder.unkeyedContainer() {
            var texts: [String] = []
            while !container.isAtEnd { texts.append(try container.decode(AnyJSON.self).text) }
            text = texts.description
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                text = "null"
            } else if let value = try? container.decode(Bool.self) {
                text = "\(value)"
            } else if let value = try? container.decode(String.self) {
                text = Outcome.describe(value)
            } else {
                text = Outcome.describe(try container.decode(Double.self))
            }
        }
    }
}
