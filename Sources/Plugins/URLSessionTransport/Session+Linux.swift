#if canImport(FoundationNetworking)
import Errand
import Foundation
import FoundationNetworking

/// Runs delegate calls inline on the session's internal queue, which saves a hop for each call.
private final class InlineQueue: OperationQueue, @unchecked Sendable {
    // Sendable: it has no state of its own.
    override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
}

func makeDelegateQueue() -> OperationQueue? { InlineQueue() }

extension SessionTransfer {
    /// Leaves out `Expect`: after a final response before 100, the session would send the next request on the connection
    /// where the server may wait for the body of this one. The other options are unavailable on Linux.
    func restrict(_ request: inout URLRequest) { request.setValue(nil, forHTTPHeaderField: "Expect") }

    /// Priorities have no effect on Linux.
    func prepare(_ task: URLSessionTask) {}

    /// Does nothing: on Linux a suspended task starts over from its first byte, so a slow reader costs memory.
    func suspendReading() {}
    /// Does nothing, because nothing is suspended.
    func resumeReading() {}
}

extension ResponseFields {
    /// On Linux a body of a coding that libcurl does not know is an error.
    static var hasZstd: Bool { true }
}

extension SessionDelegate {
    /// The only challenge on Linux is a 401 whose head and body have arrived: they are the response. Without a disposition
    /// the task would never end; the cancellation runs on the transport's queue because it blocks on the current one.
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

/// Never created on Linux: the session reads streams on the queue that all sessions share, which must not block.
final class StreamPump: Sendable {
    private init() {}
    func attach(to request: inout URLRequest, length: Int64?) {}
    func begin(_ transfer: SessionTransfer) {}
    func end() {}
}

extension SessionUpload {
    /// Never called: every body is in memory or in a file before it is sent.
    func reopen(for transfer: SessionTransfer, _ completionHandler: @escaping @Sendable (InputStream?) -> Void) {
        completionHandler(nil)
    }

    /// The bytes kept in memory until they are sent; a longer body goes through a file that only its owner can read.
    private static let inMemory = 1 << 20

    /// Reads the source to its end before anything is sent, so that the length is known and the session never waits.
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
