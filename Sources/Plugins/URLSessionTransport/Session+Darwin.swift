#if !canImport(FoundationNetworking)
import Errand
import Foundation
import Synchronization

/// The session's own: serial, in the background.
func makeDelegateQueue() -> OperationQueue? { nil }

extension Transfer {
    /// What a stream holds for its reader before the task is suspended.
    private static let highWater = 256 << 10

    func prepare(_ task: URLSessionTask) {
        switch options.priority {
        case .low: task.priority = URLSessionTask.lowPriority
        case .medium: task.priority = URLSessionTask.defaultPriority
        case .high: task.priority = URLSessionTask.highPriority
        }
    }

    /// Stops the task when its reader is behind; what is on its way still comes.
    func holdBack() {
        let isDue = state.withLock { state in
            if state.isHeldBack || state.isOver || state.buffer.count < Self.highWater { return false }
            state.isHeldBack = true
            return true
        }
        if isDue { queue.async { [self] in settle() } }
    }

    /// Lets the task go on once its reader has taken what there was.
    func letGo() {
        let now = options.time.now
        let isDue = state.withLock { state in
            if !state.isHeldBack { return false }
            state.isHeldBack = false
            state.lastHeard = now
            return true
        }
        if isDue { queue.async { [self] in settle() } }
    }

    /// Suspends or resumes as the state says now; on the queue, so that the two never cross.
    private func settle() {
        let (task, isHeldBack, wasSuspended) = state.withLock { state in
            defer { state.isSuspended = state.isHeldBack && !state.isOver }
            return (state.task, state.isHeldBack && !state.isOver, state.isSuspended)
        }
        if isHeldBack, !wasSuspended { task?.suspend() }
        if !isHeldBack, wasSuspended { task?.resume() }
    }
}

extension SessionDelegate {
    func answer(
        _ challenge: URLAuthenticationChallenge, of task: URLSessionTask,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust,
            let policy = (self as? TrustingDelegate)?.trust, let peer = challenge.protectionSpace.serverTrust
        else {
            // Without a credential store a 401 is the answer.
            return completionHandler(.performDefaultHandling, nil)
        }
        if let complaint = policy.complaint(about: peer, of: challenge.protectionSpace.host) {
            transfer(task)?.fail(ErrandError(.insecureConnection, complaint))
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: peer))
    }

    @objc(URLSession:task:didFinishCollectingMetrics:)
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        guard let last = metrics.transactionMetrics.last, let start = last.fetchStartDate else { return }
        func since(_ date: Date?) -> Duration? { date.map { .seconds(max(0, $0.timeIntervalSince(start))) } }
        var timings = TransferTimings()
        timings.isReusedConnection = last.isReusedConnection
        if !last.isReusedConnection {
            timings.nameLookup = since(last.domainLookupEndDate)
            timings.secured = since(last.secureConnectionEndDate)
            timings.connected = since(last.secureConnectionStartDate ?? last.connectEndDate)
        }
        timings.queued = since(last.domainLookupStartDate ?? last.connectStartDate ?? last.requestStartDate)
        timings.requestSent = since(last.requestEndDate)
        timings.firstByte = since(last.responseStartDate)
        timings.total = since(last.responseEndDate)
        timings.bytesSent = last.countOfRequestBodyBytesSent
        timings.bytesReceived = last.countOfResponseBodyBytesReceived
        timings.remoteAddress = last.remoteAddress
        switch last.networkProtocolName {
        case "h2": timings.httpVersion = "2"
        case "h3": timings.httpVersion = "3"
        case let name?: timings.httpVersion = name.hasPrefix("http/") ? String(name.dropFirst(5)) : nil
        case nil: break
        }
        transfer(task)?.state.withLock { $0.timings = timings }
    }
}

extension Upload {
    static func streamed(_ body: HTTPBody, _ announced: Int64?) async throws -> (Source, Int64?) {
        (.stream(StreamPump(body, length: announced)), announced)
    }
}
#endif
