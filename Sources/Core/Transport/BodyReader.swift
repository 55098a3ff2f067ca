import ErrandSupport
import Synchronization

/// Lets one reader in, counts its bytes, and cancels the source when nobody holds the body any more.
final class BodyReader: Sendable {
    struct Ticket {}

    private enum Phase { case open, ended, cancelled }
    private struct State {
        var length: Int64?
        var isClaimed = false
        var phase = Phase.open
        var received: Int64 = 0
    }

    let file: URL?
    private let source: any HTTPBodySource
    private let state: Mutex<State>

    init(_ source: any HTTPBodySource, length: Int64?, file: URL? = nil) {
        self.source = source
        self.file = file
        state = Mutex(State(length: length))
    }

    deinit { cancel() }

    var length: Int64? { state.withLock { $0.length } }

    func expect(_ length: Int64) { state.withLock { $0.length = length } }

    func claim() throws -> Ticket {
        let wasClaimed = state.withLock { state in
            defer { state.isClaimed = true }
            return state.isClaimed
        }
        if wasClaimed { throw ErrandError(.bodyAlreadyRead, "a streamed body has one reader") }
        return Ticket()
    }

    func next() async throws -> Data? {
        while true {
            switch state.withLock({ $0.phase }) {
            case .open: break
            case .ended: return nil
            case .cancelled: throw ErrandError(.cancelled, "the body was given up")
            }
            let chunk: Data?
            do { chunk = try await source.nextChunk() } catch {
                state.withLock { $0.phase = .ended }
                throw error
            }
            let (received, length) = state.withLock { state in
                state.received += Int64(chunk?.count ?? 0)
                if chunk == nil, state.phase == .open { state.phase = .ended }
                return (state.received, state.length)
            }
            if let length, chunk == nil ? received < length : received > length {
                cancel()
                throw ErrandError.wrongLength(expected: length, received: received)
            }
            if let chunk, chunk.isEmpty { continue }
            return chunk
        }
    }

    func cancel() {
        let wasOpen = state.withLock { state in
            defer { if state.phase == .open { state.phase = .cancelled } }
            return state.phase == .open
        }
        if wasOpen { source.cancel() }
    }
}
