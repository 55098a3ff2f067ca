import ErrandEssentials

/// Pulls chunks from a sequence that the app provides.
final class SequenceSource<Chunks: AsyncSequence & Sendable>: HTTPBodySource where Chunks.Element == Data {
    /// Isolates the iterator, which may not be `Sendable`.
    private actor Pull {
        private let chunks: Chunks
        private var iterator: Chunks.AsyncIterator?

        init(_ chunks: Chunks) { self.chunks = chunks }

        func next() async throws -> Data? {
            var current = iterator ?? chunks.makeAsyncIterator()
            let chunk = try await current.next(isolation: self)
            iterator = current
            return chunk
        }
    }

    private let pull: Pull

    init(_ chunks: Chunks) { pull = Pull(chunks) }

    func nextChunk() async throws -> Data? { try await pull.next() }

    /// The iterator is released with the source, and a pending pull ends with the task that requested it.
    func cancel() {}
}
