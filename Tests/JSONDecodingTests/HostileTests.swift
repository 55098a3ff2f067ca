import Errand
import ErrandJSONDecoding
import Foundation
import Testing

@Suite("Hostile input of the fast decoder", .endsInTime, .leakChecked)
struct HostileTests {
    private func problem<Value: Decodable>(_ bytes: [UInt8], _ type: Value.Type) -> JSONDecodingError? {
        do {
            _ = try FastJSONDecoder().decode(type, from: Data(bytes))
            return nil
        } catch DecodingError.dataCorrupted(let context) {
            return context.underlyingError as? JSONDecodingError
        } catch { return nil }
    }

    @Test("a text that is truncated at any byte is malformed at that byte")
    func truncated() {
        let text = Array(#"{"a":[1,-2.5e+3,"x\n\ud83d\ude00é",true,null,{"b":{}}],"c":false}"#.utf8)
        for length in 0..<text.count {
            let error = problem(Array(text[..<length]), AnyJSON.self)
            #expect(error?.code == .malformedJSON, "\(length)")
            #expect(error.map { $0.byte <= length } == true)
        }
        #expect(problem(text, AnyJSON.self) == nil)
    }

    @Test("512 levels are read and more are refused, as with JSONDecoder")
    func deep() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            for depth in [511, 512, 513, 100_000] {
                let text = String(repeating: open, count: depth) + "7" + String(repeating: close, count: depth)
                let error = problem(Array(text.utf8), Ignored.self)
                #expect(error?.code == (depth > 512 ? .tooDeep : nil))
                Pair().agree(Ignored.self, text)
            }
            #expect(
                problem(Array(String(repeating: open, count: 200_000).utf8), Ignored.self)?.code == .tooDeep)
        }
    }

    private struct Ignored: Decodable { init(from decoder: any Decoder) {} }

    @Test("bytes that aren't UTF-8 and unpaired surrogates are malformed everywhere")
    func invalidText() {
        for bytes: [UInt8] in [
            [0xFF], [0xC0, 0xAF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
        ] {
            #expect(problem([0x22] + bytes + [0x22], String.self)?.code == .malformedJSON)
            #expect(problem(Array("[{\"".utf8) + bytes + Array("\":1}]".utf8), Ignored.self)?.code == .malformedJSON)
        }
        for text in [#""\ud83d""#, #""\ude00""#, #""\ud83d\ud83d""#, #"{"\ud83d":1}"#, "\"\u{1}\""] {
            #expect(problem(Array(text.utf8), Ignored.self)?.code == .malformedJSON)
        }
    }

    @Test("numbers of a million digits are read or refused")
    func longNumbers() {
        let digits = String(repeating: "9", count: 1_000_000)
        #expect(problem(Array(digits.utf8), Int.self)?.code == .numberNotRepresentable)
        #expect(problem(Array(digits.utf8), Double.self)?.code == .numberNotRepresentable)
        #expect(problem(Array("0.\(digits)".utf8), Double.self) == nil)
        #expect(problem(Array("1e\(digits)".utf8), Double.self)?.code == .numberNotRepresentable)
        #expect(problem(Array("1e-\(digits)".utf8), Double.self)?.code == .numberNotRepresentable)
    }

    @Test("objects with many keys, equal keys or equal hashes take one search per key")
    func manyKeys() throws {
        struct Small: Decodable {
            let first: Int?
            let last: Int?
            let none: Int?
        }
        let members = (0..<100_000).map { "\"k\($0)k\":\($0)" }.joined(separator: ",")
        let text = Data("{\(members),\"last\":7}".utf8)
        #expect(try FastJSONDecoder().decode([String: Int].self, from: text).count == 100_001)
        #expect(try FastJSONDecoder().decode(Small.self, from: text).last == 7)
        let same = Data("{\((0..<100_000).map { "\"a\":\($0)" }.joined(separator: ","))}".utf8)
        #expect(try FastJSONDecoder().decode([String: Int].self, from: same) == ["a": 0])
        let escaped = Data("{\((0..<100_000).map { "\"\\u0061\($0)\":\($0)" }.joined(separator: ","))}".utf8)
        #expect(try FastJSONDecoder().decode([String: Int].self, from: escaped).count == 100_000)
    }

    @Test("errors have a position, and don't contain parts of the text")
    func messages() throws {
        let error = try #require(problem(Array(#"{"secret":tru3}"#.utf8), Ignored.self))
        #expect(error.description == "malformedJSON: expected true, false or null, found 't', byte 10")
        #expect(error.errorCode == 1)
    }

    @Test("the decoder itself needs no more stack for more levels; a model that contains itself does")
    func smallStacks() async {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let text = Data((String(repeating: open, count: 512) + "7" + String(repeating: close, count: 512)).utf8)
            #expect(await isDecoded(Ignored.self, text, stack: 256 << 10))
            #expect(await isDecoded(Level.self, text, stack: 16 << 20))
        }
    }

    private indirect enum Level: Decodable {
        case list([Level])
        case object([String: Level])
        case number(Double)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let list = try? container.decode([Level].self) {
                self = .list(list)
            } else if let object = try? container.decode([String: Level].self) {
                self = .object(object)
            } else {
                self = .number(try container.decode(Double.self))
            }
        }
    }

    private func isDecoded<Value: Decodable & SendableMetatype>(_ type: Value.Type, _ text: Data, stack: Int) async
        -> Bool
    {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                continuation.resume(returning: (try? FastJSONDecoder().decode(type, from: text)) != nil)
            }
            thread.stackSize = stack
            thread.start()
        }
    }
}
