public import ErrandEssentials

/// Bytes in both directions, over one connection that nothing else uses.
///
/// From any thread; one reader at a time. Its last release closes the connection.
public protocol ByteConnection: AnyObject, Sendable {
    /// The next bytes, as many as have arrived; nil once the peer has sent its last one. Bytes that are not taken hold
    /// the peer back. Throws ``ErrandError``: `connectionLost`, and `cancelled` after ``close()``; a cancelled task
    /// ends the wait alone.
    func receive() async throws -> Data?

    /// Adds bytes to those to be sent, behind those of earlier calls; never waits, and sends nothing yet. Without
    /// effect once the connection has ended.
    func enqueue(_ data: Data)

    /// Begins to send what was added, and does not wait for it.
    func push()

    /// Sends what was added, and returns when the system has all of it. Throws as ``receive()``; a cancelled task ends
    /// the wait alone, and the bytes are sent.
    func flush() async throws

    /// The number of bytes that were added and that the system has not taken.
    var pendingBytes: Int { get }

    /// Closes the connection at once; bytes that the system has not taken are lost.
    func close()
}
