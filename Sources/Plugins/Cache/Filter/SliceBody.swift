import Errand

import ErrandEssentials

/// A range of a streamed body.
final class SliceBody: HTTPBodySource {
    private let body: HTTPBody
    // Proof: HTTPBody admits one reader, which requests one chunk after the other.
    private nonisolated(unsafe) var iterator: HTTPBody.Iterator
    private nonisolated(unsafe) var toSkip: Int64
    private nonisolated(unsafe) var left: Int64

    init(_ body: HTTPBody, _ range: Range<Int64>) {
        self.body = body
        iterator = body.makeAsyncIterator()
        toSkip = range.lowerBound
        left = Int64(range.count)
    }

    func nextChunk() async throws -> Data? {
        while left > 0, var chunk = try await iterator.next() {
            if toSkip >= Int64(chunk.count) {
                toSkip -= Int64(chunk.count)
                continue
            }
            chunk = Data(chunk.dropFirst(Int(toSkip)).prefix(Int(min(left, .init(Int.max)))))
            toSkip = 0
            left -= Int64(chunk.count)
            return chunk
        }
        body.cancel()
        return nil
    }

    func cancel() { body.cancel() }
}

extension HTTPBody {
    /// The body with a range of its bytes; the range has to be within its length.
    func slice(_ range: Range<Int64>) -> HTTPBody {
        guard let data else { return HTTPBody(length: Int64(range.count), source: SliceBody(self, range)) }
        return HTTPBody(Data(data.dropFirst(Int(range.lowerBound)).prefix(range.count)))
    }
}
