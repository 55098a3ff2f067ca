public import ErrandEssentials
import Synchronization

/// Delivers the chunks of a streamed ``HTTPBody``, for example from a socket. For backpressure, fetch little more than
/// the reader asks for with `nextChunk()`.
public protocol HTTPBodySource: AnyObject, Sendable {
    /// Returns the next chunk, or `nil` at the end. Throws if the transfer failed or the task was cancelled.
    ///
    /// If the source returns `nil` because it was cancelled, as `AsyncStream` does, the body's reader still gets an
    /// error, unless all bytes of a known length have arrived.
    ///
    /// Called by one reader at a time, and never after the end, an error or `cancel()`. Chunks of 128 KiB or more are
    /// the most efficient.
    func nextChunk() async throws -> Data?

    /// Stops the transfer. Called at most once, on any thread, if the reader stops before the end.
    func cancel()
}

final class SequenceSource<Chunks: AsyncSequence & Sendable>: HTTPBodySource where Chunks.Element == Data {
    /// Pulls chunks from an iterator. An actor, because the iterator isn't necessarily `Sendable`.
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

    /// Does nothing, because cancelling the task already ends a pending `nextChunk()`.
    func cancel() {}
}

/// A body that is being sent. Converts failures of its source to ``ErrandError/Code/encodingFailed``.
final class UploadSource: HTTPBodySource {
    private let body: HTTPBody

    private init(_ body: HTTPBody) { self.body = body }

    static func guarding(length: Int64?, _ open: () throws -> HTTPBody) throws -> HTTPBody {
        let body: HTTPBody
        do { body = try open() } catch { throw typed(error) }
        if let length, let own = body.length, own != length {
            body.cancel()
            throw ErrandError(.invalidRequest, "the body has \(own) bytes, but \(length) were announced")
        }
        guard let reader = body.reader, body.file == nil || body.length != length else { return body }
        _ = try reader.claim()
        return HTTPBody(length: length ?? body.length, source: UploadSource(body))
    }

    func nextChunk() async throws -> Data? {
        do { return try await body.nextChunk() } catch { throw Self.typed(error) }
    }

    func cancel() { body.cancel() }

    /// Converts an error of the source. Keeps errors that transports handle, and the cancellation of the sending task.
    private static func typed(_ error: any Error) -> any Error {
        let own: [ErrandError.Code] = [
            .invalidRequest, .encodingFailed, .bodyNotReplayable, .bodyAlreadyRead, .fileFailed, .truncated,
            .invalidResponse,
        ]
        if let known = error as? ErrandError, own.contains(known.code), known.response == nil { return error }
        if error.isCancellation {
            if Task.isCancelled { return error }
            return ErrandError(.encodingFailed, "the body's source was cancelled", underlying: error)
        }
        return ErrandError(
            .encodingFailed, "the body's source failed: \(error.briefDescription)", underlying: error)
    }
}

/// Pulls a body's chunks from a class, such as an ``HTTPBodySource`` that transforms another body.
///
/// ```swift
/// final class Uppercase: HTTPBodySource {
///     private let chunks: BodyChunks
///     init(_ body: HTTPBody) { chunks = BodyChunks(body) }
///     func nextChunk() async throws -> Data? {
///         try await chunks.next().map { Data(String(decoding: $0, as: UTF8.self).uppercased().utf8) }
///     }
///     func cancel() { chunks.cancel() }
/// }
/// ```
///
/// Only one reader at a time can pull. A concurrent call throws ``ErrandError/Code/bodyAlreadyRead``.
public final class BodyChunks: Sendable {
    private let body: HTTPBody
    private let iterator: Mutex<HTTPBody.Iterator?>

    /// Creates a reader for a body, without pulling a chunk.
    public init(_ body: HTTPBody) {
        self.body = body
        iterator = Mutex(body.makeAsyncIterator())
    }

    /// Returns the next chunk, or `nil` at the end. Throws the body's error.
    public func next() async throws -> Data? {
        let taken = iterator.withLock { iterator in
            defer { iterator = nil }
            return iterator
        }
        guard var taken else {
            throw ErrandError(
                .bodyAlreadyRead, "this body is already being read; wait for a chunk before you ask for the next one")
        }
        defer { iterator.withLock { $0 = taken } }
        return try await taken.next()
    }

    /// Cancels the body's transfer. See ``HTTPBody/cancel()``.
    public func cancel() { body.cancel() }
}
