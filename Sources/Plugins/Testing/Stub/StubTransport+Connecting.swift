public import Errand
import ErrandEssentials

extension StubTransport: ConnectingTransport {
    /// A connection in memory, over which the stubbed response to the request arrives; of
    /// ``StubResponse/webSocket(headers:_:)``, its frames behind that. The request is recorded as any other.
    public func connect(for request: HTTPRequest, options: TransportOptions) async throws -> any ByteConnection {
        let reply = try await stubbed(request)
        let response = try await reply.respond(to: request, options)
        let (client, server) = MemoryConnection.pair()
        Task {
            defer { server.close() }
            try await Self.serve(request, response, reply.conversation, over: server)
            try await server.flush()
        }
        return client
    }

    private static func serve(
        _ request: HTTPRequest, _ response: HTTPResponse,
        _ conversation: (@Sendable (StubSocket) async throws -> Void)?, over connection: MemoryConnection
    ) async throws {
        let end = Data("\r\n\r\n".utf8)
        var input = Data()
        while input.firstRange(of: end) == nil {
            guard let bytes = try await connection.receive() else { return }
            input.append(bytes)
        }
        var head = "HTTP/1.1 \(response.status) \r\n"
        for field in response.headers { head += "\(field.name.rawName): \(field.value)\r\n" }
        if conversation != nil, !response.headers.contains(.secWebSocketAccept) {
            head += "Sec-WebSocket-Accept: \(TestWebSocket.accept(request.headers[.secWebSocketKey] ?? ""))\r\n"
        }
        connection.enqueue(Data((head + "\r\n").utf8))
        for try await chunk in response.body { connection.enqueue(chunk) }
        try await connection.flush()
        let rest = input.firstRange(of: end).map { Data(input[$0.upperBound...]) } ?? Data()
        try await conversation?(StubSocket(connection, rest))
    }
}
