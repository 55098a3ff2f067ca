import Foundation
import Testing

@testable import ErrandJSONDecoding

@Suite("Memory that a text can make the decoder reserve", .endsInTime)
struct ReservationTests {
    private struct Pair<Half: Decodable>: Decodable {
        let first: Half
        let second: Half
    }
    private typealias Wide = Pair<Pair<Pair<Pair<Pair<Pair<Pair<Pair<Pair<Pair<Double>>>>>>>>>>

    /// An element of 8 KB, for which a text needs only two bytes.
    private struct Element: Decodable {
        let wide: Wide?

        init(from decoder: any Decoder) throws {
            (decoder.userInfo[Watch.key] as? Watch)?.see()
            wide = try Wide(from: decoder)
        }
    }

    /// Records the process's address space when the first element is decoded.
    private final class Watch: @unchecked Sendable {
        // Unchecked: decodings use it one after the other.
        static let key = CodingUserInfoKey(rawValue: "watch").unsafelyUnwrapped
        private(set) var first: Int?

        func see() { if first == nil { first = Self.addressSpace() } }

        /// In bytes; 0 if the system doesn't report it.
        static func addressSpace() -> Int {
            guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
            return (text.split(separator: " ").first.flatMap { Int($0) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
        }
    }

    @Test("an array of many short elements doesn't reserve room for all of them before decoding the first")
    func wideElements() {
        #expect(MemoryLayout<Element>.stride > 8_000)
        // Would be 16 GB of elements.
        let text = Data("[\(String(repeating: "0,", count: 2_000_000))0]".utf8)
        var decoder = FastJSONDecoder()
        let watch = Watch()
        decoder.userInfo = [Watch.key: watch]
        let before = Watch.addressSpace()
        #expect(throws: DecodingError.self) { try decoder.decode([Element].self, from: text) }
        #expect(throws: DecodingError.self) {
            try decoder.decode([[Element]].self, from: Data("[".utf8) + text + Data("]".utf8))
        }
        #expect(watch.first.map { $0 - before < 8 << 30 } == true)
    }

    @Test("reserved memory is limited in bytes, for elements of any size")
    func bound() {
        #expect(JSONDocument.room(for: 7, Int.self) == 7)
        #expect(JSONDocument.room(for: 1 << 29, Int8.self) == 64 << 10)
        #expect(JSONDocument.room(for: 1 << 29, String.self) * MemoryLayout<String>.stride == 64 << 10)
        #expect(JSONDocument.room(for: 1 << 29, Element.self) * MemoryLayout<Element>.stride <= 64 << 10)
        #expect(JSONDocument.room(for: 7, Void.self) == 7)
    }

    @Test("a list of lists doesn't reserve room in each of them for the others' contents")
    func nestedLists() throws {
        let text =
            "[\((0..<300).map { "[\((0..<$0).map(String.init).joined(separator: ","))]" }.joined(separator: ","))]"
        let lists = try FastJSONDecoder().decode([[Int]].self, from: Data(text.utf8))
        #expect(lists.map(\.count) == Array(0..<300))
        let numbers = (0..<200_000).map(String.init).joined(separator: ",")
        #expect(try FastJSONDecoder().decode([Int].self, from: Data("[\(numbers)]".utf8)) == Array(0..<200_000))
        struct Box: Decodable, Equatable { let n: Int }
        let boxes = (0..<20_000).map { "{\"n\":\($0)}" }.joined(separator: ",")
        #expect(try FastJSONDecoder().decode([Box].self, from: Data("[\(boxes)]".utf8)) == (0..<20_000).map(Box.init))
        // The last value isn't a box: the decoded boxes are released, and the error has its path.
        #expect(throws: DecodingError.self) {
            try FastJSONDecoder().decode([Box].self, from: Data("[\(boxes),7]".utf8))
        }
    }
}
