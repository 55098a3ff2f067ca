import Errand
import ErrandEssentials
import ErrandXML
import Testing

@Suite("XML at random", .leakChecked) struct FuzzTests {
    /// The events up to the end or the error, with neighbouring texts joined.
    private func read(_ pieces: [Data]) async throws -> (events: [XMLEvent], error: XMLError?) {
        var events: [XMLEvent] = []
        do {
            for try await event in XMLEvents(HTTPBody(chunks: pieces)) { events.append(event) }
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

    @Test("a tree that is written at random is the tree that is read", arguments: 0..<8)
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
