import Errand
import ErrandEssentials
import Synchronization

final class SliceBody: HTTPBodySource {
    private struct Remaining {
        var toSkip: Int64
        var left: Int64

        mutating func take(of chunk: Data) -> Data {
            let skipped = min(toSkip, Int64(chunk.count))
            toSkip -= skipped
            let part = Data(chunk.dropFirst(Int(skipped)).prefix(Int(min(left, .init(Int.max)))))
            left -= Int64(part.count)
            return part
        }
    }

    private let chunks: BodyChunks
    private let remaining: Mutex<Remaining>

    init(_ body: HTTPBody, _ range: Range<Int64>) {
        chunks = BodyChunks(body)
        remaining = Mutex(Remaining(toSkip: range.lowerBound, left: Int64(range.count)))
    }

    func nextChunk() async throws -> Data? {
        while remaining.withLock({ $0.left > 0 }), let chunk = try await chunks.next() {
            let part = remaining.withLock { $0.take(of: chunk) }
            if !part.isEmpty { return part }
        }
        chunks.cancel()
        return nil
    }

    func cancel() { chunks.cancel() }
}

extension HTTPBody {
    /// Returns a part of the body. The range must be within the body's length.
    func slice(_ range: Range<Int64>) -> HTTPBody {
        guard let data else { return HTTPBody(length: Int64(range.count), source: SliceBody(self, range)) }
        return HTTPBody(Data(data.dropFirst(Int(range.lowerBound)).prefix(range.count)))
    }
}
