import Errand
import ErrandEssentials
import ErrandStreaming
import Testing

/// Any split of any stream gives the same elements as a plain reading of the whole.
@Suite("Streams that are split at any position", .leakChecked) struct SplitTests {
    static let streams = [
        "\u{FEFF}data: a\r\ndata: b\r\n\r\nid: 1\revent: x\rdata\r\rretry: 5\n:c\n\ndata: €豆腐😀\n\n",
        "data: a\n\r\ndata: b\r\n\rdata: c\r\r\n\n\r\r\ndata:d\r\n\n",
        "id: a\0b\ndata: 1\n\nid\ndata\n\n\r\n\r\ndata: \u{FEFF}x\n\ndata: unfinished\n",
        "\n\n\r\r\r\n:\r:\n:\r\ndata:\r\n\r\n",
    ]

    /// A literal implementation of the standard that parses the whole stream at once.
    static func plainEvents(_ bytes: [UInt8]) -> [ServerSentEvent] {
        let text = String(
            decoding: bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...], as: UTF8.self)
        var lines: [String.UnicodeScalarView] = [.init()]
        var wasReturn = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n" where wasReturn: break
            case "\n", "\r": lines.append(.init())
            default: lines[lines.count - 1].append(scalar)
            }
            wasReturn = scalar == "\r"
        }
        var (events, data, name, id, lastID) = ([ServerSentEvent](), "", "", "", "")
        for scalars in lines.dropLast() {
            if scalars.isEmpty {
                lastID = id
                if !data.isEmpty {
                    events.append(
                        ServerSentEvent(
                            name: name.isEmpty ? "message" : name,
                            data: String(String.UnicodeScalarView(data.unicodeScalars.dropLast())), id: lastID))
                }
                (data, name) = ("", "")
                continue
            }
            let colon = scalars.firstIndex(of: ":")
            if colon == scalars.startIndex { continue }
            let field = String(String.UnicodeScalarView(scalars[..<(colon ?? scalars.endIndex)]))
            var value = String.UnicodeScalarView(
                colon.map { scalars[scalars.index(after: $0)...] } ?? scalars.suffix(0))
            if value.first == " " { value.removeFirst() }
            switch field {
            case "data": data += String(value) + "\n"
            case "event": name = String(value)
            case "id" where !value.contains("\0"): id = String(value)
            default: break
            }
        }
        return events
    }

    /// Returns lines of error-prone pieces and a few random bytes.
    static func wildStream(_ generator: inout SeededGenerator) -> [UInt8] {
        let pieces: [[UInt8]] = [
            [0x0A], [0x0D], [0x0D, 0x0A], [0x0A, 0x0A], [0x0D, 0x0D], Array("data".utf8), Array("data:".utf8),
            Array("data: ".utf8), Array("event: x".utf8), Array("id: ".utf8), Array("id:1".utf8), Array(":".utf8),
            Array("retry: 3".utf8), Array(" ".utf8), [0x00], [0xEF, 0xBB, 0xBF], Array("豆".utf8), Array("😀".utf8),
            [0xF0, 0x9F], [0x80], [0xC3], Array("a".utf8), Array("datas: 1".utf8),
        ]
        var bytes: [UInt8] = Bool.random(using: &generator) ? [] : [0xEF, 0xBB, 0xBF]
        for _ in 0..<Int.random(in: 0...30, using: &generator) {
            bytes += pieces.randomElement(using: &generator) ?? []
        }
        return bytes
    }

    @Test("every split of a set of streams gives the same events", arguments: streams)
    func everyCut(stream: String) async throws {
        let data = Data(stream.utf8)
        let expected = Self.plainEvents(Array(data))
        #expect(expected.count >= 1)
        for place in 0...data.count {
            let events = try await HTTPBody(data, cutAt: place).events().all()
            #expect(events == expected, "cut at \(place)")
        }
        #expect(try await HTTPBody(chunks: data.map { Data([$0]) }).events().all() == expected)
    }

    @Test("10,000 random splits of random streams give the events of the unsplit stream", .endsInTime)
    func seededSplits() async throws {
        var generator = SeededGenerator(seed: 17)
        for round in 0..<10_000 {
            let bytes = Self.wildStream(&generator)
            let expected = Self.plainEvents(bytes)
            let events = try await HTTPBody(Data(bytes), splitBy: &generator).events().all()
            if events != expected { Issue.record("round \(round): \(bytes)") }
        }
    }

    @Test("random splits of lines give the same lines", .endsInTime)
    func lines() async throws {
        var generator = SeededGenerator(seed: 18)
        for round in 0..<3000 {
            let bytes = Self.wildStream(&generator)
            let whole = try await HTTPBody(Data(bytes)).lines().all()
            let split = try await HTTPBody(Data(bytes), splitBy: &generator).lines().all()
            if whole != split { Issue.record("round \(round): \(bytes)") }
        }
    }

    @Test("random splits of JSON arrays, sequences and lines give the same values", .endsInTime)
    func json() async throws {
        var generator = SeededGenerator(seed: 19)
        let texts = [
            "1", "-2.5e3", "true", "null", #""""#, #""a\"]},[{""#, #""\\""#, "[]", "{}", #"{"a":[{"b":"}]"}],"c":{}}"#,
            #"["\\\"","x"]"#, #""12345678\"90123456""#, #"{"long":"abcdefgh\\\\ijklmnop]"}"#,
        ]
        let gaps = ["", " ", "\n", "\r\n\t "]
        for round in 0..<2000 {
            let values = (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                texts.randomElement(using: &generator) ?? ""
            }
            func gap() -> String { gaps.randomElement(using: &generator) ?? "" }
            let expected = values.map { Data($0.utf8) }
            var array = gap() + "[" + gap()
            for (index, value) in values.enumerated() { array += (index > 0 ? "," + gap() : "") + value + gap() }
            array += "]" + gap()
            let sequence = values.map { "\u{1E}" + gap() + $0 + "\n" + gap() }.joined()
            let lines = values.map { $0 + (Bool.random(using: &generator) ? "\n" : " \r\n\n") }.joined()
            let elements = try await HTTPBody(Data(array.utf8), splitBy: &generator).jsonElements(of: Data.self).all()
            let texts = try await HTTPBody(Data(sequence.utf8), splitBy: &generator).jsonSequence(of: Data.self).all()
            let rows = try await HTTPBody(Data(lines.utf8), splitBy: &generator).jsonLines(of: Data.self).all()
            if elements != expected { Issue.record("round \(round): \(array)") }
            if texts != expected { Issue.record("round \(round): \(sequence.debugDescription)") }
            if rows != expected { Issue.record("round \(round): \(lines.debugDescription)") }
        }
    }
}
