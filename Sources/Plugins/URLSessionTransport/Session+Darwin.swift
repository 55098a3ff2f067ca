#if !canImport(FoundationNetworking)
import Errand
import Foundation
import Synchronization

/// Returns nil, so the session creates its own serial queue.
func makeDelegateQueue() -> OperationQueue? { nil }

extension SessionTransfer {
    /// The number of waiting bytes at which the task is suspended.
    private static let highWater = 256 << 10

    func restrict(_ request: inout URLRequest) {
        request.allowsExpensiveNetworkAccess = options.tags[AllowsExpensiveNetworkAccess.self]
        request.allowsConstrainedNetworkAccess = options.tags[AllowsConstrainedNetworkAccess.self]
    }

    func prepare(_ task: URLSessionTask) {
        switch options.priority {
        case .low: task.priority = URLSessionTask.lowPriority
        case .medium: task.priority = URLSessionTask.defaultPriority
        case .high: task.priority = URLSessionTask.highPriority
        }
    }

    /// Suspends the task if too many bytes wait for the reader. Bytes in flight still arrive.
    func suspendReading() {
        let isDue = state.withLock { state in
            if state.isReaderBehind || state.isOver || state.buffer.count < Self.highWater { return false }
            state.isReaderBehind = true
            return true
        }
        if isDue { queue.async { [self] in settle() } }
    }

    func resumeReading() {
        let now = options.time.now
        let isDue = state.withLock { state in
            if !state.isReaderBehind { return false }
            state.isReaderBehind = false
            state.lastActivity = now
            return true
        }
        if isDue { queue.async { [self] in settle() } }
    }

    /// Suspends or resumes the task. Runs on the transport's queue, which keeps these calls in order.
    private func settle() {
        let (task, isReaderBehind, wasSuspended) = state.withLock { state in
            defer { state.isSuspended = state.isReaderBehind && !state.isOver }
            return (state.task, state.isReaderBehind && !state.isOver, state.isSuspended)
        }
        if isReaderBehind, !wasSuspended { task?.suspend() }
        if !isReaderBehind, wasSuspended { task?.resume() }
    }
}

extension ResponseFields {
    /// The system decodes zstd since the release of Safari 26.3.
    static var hasZstd: Bool {
        if #available(macOS 26.3, iOS 26.3, tvOS 26.3, watchOS 26.3, visionOS 26.3, *) { true } else { false }
    }
}

extension SessionDelegate {
    func respond(
        to challenge: URLAuthenticationChallenge, of task: URLSessionTask,
        _ completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // The session doesn't have a credential store, so its default handling makes a 401 the response.
        guard let policy = (self as? ChallengedDelegate)?.policy else {
            return completionHandler(.performDefaultHandling, nil)
        }
        policy.decide(challenge) { [transfer = transfer(task)] decision in
            switch decision {
            case .standard: completionHandler(.performDefaultHandling, nil)
            case .credential(let credential): completionHandler(.useCredential, credential)
            case .refuse(let reason):
                transfer?.fail(ErrandError(.insecureConnection, reason))
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
        }
    }

    @objc(URLSession:task:didReceiveInformationalResponse:)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {
        transfer(task)?.receive(response)
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

extension SessionUpload {
    /// The session asks for a new stream if a reused connection closes after the body has begun.
    func reopen(for transfer: SessionTransfer, _ completionHandler: @escaping @Sendable (InputStream?) -> Void) {
        transfer.queue.async { [self] in
            guard let body = reopened() else { return completionHandler(nil) }
            let pump = StreamPump(body, length: length)
            guard replacePump(pump) else {
                pump.end()
                return completionHandler(nil)
            }
            completionHandler(pump.input)
            pump.begin(transfer)
        }
    }

    static func streamed(_ body: HTTPBody, _ announced: Int64?) async throws -> (Source, Int64?) {
        (.stream(StreamPump(body, length: announced)), announced)
    }
}
#endif
