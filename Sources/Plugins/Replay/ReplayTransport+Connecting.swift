public import Errand

extension ReplayTransport: ConnectingTransport {
    /// Opens a connection for another protocol than HTTP, such as a WebSocket, over the transport that the mode passes
    /// requests on to. What goes over it is not recorded.
    ///
    /// - Throws: ``ReplayError/Code/notReplayed`` where the mode has no such transport, and `transportUnavailable` where
    ///   that transport opens no connections.
    public func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection {
        guard let transport = mode.transport else {
            note(request)
            throw ReplayError(.notReplayed, request, redaction: redaction)
        }
        let connection = try await transport.connecting().connect(for: request, options: options)
        if mode.records { recorder.omit(request, "it opens a connection for another protocol, such as a WebSocket") }
        return connection
    }
}
