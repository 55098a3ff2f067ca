import Errand
import ErrandEssentials

/// One end of an in-memory connection, which closes when it is deallocated.
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

/// One direction. Up to `capacity` bytes are ready for the reader; the others wait at the writer.
private final class MemoryPipe: Sendable {
    private struct State: Sendable {
        /// Waits for room.
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
        // There is room again.
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
