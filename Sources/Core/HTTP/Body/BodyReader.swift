package import ErrandEssentials
import ErrandSupport
import Synchronization

/// Reads a streamed body for its single reader and counts the bytes. Cancels the source when the body is released.
package final class BodyReader: Sendable {
    package struct Ticket: Sendable {}

    private enum Phase { case open, ended, cancelled }
    private struct State {
        var length: Int64?
        var isClaimed = false
        var phase = Phase.open
        var received: Int64 = 0
        var evidence: BodyEvidence?
        var kept: Data?
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

    package func expect(_ length: Int64) { state.withLock { $0.length = length } }

    package func keepEvidence(_ evidence: BodyEvidence) { state.withLock { $0.evidence = evidence } }

    var evidence: BodyEvidence? { state.withLock { $0.evidence } }

    func withEvidence(_ error: any Error) -> any Error {
        state.withLock { $0.evidence }?.attached(to: error) ?? error
    }

    /// The body's bytes, if they were collected. Shared by all copies of the body.
    var kept: Data? { state.withLock { $0.kept } }

    func keep(_ data: Data) { state.withLock { $0.kept = data } }

    func claim() throws -> Ticket {
        let wasClaimed = state.withLock { state in
            defer { state.isClaimed = true }
            return state.isClaimed
        }
        if wasClaimed {
            throw withEvidence(
                ErrandError(
                    .bodyAlreadyRead, "a streamed body can be read only once; to read it twice, collect it first"))
        }
        return Ticket()
    }

    private static var cancelled: ErrandError { ErrandError(.cancelled, "the body was cancelled") }

    func next() async throws -> Data? {
        while true {
            switch state.withLock({ $0.phase }) {
            case .open: break
            case .ended: return nil
            case .cancelled: throw Self.cancelled
            }
            let chunk: Data?
            do { chunk = try await source.nextChunk() } catch {
                state.withLock { $0.phase = .ended }
                throw withEvidence(error)
            }
            // A source may end without an error when it's cancelled, as `AsyncStream` does.
            let mayBeCut = chunk == nil && Task.isCancelled
            let (received, length, isCut) = state.withLock { state in
                state.received += Int64(chunk?.count ?? 0)
                if let chunk { state.evidence?.add(chunk) }
                let isCancelled = chunk == nil && (mayBeCut || state.phase == .cancelled)
                let isCut = isCancelled && state.received != state.length
                if chunk == nil, !isCut, state.phase == .open { state.phase = .ended }
                return (state.received, state.length, isCut)
            }
            if isCut {
                cancel()
                throw Self.cancelled
            }
            if let length, chunk == nil ? received < length : received > length {
                cancel()
                throw withEvidence(ErrandError.wrongLength(expected: length, received: received))
            }
            if let chunk, chunk.isEmpty { continue }
            return chunk
        }
    }

    package func cancel() {
        let wasOpen = state.withLock { state in
            defer { if state.phase == .open { state.phase = .cancelled } }
            return state.phase == .open
        }
        if wasOpen { source.cancel() }
    }
}

package struct WeakBody: Sendable {
    package weak let reader: BodyReader?

    package init(_ reader: BodyReader?) { self.reader = reader }
}

/// A response's head and first body bytes, for errors while the body is read.
package struct BodyEvidence: Sendable {
    let request: HTTPRequest
    let response: HTTPResponse
    let limit: Int
    private var bytes = Data()

    package init(_ request: HTTPRequest, _ response: HTTPResponse, limit: Int) {
        (self.request, self.limit) = (request, limit)
        var head = response
        head.body = .empty
        self.response = head
    }

    mutating func add(_ chunk: Data) {
        if bytes.count < limit { bytes.append(chunk.prefix(limit - bytes.count)) }
    }

    package func with(_ data: Data?) -> BodyEvidence {
        var copy = self
        if let data { copy.add(data) }
        return copy
    }

    package func attached(to error: any Error) -> any Error {
        guard var known = error as? ErrandError, !known.isCancelled else { return error }
        known.request = known.request ?? request
        if known.response == nil {
            var partial = response
            partial.body = HTTPBody(bytes)
            known.response = partial
        }
        return known
    }
}
