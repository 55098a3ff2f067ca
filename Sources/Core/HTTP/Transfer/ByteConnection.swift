public import ErrandEssentials

/// An exclusive two-way byte connection. Use it from any thread, with one reader at a time. Releasing the last
/// reference closes the connection.
public protocol ByteConnection: AnyObject, Sendable {
    /// Waits for bytes, or returns `nil` after the peer's last byte. Unread bytes apply backpressure to the peer.
    ///
    /// Throws ``ErrandError``: `connectionLost`, or `cancelled` after ``close()``. Cancelling the task ends only the
    /// wait.
    func receive() async throws -> Data?

    /// Adds bytes to send with ``push()`` or ``flush()``. Ignored once the connection has ended.
    func enqueue(_ data: Data)

    /// Starts to send the enqueued bytes, without waiting.
    func push()

    /// Sends the enqueued bytes and waits until the system has accepted them. Throws the same errors as ``receive()``.
    /// Cancelling the task ends only the wait.
    func flush() async throws

    /// The number of enqueued bytes that the system hasn't accepted yet.
    var pendingBytes: Int { get }

    /// Closes the connection. Drops bytes that the system hasn't accepted.
    func close()
}
