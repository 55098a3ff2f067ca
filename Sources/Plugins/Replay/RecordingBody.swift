import Errand
import ErrandEssentials
import Synchronization

/// A body that keeps a copy of the bytes that are read.
final class RecordingBody: HTTPBodySource {
    private let chunks: BodyChunks
    /// Nil once there are too many bytes.
    private let copy = Mutex<Data?>(Data())
    private let hasEnded = Atomic(false)
    /// The number of bytes to come, after which the body ends though nobody asks for more; nil to wait for its end.
    private let left: Mutex<Int64?>
    /// Receives all bytes at the end; nil if there was none, or if they are too many.
    private let end: @Sendable (Data?) -> Void

    init(_ body: HTTPBody, upTo length: Int64? = nil, _ end: @escaping @Sendable (Data?) -> Void) {
        (chunks, self.end) = (BodyChunks(body), end)
        left = Mutex(length)
    }

    deinit { finish(nil) }

    func nextChunk() async throws -> Data? {
        do {
            let chunk = try await chunks.next()
            if let chunk {
                copy.withLock { copy in
                    if let kept = copy?.count, kept + chunk.count > ReplayRecorder.bodyLimit { copy = nil }
                    copy?.append(chunk)
                }
                let isComplete = left.withLock { left in
                    left = left.map { $0 - Int64(chunk.count) }
                    return left == 0
                }
                if isComplete { finish(copy.withLock { $0 }) }
            } else {
                finish(copy.withLock { $0 })
            }
            return chunk
        } catch {
            finish(nil)
            throw error
        }
    }

    func cancel() {
        chunks.cancel()
        finish(nil)
    }

    private func finish(_ data: Data?) {
        if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { end(data) }
    }
}
