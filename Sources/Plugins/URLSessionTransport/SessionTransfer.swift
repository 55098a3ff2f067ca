import Errand
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The transfer of one request and its response, from the call of `send` to the last byte that the reader receives.
final class SessionTransfer: Sendable {
    typealias Waiter = CheckedContinuation<Void, any Error>
    typealias Reader = CheckedContinuation<Data?, any Error>

    struct State: Sendable {
        /// The session. `nil` after the end, so a body doesn't keep the session alive.
        var session: URLSession?
        var task: URLSessionTask?
        var waiter: Waiter?
        var reader: Reader?
        var watch: Task<Void, Never>?
        var response: HTTPURLResponse?
        var isStreamed: Bool
        var buffer = Data()
        var failure: ErrandError?
        var isOver = false
        var isReaderBehind = false
        var isSuspended = false
        var started: ContinuousClock.Instant?
        var requestSent: ContinuousClock.Instant?
        var firstByte: ContinuousClock.Instant?
        var lastActivity: ContinuousClock.Instant
        var progress = TransferProgress()
        var reported: Int64 = 0
        var timings: TransferTimings?
    }

    let request: HTTPRequest
    let options: TransportOptions
    let upload: SessionUpload
    let delegate: SessionDelegate
    let queue: DispatchQueue
    let silence: SilenceWatch?
    let state: Mutex<State>

    init(_ request: HTTPRequest, options: TransportOptions, upload: SessionUpload, transport: URLSessionTransport) {
        self.request = request
        self.options = options
        self.upload = upload
        (delegate, queue) = (transport.delegate, transport.queue)
        silence = options.time is SystemTimeSource ? transport.silence : nil
        var progress = TransferProgress()
        if case .none = upload.source {} else { progress.totalToSend = upload.length }
        state = Mutex(
            State(
                session: transport.session, isStreamed: options.delivery != .data, lastActivity: options.time.now,
                progress: progress))
    }

