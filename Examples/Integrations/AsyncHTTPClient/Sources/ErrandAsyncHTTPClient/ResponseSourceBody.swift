import AsyncHTTPClient
import Errand
import ErrandEssentials
import NIOCore
import Synchronization

/// The body of a response, pulled from the client chunk by chunk.
final class ResponseSourceBody: HTTPBodySource {
    private struct State {
        var isCancelled = false
        var pull: Task<Data?, any Error>?
    }

    /// Isolates the iterator, which isn't `Sendable`. Releasing it cancels the request.
    private actor Chunks {
        private var iterator: HTTPClientResponse.Body.AsyncIterator?

        init(_ body: HTTPClientResponse.Body) { iterator = body.makeAsyncIterator() }

        func next() async throws -> ByteBuffer? {
            guard var current = iterator else { return nil }
            let chunk = try await current.next(isolation: self)
            if iterator != nil { iterator = chunk == nil ? nil : current }
            return chunk
        }

        func drop() { iterator = nil }
    }

    private let chunks: Chunks
    private let exchange: ClientExchange
    private let state = Mutex(State())

    init(_ body: HTTPClientResponse.Body, _ exchange: ClientExchange) {
        (chunks, self.exchange) = (Chunks(body), exchange)
    }

    func nextChunk() async throws -> Data? {
        let pull = Task { [chunks, exchange] in
            try await exchange.watching { try await chunks.next().map { Data($0.readableBytesView) } }
        }
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.pull = pull }
            return state.isCancelled
        }
        if isCancelled { pull.cancel() }
        do {
            let chunk = try await withTaskCancellationHandler {
                try await pull.value
            } onCancel: {
                pull.cancel()
            }
            if let chunk { exchange.didReceive(chunk.count) } else { exchange.didEnd() }
            return chunk
        } catch {
            exchange.didEnd()
            await chunks.drop()
            throw error
        }
    }

    func cancel() {
        let pull = state.withLock { state in
            state.isCancelled = true
            return state.pull
        }
        pull?.cancel()
        Task { [chunks] in await chunks.drop() }
        exchange.didEnd()
    }
}
