#if os(Linux) || os(Android)
public import Errand
import ErrandEssentials

extension CurlTransport: ConnectingTransport {
    /// Opens a connection that nothing else uses, on libcurl's thread of this transport; see
    /// ``Errand/ConnectingTransport``. The limits of ``CurlConfiguration`` on connections do not count it.
    public func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection {
        let connection = try CurlConnection(request, options, try await loop(options))
        try await connection.open()
        return OpenConnection(connection)
    }
}

/// The user's end of a connection: its release closes it, while the loop still has the other end.
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
