public import ErrandEssentials
import ErrandSupport

/// The server's side of a connection that has switched from HTTP to another protocol. Its methods block the thread of
/// the connection.
///
/// ```swift
/// let upgrade = TestResponse(status: 101, headers: ["Upgrade": "echo", "Connection": "Upgrade"])
/// server.on("/echo", upgrade.continuing { connection in
///     while let bytes = try connection.receive() { try connection.send(bytes) }
/// })
/// ```
public final class TestConversation {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Returns the next bytes that the client sends, up to `limit`. Returns `nil` if the client has closed its sending
    /// direction.
    public func receive(upTo limit: Int = .max) throws -> Data? {
        if connection.input.isEmpty {
            do { try connection.receive() } catch Connection.Ending.gone { return nil }
        }
        var data = Data()
        _ = connection.input.take(upTo: max(1, limit)) { bytes in
            data.append(contentsOf: bytes)
            return bytes.count
        }
        return data
    }

    /// Sends bytes to the client. If you pass a size, sends them in pieces of this size.
    public func send(_ data: Data, inPiecesOf size: Int? = nil) throws {
        var rest = data[...]
        while !rest.isEmpty {
            let piece = rest.prefix(max(1, size ?? rest.count))
            try connection.send(piece.span)
            rest = rest.dropFirst(piece.count)
        }
    }

    /// Waits until the test opens a gate. Throws if the client closes the connection or the server stops.
    public func wait(for gate: Gate) throws { try connection.wait(at: gate) }

    /// Waits without sending, until the client closes the connection or the server stops. Then throws an error that
    /// ends the conversation.
    public func stall() throws -> Never { try connection.stall() }

    /// Resets the connection. Throws an error that ends the conversation.
    public func reset() throws -> Never { throw Connection.Ending.reset }
}
