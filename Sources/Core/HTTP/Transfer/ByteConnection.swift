public import ErrandEssentials

/// A connection that transfers bytes in both directions and isn't shared with anything else.
///
/// Use it from any thread, with one reader at a time. Releasing the last reference closes the connection.
public protocol ByteConnection: AnyObject, Sendable {
    /// Returns the bytes that have arrived, waiting for some if necessary, or `nil` after the peer has sent its last
    /// byte. Unread bytes apply backpressure to the peer.
    ///
    /// Throws ``ErrandError``: `connectionLost`, or `cancelled` after ``close()``. Cancelling the task ends only the
    /// wait.
    func receive() async throws -> Data?

    /// Adds bytes to send after the bytes that were enqueued earlier. Returns at once and doesn't start to send; see
    /// ``push()`` and ``flush()``. Ignored once the connection has ended.
    func enqueue(_ data: Data)

    /// Starts to send the enqueued bytes without waiting.
    func push()

    /// Sends the enqueued bytes and waits until the system has accepted all of them. Throws the same errors as
    /// ``receive()``. Cancelling the task ends only the wait; the bytes are still sent.
    func flush() async throws

    /// The number of enqueued bytes that the system hasn't accepted yet.
    var pendingBytes: Int { get }

    /// Closes the connection at once. Bytes that the system hasn't accepted are lost.
    func close()
}
