import ErrandEssentials

/// Pulls the chunks of a sequence of the app.
final class SequenceSource<Chunks: AsyncSequence & Sendable>: HTTPBodySource where Chunks.Element == Data {
    /// Isolates the iterator, which need not be `Sendable`.
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

    /// The iterator ends with the source; a pull under way ends with the task that has asked for it.
    func cancel() {}
}
