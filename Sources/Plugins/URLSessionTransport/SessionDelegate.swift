import Errand
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Passes the session's delegate calls to the transfers that they belong to. On Linux, all sessions share one queue for
/// these calls, so they must not block.
class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Sendable: its only state is in a Mutex, and subclasses add only constants.

    private let transfers = Mutex<[Int: SessionTransfer]>([:])

    /// Throws if the server policy can't be applied to the URL.
    func check(_ url: URL) throws(ErrandError) {}

    func prepare(_ session: URLSession) async {}

    func add(_ transfer: SessionTransfer, for task: URLSessionTask) {
        transfers.withLock { $0[task.taskIdentifier] = transfer }
    }

    func transfer(_ task: URLSessionTask) -> SessionTransfer? { transfers.withLock { $0[task.taskIdentifier] } }

    func remove(_ task: URLSessionTask) -> SessionTransfer? {
        transfers.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { transfer(dataTask)?.receive(response) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transfer(task)?.noteSent(totalBytesSent)
    }

    /// Rejects the redirect, which makes it the response. The core follows redirects.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // Answering for a cancelled task would end the process. Tasks are cancelled on this queue, so the check is
        // reliable.
        guard let transfer = transfer(task) else { return }
        transfer.queue.async { if !transfer.isOver { completionHandler(nil) } }
        #else
        completionHandler(nil)
        #endif
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        respond(to: challenge, of: task, completionHandler)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        guard let transfer = transfer(task) else { return completionHandler(nil) }
        transfer.upload.reopen(for: transfer, completionHandler)
    }

    /// Reports that the task waits for a network. Called only if the configuration has `waitsForConnectivity`.
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        transfer(task)?.options.report(.waitingForConnectivity)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        remove(task)?.complete(task, error)
    }
}
