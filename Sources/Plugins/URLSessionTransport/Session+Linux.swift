#if canImport(FoundationNetworking)
import Errand
import Foundation
import FoundationNetworking

/// Runs delegate calls directly on the session's internal queue, which saves switching to another queue.
private final class InlineQueue: OperationQueue, @unchecked Sendable {
    // Sendable: this subclass doesn't add state.
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}

func makeDelegateQueue() -> OperationQueue? { InlineQueue() }

extension SessionTransfer {
    /// Removes `Expect` from the request. With `Expect`, the final response can arrive before the 100. The session
    /// would then send the next request while the server may still wait for this body.
    ///
    /// Doesn't restrict the network, because restrictions don't exist on Linux.
    func restrict(_ request: inout URLRequest) { request.setValue(nil, forHTTPHeaderField: "Expect") }

    func prepare(_ task: URLSessionTask) {}

    /// Does nothing. A suspended task would start over from its first byte, so a slow reader costs memory instead.
    func suspendReading() {}
    func resumeReading() {}
}

extension ResponseFields {
    /// Always `true`: if libcurl can't decode zstd, it fails instead of delivering the encoded body.
    static var hasZstd: Bool { true }
}

extension SessionDelegate {
    /// Makes a 401 the response, which is the only challenge on Linux. Without a disposition, the task would never end.
    /// The completion runs on the transport's queue, because cancelling blocks the current queue.
    func respond(
        to challenge: URLAuthenticationChallenge, of task: URLSessionTask,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let transfer = remove(task)
        transfer?.complete(task, nil)
        (transfer?.queue ?? DispatchQueue.global()).async {
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    }
}

/// Not used on Linux, where all sessions read streams on one shared queue that must not block.
final class StreamPump: Sendable {
    private init() {}
    func attach(to request: inout URLRequest, length: Int64?) {}
    func begin(_ transfer: SessionTransfer) {}
    func end() {}
}

extension SessionUpload {
    /// Never called, because bodies are in memory or in a file.
    func reopen(for transfer: SessionTransfer, _ completionHandler: @escaping @Sendable (InputStream?) -> Void) {
        completionHandler(nil)
    }

    /// The maximum number of bytes to keep in memory. A longer body is written to a file that only its owner can read.
    private static let inMemory = 1 << 20

    /// Reads the whole source first, so the session knows the length and never waits.
    static func streamed(_ body: HTTPBody, _ announced: Int64?) async throws -> (Source, Int64?) {
        var spool = UploadSpool()
        do {
            let count = try await withTaskCancellationHandler {
                try await spool.fill(from: body, inMemory: inMemory, announced: announced)
            } onCancel: {
                body.cancel()
            }
            return (try spool.finish(), count)
        } catch {
            spool.discard()
            body.cancel()
            if Task.isCancelled { throw ErrandError(.cancelled, "the transfer was cancelled") }
            throw failure(error)
        }
    }
}
#endif
