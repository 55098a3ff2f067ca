public import ErrandEssentials

/// Delivers the chunks of a streamed ``HTTPBody``, for example from a socket, a file or a test.
///
/// Chunks are pulled. For backpressure, a source must not fetch much ahead of `nextChunk()`.
public protocol HTTPBodySource: AnyObject, Sendable {
    /// Returns the next chunk, or `nil` at the end. Throws if the transfer failed or the task was cancelled.
    ///
    /// Called by one reader at a time, and never after the end, an error or `cancel()`. Chunks of 128 KiB or more are
    /// the most efficient.
    func nextChunk() async throws -> Data?

    /// Called at most once, from any thread, when the reader goes away before the end.
    func cancel()
}
