public import ErrandEssentials
import Synchronization

/// Pulls a body's chunks from within a class, for an ``HTTPBodySource`` that transforms another body.
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
/// Only one reader at a time can pull, as with any source. A concurrent call throws
/// ``ErrandError/Code/bodyAlreadyRead``.
public final class BodyChunks: Sendable {
    private let body: HTTPBody
    private let iterator: Mutex<HTTPBody.Iterator?>

    /// Prepares to read a body, without pulling a chunk yet.
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
        guard var taken else { throw ErrandError(.bodyAlreadyRead, "a chunk of this body is being read") }
        defer { iterator.withLock { $0 = taken } }
        return try await taken.next()
    }

    /// Cancels the body.
    public func cancel() { body.cancel() }
}
