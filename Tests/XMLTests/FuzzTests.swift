import Errand
import ErrandEssentials
import ErrandXML
import Testing

@Suite("XML at random", .leakChecked) struct FuzzTests {
    /// Returns the events up to the end or the error, with adjacent texts joined.
    private func read(
        _ pieces: [Data], charset: String? = nil
    ) async throws -> (events: [XMLEvent], error: XMLError?) {
        var events: [XMLEvent] = []
        do {
            for try await event in XMLEvents(HTTPBody(chunks: pieces), charset: charset) { events.append(event) }
            return (joined(events), nil)
        } catch let error as XMLError { return (joined(events), error) }
    }

    @Test("any document has the same events and the same error at any split", arguments: 0..<8)
    func splits(seed: Int) async throws {
        var mutations = Mutations(seed: seed + 1)
        for _ in 0..<60 {
            let bytes = mutations.next()
            let whole = try await read([Data(bytes)])
            for pieces in [mutations.split(bytes), bytes.map { Data([$0]) }] {
                let (events, error) = try await read(pieces)
                #expect(error == whole.error, "\(Data(bytes).base64EncodedString())")
                #expect(events == whole.events, "\(Data(bytes).base64EncodedString())")
            }
            #expect(failure(of: Data(bytes)) == whole.error)
        }
    }

    @Test("bytes that are invalid in a charset are an error at the same place at any split", arguments: 0..<4)
    func charsets(seed: Int) async throws {
        var mutations = Mutations(seed: seed + 200)
        for round in 0..<60 {
            var bytes = mutations.next()
            let charset = ["utf-8", "utf-16le", "utf-16be", "windows-1252", "iso-8859-7", "iso-8859-1"][round % 6]
            if charset.hasPrefix("utf-16") {
                let text = String(decoding: bytes, as: UTF8.self)
                bytes = Array(utf16(text, isBigEndian: charset.hasSuffix("be"), mark: false))
                let place = round * 7 % (bytes.count / 2) * 2
                bytes[place...place + 1] = [0xDC, 0xDC]
            } else {
                bytes[round * 7 % bytes.count] = charset == "iso-8859-7" ? 0xFF : 0x81
            }
            let whole = try await read([Data(bytes)], charset: charset)
            for pieces in [mutations.split(bytes), bytes.map { Data([$0]) }] {
                let (events, error) = try await read(pieces, charset: charset)
                #expect(error == whole.error, "\(charset) \(Data(bytes).base64EncodedString())")
                #expect(events == whole.events, "\(charset) \(Data(bytes).base64EncodedString())")
            }
        }
    }

    @Test("a tree that is written at random is read back unchanged", arguments: 0..<8)
    func trees(seed: Int) async throws {
        var mutations = Mutations(seed: seed + 100)
        for _ in 0..<100 {
            let (tree, text) = mutations.tree()
            #expect(try XMLTree(text) == tree, "\(text)")
            let pieces = mutations.split(Array(utf16(text, isBigEndian: seed % 2 == 0, mark: true)))
            let read = try await XMLEvents(HTTPBody(chunks: pieces)).elements(tree.name).all()
            #expect(read == [tree], "\(text)")
        }
    }
}
