#if os(Linux)
    import Errand
    #if canImport(FoundationEssentials)
        import FoundationEssentials
    #else
        import Foundation
    #endif

    /// The body of an answer, pulled by its reader; a reader that stops pauses the transfer.
    final class StreamedBody: HTTPBodySource {
        private let transfer: Transfer

        init(_ transfer: Transfer) { self.transfer = transfer }

        func nextChunk() async throws -> Data? {
            if Task.isCancelled { transfer.cancel() }
            switch try transfer.take() {
            case .chunk(let data): return data
            case .end: return nil
            case .nothing: break
            }
            return try await withTaskCancellationHandler {
                try await withUnsafeThrowingContinuation { transfer.read($0) }
            } onCancel: {
                transfer.cancel()
            }
        }

        func cancel() { transfer.cancel() }
    }
#endif
