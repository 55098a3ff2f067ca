public import ErrandEssentials
import Synchronization

/// Pulls the chunks of a body from within a class: for an ``HTTPBodySource`` that makes one body from another.
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
/// Like a source, it serves one reader at a time; a second one gets ``ErrandError/Code/bodyAlreadyRead``.
public final class BodyChunks: Sendable {
    private let body: HTTPBody
    private let iterator: Mutex<HTTPBody.Iterator?>

    /// Begins to read a body; pulls nothing yet.
    public init(_ body: HTTPBody) {
        self.body = body
        iterator = Mutex(body.makeAsyncIterator())
    }

    /// The next chunk; nil at the end. Throws the error of the body.
    public func next() async throws -> Data? {
        let taken = iterator.withLock { iterator in
            defer { iterator = nil }
            return iterator
        }
        guard var taken else { throw ErrandError(.bodyAlreadyRead, "a chunk of this body is being read") }
        defer { iterator.withLock { $0 = taken } }
        return try await taken.next()
    }

    /// Cancels the body that is read.
    public func cancel() { body.cancel() }
}
