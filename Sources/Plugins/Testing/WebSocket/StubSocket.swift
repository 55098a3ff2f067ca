public import Errand
import ErrandEssentials
import Synchronization

extension StubResponse {
    /// Returns a response that opens a WebSocket in memory, and passes the server's side to a closure. The connection
    /// closes when the closure returns or throws.
    ///
    /// ```swift
    /// let stub = StubTransport()
    /// stub.on("/rooms/7/socket", response: .webSocket { socket in
    ///     try await socket.send(.text(#"{"text":"welcome"}"#))
    ///     try await socket.echo()
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - headers: Additional fields of the response, for example for a subprotocol.
    ///   - body: The closure that acts as the server.
    public static func webSocket(
        headers: HTTPHeaders = [:], _ body: @escaping @Sendable (StubSocket) async throws -> Void
    ) -> StubResponse {
        var fields: HTTPHeaders = [.upgrade: "websocket", .connection: "Upgrade"]
        fields.merge(headers)
        return StubResponse(fields, body)
    }
}

/// The server's side of a WebSocket in memory. It doesn't check frames, so your test can violate the protocol.
public final class StubSocket: Sendable {
    private let connection: MemoryConnection
    private let input: Mutex<Data>

    init(_ connection: MemoryConnection, _ rest: Data) {
        self.connection = connection
        input = Mutex(rest)
    }

    /// Returns the next frame that the client sends, without its mask. Returns `nil` if the client has closed the
    /// connection. Only one task at a time may call this method.
    public func receive() async throws -> TestFrame? {
        while true {
            if let frame = input.withLock({ TestFrame.take(from: &$0) }) { return frame }
            guard let bytes = try await connection.receive() else { return nil }
            input.withLock { $0.append(bytes) }
        }
    }

    /// Sends a frame without its mask. You can therefore send a received frame back. Throws ``Errand/ErrandError`` with
    /// `connectionLost` if the client has closed the connection.
    public func send(_ frame: TestFrame) async throws {
        var frame = frame
        frame.mask = nil
        connection.enqueue(frame.wireBytes())
        try await connection.flush()
    }

    /// Sends a close frame, and returns the close frame with which the client responds.
    @discardableResult public func close(_ code: UInt16? = 1000, _ reason: String = "") async throws -> TestFrame? {
        try await send(.close(code, reason))
        while let frame = try await receive() { if frame.opcode == 8 { return frame } }
        return nil
    }

    /// Sends received messages back and responds to pings, until the client closes the socket.
    public func echo() async throws {
        while let frame = try await receive() {
            if frame.opcode == 9 { try await send(.pong(frame.content)) } else { try await send(frame) }
            if frame.opcode == 8 { return }
        }
    }
}

/// One side of a connection in memory. It closes when it's deallocated.
final class MemoryConnection: ByteConnection {
    private let incoming: MemoryPipe
    private let outgoing: MemoryPipe

    private init(_ incoming: MemoryPipe, _ outgoing: MemoryPipe) {
        (self.incoming, self.outgoing) = (incoming, outgoing)
    }

    deinit { close() }

    static func pair() -> (client: MemoryConnection, server: MemoryConnection) {
        let (up, down) = (MemoryPipe(), MemoryPipe())
        return (MemoryConnection(down, up), MemoryConnection(up, down))
    }

    func receive() async throws -> Data? { try await incoming.take() }
    func enqueue(_ data: Data) { outgoing.add(data) }
    func push() { outgoing.push() }
    func flush() async throws { try await outgoing.flush() }
    var pendingBytes: Int { outgoing.pendingBytes }

    func close() {
        outgoing.end()
        incoming.abandon()
    }
}

/// The bytes in one direction of a connection. Up to `capacity` bytes are ready for the reader, and further bytes are
/// pending.
private final class MemoryPipe: Sendable {
    private struct State: Sendable {
        var pending = Data()
        var arrived = Data()
        var isEnded = false
        var isAbandoned = false

        mutating func push() {
            let moved = pending.prefix(MemoryPipe.capacity - arrived.count)
            arrived.append(moved)
            pending = Data(pending.dropFirst(moved.count))
        }
    }

    private static let capacity = 64 << 10
    private static let unlimited = Duration.seconds(Int64.max).bounded

    private let state = Watched(State())

    var pendingBytes: Int { state.read { $0.pending.count } }

    func add(_ data: Data) { state.read { if !$0.isEnded && !$0.isAbandoned { $0.pending.append(data) } } }

    func push() { state.update { $0.push() } }

    func flush() async throws {
        push()
        let failure = try await state.wait(for: "room", within: Self.unlimited) { state -> ErrandError?? in
            if state.isEnded { return ErrandError(.cancelled, "the connection was closed") }
            if state.isAbandoned { return ErrandError(.connectionLost, "the other end of the connection was closed") }
            return state.pending.isEmpty ? .some(nil) : nil
        }
        if let failure { throw failure }
    }

    func take() async throws -> Data? {
        let taken = try await state.wait(for: "bytes", within: Self.unlimited) { state -> Result<Data?, ErrandError>? in
            if state.isAbandoned { return .failure(ErrandError(.cancelled, "the connection was closed")) }
            if state.arrived.isEmpty { return state.isEnded ? .success(nil) : nil }
            defer {
                state.arrived = Data()
                state.push()
            }
            return .success(state.arrived)
        }
        // Writers may be waiting, and there is room for their bytes now.
        state.touch()
        return try taken.get()
    }

    func end() {
        state.update { state in
            state.isEnded = true
            state.pending = Data()
        }
    }

    func abandon() {
        state.update { state in
            state.isAbandoned = true
            (state.pending, state.arrived) = (Data(), Data())
        }
    }
}
