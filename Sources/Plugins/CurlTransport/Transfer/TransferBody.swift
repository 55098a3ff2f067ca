#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

/// A response body. If the reader stops, the transfer pauses. The body is also decoded when it's read, so decoding
/// doesn't delay other transfers.
final class TransferBody: HTTPBodySource {
    private let transfer: Transfer
    private let decoder: Mutex<ContentDecoder?>
    private let isCoded: Bool

    init(_ transfer: Transfer, _ codings: [ContentCoding]) throws {
        self.transfer = transfer
        isCoded = !codings.isEmpty
        decoder = Mutex(isCoded ? try ContentDecoder(codings) : nil)
    }

    func nextChunk() async throws -> Data? {
        guard isCoded else { return try await received() }
        do {
            while true {
                if let data = try decoded(nil) { return data }
                guard let data = try await received() else {
                    try decoder.withLock { try $0?.finish() }
                    return nil
                }
                if let data = try decoded(data) { return data }
            }
        } catch {
            transfer.cancel()
            throw error
        }
    }

    private func decoded(_ input: Data?) throws -> Data? {
        try decoder.withLock { decoder in
            if let input { decoder?.feed(input) }
            return try decoder?.next()
        }
    }

    /// Returns the next received bytes. Accessories receive all earlier events before the body ends or fails.
    private func received() async throws -> Data? {
        do {
            let data = try await next()
            await transfer.deliverReports(waits: data == nil || !transfer.usesLoopClock)
            return data
        } catch {
            if !transfer.isCancelled { await transfer.deliverReports(waits: true) }
            throw error
        }
    }

    private func next() async throws -> Data? {
        if Task.isCancelled { transfer.cancel() }
        switch try transfer.take() {
        case .chunk(let data): return data
        case .end: return nil
        case .nothing: break
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { transfer.read(Transfer.Reader($0)) }
        } onCancel: {
            transfer.cancel()
        }
    }

    func cancel() { transfer.cancel() }
}

/// The received bytes of a streamed body, as chunks of bounded size.
struct ChunkBuffer: ~Copyable {
    private(set) var count = 0
    private(set) var takes = 0
    private var full: [Data] = []
    private var current: PooledChunk?

    /// The size from which a chunk accepts only bytes that fit completely.
    static let chunkBytes = ChunkPool.chunkBytes

    mutating func append(_ bytes: Span<UInt8>) -> Bool {
        var done = 0
        while done < bytes.count {
            let filled = current?.count ?? 0
            let rest = bytes.count - done
            if filled == ChunkPool.size || filled >= Self.chunkBytes && filled + rest > ChunkPool.size { close() }
            if current == nil { current = PooledChunk() }
            guard let part = current?.append(bytes, from: done) else { return false }
            done += part
            count += part
        }
        return true
    }

    private mutating func close() {
        if let chunk = takeCurrent() { full.append(chunk) }
    }

    private mutating func takeCurrent() -> Data? { current.take()?.data() }

    mutating func take() -> Data {
        let chunk = full.isEmpty ? takeCurrent() ?? Data() : full.removeFirst()
        count -= chunk.count
        takes += 1
        return chunk
    }
}
#endif
