#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import Synchronization

/// A response body that its reader pulls; the transfer pauses if the reader stops. The reader also decodes the body, so
/// decoding doesn't delay other transfers.
final class StreamedBody: HTTPBodySource {
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

    /// Returns the next piece. Before the end or a failure, accessories receive all earlier events.
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
#endif
