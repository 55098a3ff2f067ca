import Errand
import Foundation
import Synchronization

/// Inactivity timeouts, and reading a streamed body.
extension SessionTransfer: SilenceWatched {
    /// Inactivity doesn't count until a slow reader has caught up.
    func endIfSilent(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let last = state.withLock { $0.isOver ? nil : $0.isReaderBehind ? now : $0.lastActivity }
        guard let last else { return nil }
        let deadline = last + options.timeout
        if deadline > now { return deadline }
        fail(ErrandError(.timedOut, "no bytes were sent or received for \(duration: options.timeout)"))
        return nil
    }

    /// For a clock other than the system's, such as a test's clock.
    func watchInactivity() async {
        while let deadline = endIfSilent(now: options.time.now) {
            do { try await options.time.sleep(until: deadline) } catch {
                if Task.isCancelled { return }
                // The time source failed to sleep. Long enough not to keep a processor busy.
                let rest = options.time.now.duration(to: deadline).bounded
                try? await Task.sleep(for: max(rest, .milliseconds(10)))
            }
        }
    }

    func read(_ reader: Reader) {
        let result = state.withLock { state -> Result<Data?, any Error>? in
            if !state.buffer.isEmpty {
                defer { state.buffer = Data() }
                return .success(state.buffer)
            }
            if let failure = state.failure { return .failure(failure) }
            if state.isOver { return .success(nil) }
            state.reader = reader
            return nil
        }
        if let result { reader.resume(with: result) }
        resumeReading()
    }
}

final class StreamedBody: HTTPBodySource {
    private let transfer: SessionTransfer

    init(_ transfer: SessionTransfer) { self.transfer = transfer }

    func nextChunk() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { transfer.read($0) }
        } onCancel: {
            transfer.cancel()
        }
    }

    func cancel() { transfer.cancel() }
}
