import Errand
import ErrandEssentials
import Synchronization

/// The bytes of a multipart body for one sending, pulled from its parts one after the other.
final class MultipartSource: HTTPBodySource {
    private enum Opened: Sendable {
        case file(PartFile)
        case stream(BodyChunks)
    }

    private struct State {
        var index = 0
        var opened: Opened?
        /// The number of bytes received of the open part.
        var received: Int64 = 0
        /// The last bytes that were sent of the part, in which a boundary may begin.
        var tail = Data()
        var isCancelled = false
    }

    /// A shorter piece waits for the next one, so that small parts do not cause small writes.
    private static let gatheredBytes = 64 << 10

    private let plan: MultipartPlan
    private let state = Mutex(State())

    init(_ plan: MultipartPlan) { self.plan = plan }

    func nextChunk() async throws -> Data? {
        var gathered = Data()
        while let (piece, isLive) = try await nextPiece() {
            if gathered.isEmpty, piece.count >= Self.gatheredBytes { return piece }
            gathered.append(piece)
            // The bytes of a stream are not held back.
            if gathered.count >= Self.gatheredBytes || isLive { break }
        }
        return gathered.isEmpty ? nil : gathered
    }

    func cancel() {
        let opened = state.withLock { state in
            state.isCancelled = true
            return state.opened
        }
        if case .stream(let chunks) = opened { chunks.cancel() }
    }

    private func nextPiece() async throws -> (Data, isLive: Bool)? {
        while true {
            let index = state.withLock { $0.index }
            guard index < plan.segments.count else { return nil }
            switch plan.segments[index] {
            case .data(let data):
                pass()
                if !data.isEmpty { return (data, false) }
            case .file(let file):
                guard case .file(let reader) = try opened({ .file(PartFile(file)) }) else { return nil }
                if let piece = try await reader.next() {
                    try checkBoundary(piece)
                    return (piece, false)
                }
                pass()
            case .stream(let length, let name, let open):
                guard case .stream(let chunks) = try opened({ .stream(BodyChunks(try open())) }) else { return nil }
                let piece = try await chunks.next()
                try count(piece, of: length, name)
                if let piece {
                    if piece.isEmpty { continue }
                    try checkBoundary(piece)
                    return (piece, true)
                }
                pass()
            }
        }
    }

    /// The part whose turn it is; opened on first use. A source of the user may be cancelled meanwhile.
    private func opened(_ open: () throws -> Opened) throws -> Opened {
        if let opened = state.withLock({ $0.opened }) { return opened }
        let new = try open()
        let isCancelled = state.withLock { state in
            state.opened = new
            return state.isCancelled
        }
        if isCancelled, case .stream(let chunks) = new { chunks.cancel() }
        return new
    }

    private func pass() {
        // The last use of a source may run code of the user's: not under the lock.
        let old = state.withLock { state in
            defer { (state.index, state.opened, state.received, state.tail) = (state.index + 1, nil, 0, Data()) }
            return state.opened
        }
        withExtendedLifetime(old) {}
    }

    private func count(_ piece: Data?, of length: Int64?, _ name: String) throws {
        let received = state.withLock { state in
            state.received += Int64(piece?.count ?? 0)
            return state.received
        }
        guard let length, piece == nil ? received < length : received > length else { return }
        let came = piece == nil ? "\(received)" : "more"
        throw MultipartError.sending(
            .invalidRequest, .partLengthMismatch,
            "the stream of the part \(name.debugDescription) announced \(length) bytes, and \(came) came")
    }

    /// Searches for a given boundary; a random one occurs only with a probability of 2^-128.
    private func checkBoundary(_ piece: Data) throws {
        guard plan.boundary.isGiven else { return }
        let kept = plan.boundary.delimiter.count - 1
        let joined = state.withLock { state in
            let joined = state.tail + piece
            state.tail = Data(joined.suffix(kept))
            return joined
        }
        try MultipartPlan.refuse(plan.boundary, in: joined)
    }
}