    /// Returns once the head has arrived, or the whole response if the body is delivered as data.
    func response() async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { begin($0) }
        } onCancel: {
            cancel()
        }
        let (head, data) = state.withLock { state in
            defer { if !state.isStreamed { state.buffer = Data() } }
            return (state.response, state.isStreamed ? nil : state.buffer)
        }
        guard let head else { throw ErrandError(.invalidResponse, "the response ended before its head was complete") }
        let headers = ResponseFields.headers(of: head, for: request.method)
        let body = data.map { HTTPBody($0) } ?? HTTPBody(source: SessionBody(self))
        return HTTPResponse(
            to: request, status: head.statusCode, headers: headers, body: body, version: httpVersion)
    }

    private var httpVersion: String? { state.withLock { $0.timings?.httpVersion } }

    private func begin(_ waiter: Waiter) {
        let failure = state.withLock { state -> ErrandError? in
            if state.failure == nil { state.waiter = waiter }
            return state.failure
        }
        if let failure { return waiter.resume(throwing: failure) }
        watch()
        queue.async { [self] in start() }
    }

    private func watch() {
        if let silence {
            silence.add(self, deadline: options.time.instant(after: options.timeout))
            if state.withLock({ $0.isOver }) { silence.remove(self) }
            return
        }
        let watch = Task { await watchInactivity() }
        let isOver = state.withLock { state in
            if !state.isOver { state.watch = watch }
            return state.isOver
        }
        if isOver { watch.cancel() }
    }

    private func start() {
        guard let session = state.withLock({ $0.isOver ? nil : $0.session }) else { return }
        let task = upload.makeTask(urlRequest(), in: session, for: self)
        let now = options.time.now
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            (state.started, state.lastActivity) = (now, now)
            return state.isOver
        }
        if isOver { return task.cancel() }
        prepare(task)
        delegate.add(self, for: task)
        upload.begin(self)
        task.resume()
    }

    func urlRequest() -> URLRequest {
        var result = URLRequest(url: request.url)
        result.httpMethod = request.method.rawValue
        result.timeoutInterval = URLSessionTransport.never
        result.cachePolicy = .reloadIgnoringLocalCacheData
        result.httpShouldHandleCookies = false
        result.allowsCellularAccess = options.tags[AllowsCellularAccess.self]
        result.setHeaders(request.headers)
        restrict(&result)
        return result
    }

    var isOver: Bool { state.withLock { $0.isOver } }

    /// Cancels the transfer. The waiter resumes before the task is cancelled. Call it from any thread.
    func cancel() { fail(ErrandError(.cancelled, "the transfer was cancelled")) }

    func fail(_ error: ErrandError) {
        let task = end(error)
        guard let task else { return }
        queue.async { task.cancel() }
    }

    /// Adds the head and the beginning of a collected body to an error. For streamed bodies, the core does this.
    private func withEvidence(_ error: ErrandError) -> ErrandError {
        let (head, data, isStreamed) = state.withLock { ($0.response, $0.buffer.prefix(64 << 10), $0.isStreamed) }
        guard let head, !isStreamed, error.response == nil, !error.isCancelled else { return error }
        var error = error
        error.response = HTTPResponse(
            to: request, status: head.statusCode, headers: ResponseFields.headers(of: head, for: request.method),
            body: HTTPBody(Data(data)))
        return error
    }

    @discardableResult
    func end(_ failure: ErrandError?) -> URLSessionTask? {
        let timings = finalTimings()
        let error = failure.map(withEvidence)
        let ended = state.withLock { state -> (State, Data?)? in
            if state.isOver { return nil }
            state.isOver = true
            state.failure = error
            state.timings = timings
            if failure == nil, state.progress.totalToSend == nil, state.progress.sent > 0 {
                state.progress.totalToSend = state.progress.sent
            }
            let old = state
            (state.waiter, state.watch, state.task, state.session) = (nil, nil, nil, nil)
            if error?.isCancelled == true { state.buffer = Data() }
            guard state.reader != nil, !state.buffer.isEmpty else {
                state.reader = nil
                return (old, nil)
            }
            state.reader = nil
            defer { state.buffer = Data() }
            return (old, state.buffer)
        }
        guard let (old, chunk) = ended else { return nil }
        old.watch?.cancel()
        silence?.remove(self)
        upload.end()
        if error?.isCancelled != true {
            if old.progress.received + old.progress.sent > 0 { options.report(.progress(old.progress)) }
            options.report(.timings(timings))
        }
        if let error {
            old.waiter?.resume(throwing: error)
            if let chunk { old.reader?.resume(returning: chunk) } else { old.reader?.resume(throwing: error) }
        } else {
            old.waiter?.resume()
            old.reader?.resume(returning: chunk)
        }
        withExtendedLifetime(old) {}
        return old.task
    }
}

extension SessionTransfer: SilenceWatched {
    /// Ends the transfer after its timeout without bytes. The time in which bytes wait for the reader doesn't count as
    /// inactivity.
    func endIfSilent(now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let last = state.withLock { state -> ContinuousClock.Instant? in
            if state.isOver { return nil }
            let isUnread = state.isStreamed && state.waiter == nil && state.reader == nil && !state.buffer.isEmpty
            return isUnread || state.isReaderBehind ? now : state.lastActivity
        }
        guard let last else { return nil }
        let deadline = last + options.timeout
        if deadline > now { return deadline }
        fail(ErrandError(.timedOut, "no bytes were sent or received for \(duration: options.timeout)"))
        return nil
    }

    /// Watches the transfer with a clock other than the system's, such as a test's.
    func watchInactivity() async {
        while let deadline = endIfSilent(now: options.time.now) {
            await options.time.wait(until: deadline)
            if Task.isCancelled { return }
        }
    }

    func read(_ reader: Reader) {
        let now = options.time.now
        let result = state.withLock { state -> Result<Data?, any Error>? in
            if !state.buffer.isEmpty {
                state.lastActivity = now
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

final class SessionBody: HTTPBodySource {
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
