#if os(Linux) || os(Android)
public import Errand
import ErrandEssentials

extension CurlTransport: ConnectingTransport {
    /// Opens a dedicated connection, on this transport's libcurl thread; see ``Errand/ConnectingTransport``. It doesn't
    /// count toward the connection limits of ``CurlConfiguration``.
    public func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection {
        let connection = try CurlConnection(request, options, try await loop(options))
        try await connection.open()
        return OpenConnection(connection)
    }
}

/// The user's end of a connection. Releasing it closes the connection.
final class OpenConnection: ByteConnection {
    private let connection: CurlConnection

    init(_ connection: CurlConnection) { self.connection = connection }

    deinit { connection.close() }

    var pendingBytes: Int { connection.pendingBytes }
    func receive() async throws -> Data? { try await connection.receive() }
    func enqueue(_ data: Data) { connection.enqueue(data) }
    func push() { connection.push() }
    func flush() async throws { try await connection.flush() }
    func close() { connection.close() }
}
#endif
