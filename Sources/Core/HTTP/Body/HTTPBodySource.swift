public import ErrandEssentials

/// The source of the chunks of a streamed ``HTTPBody``: a socket, a file, a test.
///
/// One reader pulls: a source fetches nothing much ahead of `nextChunk()`, and so holds back the sender.
public protocol HTTPBodySource: AnyObject, Sendable {
    /// The next chunk, nil at the end. Throws when the transfer failed or the calling task was cancelled. Called by one
    /// reader at a time, never after an end, an error or `cancel()`. Chunks of 128 KiB or more cost the least.
    func nextChunk() async throws -> Data?

    /// Called when the reader went away; at most once, from any thread, and never after the end.
    func cancel()
}
