import Errand
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One exchange, from the call of `send` to the last byte that its reader takes.
final class Transfer: Sendable {
    typealias Waiter = CheckedContinuation<Void, any Error>
    typealias Reader = CheckedContinuation<Data?, any Error>

    struct State: Sendable {
        /// Both nil from the end on, so that a body that was read keeps no connection.
        var session: URLSession?
        var task: URLSessionTask?
        var waiter: Waiter?
        var reader: Reader?
        var watch: Task<Void, Never>?
        var response: HTTPURLResponse?
        var buffer = Data()
        var failure: ErrandError?
        var isAnswered = false
        var isOver = false
        /// The reader is behind: wanted, and done.
        var isHeldBack = false
        var isSuspended = false
        var started: ContinuousClock.Instant?
        var requestSent: ContinuousClock.Instant?
        var firstByte: ContinuousClock.Instant?
        var lastHeard: ContinuousClock.Instant
        var progress = TransferProgress()
        var reported: Int64 = 0
        var timings: TransferTimings?
    }

    let request: HTTPRequest
    let options: TransportOptions
    let upload: Upload
    let delegate: SessionDelegate
    let queue: DispatchQueue
    let isStreamed: Bool
    let state: Mutex<State>

    init(_ request: HTTPRequest, _ options: TransportOptions, _ upload: Upload, _ transport: URLSessionTransport) {
        self.request = request
        self.options = options
        self.upload = upload
        (delegate, queue) = (transport.delegate, transport.queue)
        isStreamed = options.delivery != .data
        var progress = TransferProgress()
        if case .none = upload.source {} else { progress.totalToSend = upload.length }
        state = Mutex(State(session: transport.session, lastHeard: options.time.now, progress: progress))
    }

    /// Sends the request; returns when the head is there, or for delivery as data the whole answer.
    func response() async throws -> HTTPResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { begin($0) }
        } onCancel: {
            cancel()
        }
        let (head, data) = state.withLock { state in
            defer { if !isStreamed { state.buffer = Data() } }
            return (state.response, isStreamed ? nil : state.buffer)
        }
        guard let head else { throw ErrandError(.invalidResponse, "there is no head in the answer") }
        let headers = ResponseFields.headers(of: head, for: request.method)
        let body = data.map { HTTPBody($0) } ?? HTTPBody(source: StreamedBody(self))
        return HTTPResponse(
            url: request.url, status: head.statusCode, headers: headers, body: body, version: httpVersion)
    }

    private var httpVersion: String? { state.withLock { $0.timings?.httpVersion } }

    private func begin(_ waiter: Waiter) {
        let failure = state.withLock { state -> ErrandError? in
            if state.failure == nil { state.waiter = waiter }
            return state.failure
        }
        if let failure { return waiter.resume(throwing: failure) }
        let watch = Task { await watchSilence() }
        let isOver = state.withLock { state in
            if !state.isOver { state.watch = watch }
            return state.isOver
        }
        if isOver { watch.cancel() }
        queue.async { [self] in start() }
    }

    private func start() {
        guard let session = state.withLock({ $0.isOver ? nil : $0.session }) else { return }
        let task = upload.makeTask(urlRequest(), session, self)
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            state.started = options.time.now
            state.lastHeard = options.time.now
            return state.isOver
        }
        if isOver { return task.cancel() }
        prepare(task)
        delegate.add(self, for: task)
        upload.begin(self)
        task.resume()
    }

    /// The request as URLSession wants it; the body comes from `upload`.
    func urlRequest() -> URLRequest {
        var result = URLRequest(url: request.url)
        result.httpMethod = request.method.rawValue
        result.timeoutInterval = URLSessionTransport.never
        result.cachePolicy = .reloadIgnoringLocalCacheData
        result.httpShouldHandleCookies = false
        result.allowsCellularAccess = options.tags[AllowsCellularAccess.self]
        result.setHeaders(request.headers)
        return result
    }

    /// From any thread, at any moment: whoever waits is answered first.
    func cancel() { fail(ErrandError(.cancelled, "the transfer was cancelled")) }

    /// Ends it from our side.
    func fail(_ error: ErrandError) {
        let task = end(error)
        guard let task else { return }
        queue.async { task.cancel() }
    }

    /// A failure after the head carries what came: the head, and of a body that is collected here its beginning. Core
    /// does that for a stream.
    private func withEvidence(_ error: ErrandError) -> ErrandError {
        let (head, data) = state.withLock { ($0.response, $0.buffer.prefix(64 << 10)) }
        guard let head, !isStreamed, error.response == nil, !error.isCancelled else { return error }
        var error = error
        error.response = HTTPResponse(
            url: request.url, status: head.statusCode, headers: ResponseFields.headers(of: head, for: request.method),
            body: HTTPBody(Data(data)))
        return error
    }

    /// The end, whoever brings it; nil if it was over before.
    @discardableResult
    func end(_ failure: ErrandError?) -> URLSessionTask? {
        let timings = finalTimings()
        let error = failure.map(withEvidence)
        let ended = state.withLock { state -> (State, Data?)? in
            if state.isOver { return nil }
            state.isOver = true
            state.failure = error
            state.timings = timings
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
        return old.task
    }
}

// MARK: What the session tells

extension Transfer {
    /// Bytes between two reports of progress.
    private static let progressStep: Int64 = 128 << 10

    func receive(_ response: HTTPURLResponse) {
        let now = options.time.now
        // On Linux each 1xx answer arrives like a head.
        let isInformational = (100...199).contains(response.statusCode) && response.statusCode != 101
        let waiter = state.withLock { state -> Waiter? in
            state.lastHeard = now
            if isInformational || state.isOver { return nil }
            if state.firstByte == nil { state.firstByte = now }
            state.response = response
            if response.expectedContentLength >= 0, !ResponseFields.isDecoded(response, for: request.method) {
                state.progress.totalToReceive = response.expectedContentLength
            }
            if !isStreamed { return nil }
            state.isAnswered = true
            defer { state.waiter = nil }
            return state.waiter
        }
        if isInformational {
            let headers = ResponseFields.headers(of: response, for: .head)
            options.report(.informational(status: response.statusCode, headers: headers))
        }
        waiter?.resume()
    }

    func receive(_ data: Data) {
        let now = options.time.now
        enum Verdict { case taken, tooLarge, holdBack }
        let (verdict, reader, chunk, progress) = state.withLock { state in
            state.lastHeard = now
            if state.isOver { return (Verdict.taken, nil as Reader?, nil as Data?, nil as TransferProgress?) }
            state.progress.received += Int64(data.count)
            var progress: TransferProgress?
            if state.progress.received + state.progress.sent - state.reported >= Self.progressStep {
                state.reported = state.progress.received + state.progress.sent
                progress = state.progress
            }
            if isStreamed, let reader = state.reader {
                state.reader = nil
                return (.taken, reader, data, progress)
            }
            state.buffer.append(data)
            if !isStreamed, state.buffer.count > options.bodyLimit { return (.tooLarge, nil, nil, progress) }
            return (isStreamed ? .holdBack : .taken, nil, nil, progress)
        }
        reader?.resume(returning: chunk)
        if let progress { options.report(.progress(progress)) }
        switch verdict {
        case .taken: break
        case .tooLarge:
            fail(ErrandError(.bodyTooLarge, "the body is longer than the limit of \(options.bodyLimit) bytes"))
        case .holdBack: holdBack()
        }
    }

    func noteSent(_ total: Int64) {
        let now = options.time.now
        let progress = state.withLock { state -> TransferProgress? in
            state.lastHeard = now
            state.progress.sent = max(total, state.progress.sent)
            let isWhole = state.progress.sent == upload.length
            if isWhole, state.requestSent == nil { state.requestSent = now }
            let isStep = state.progress.received + state.progress.sent - state.reported >= Self.progressStep
            guard isStep || isWhole else { return nil }
            state.reported = state.progress.received + state.progress.sent
            return state.progress
        }
        if let progress { options.report(.progress(progress)) }
    }

    /// The task is over. On Linux a redirect that leads nowhere is told of here only, and its body is lost.
    func complete(_ task: URLSessionTask, _ error: (any Error)?) {
        if let error { return _ = end(ErrandError(urlSession: error)) }
        if state.withLock({ $0.response == nil }), let response = task.response as? HTTPURLResponse {
            receive(response.withoutLength)
        }
        let hasHead = state.withLock { $0.response != nil }
        end(hasHead ? nil : ErrandError(.invalidResponse, "there is no head in the answer"))
    }

    private func finalTimings() -> TransferTimings {
        let now = options.time.now
        return state.withLock { state in
            if let timings = state.timings { return timings }
            var timings = TransferTimings()
            guard let started = state.started else { return timings }
            timings.total = started.duration(to: now)
            timings.requestSent = state.requestSent.map { started.duration(to: $0) }
            timings.firstByte = state.firstByte.map { started.duration(to: $0) }
            if state.progress.sent > 0 || upload.length == 0 { timings.bytesSent = state.progress.sent }
            if let response = state.response, !ResponseFields.isDecoded(response, for: request.method) {
                timings.bytesReceived = state.progress.received
            }
            return timings
        }
    }
}

// MARK: Silence and the reader

extension Transfer {
    /// Ends it after a silence. What a reader has not taken yet does not count.
    func watchSilence() async {
        while true {
            let last = state.withLock { $0.isOver ? nil : $0.isHeldBack ? options.time.now : $0.lastHeard }
            guard let last else { return }
            let (deadline, now) = (last + options.timeout, options.time.now)
            if deadline <= now { return fail(ErrandError(.timedOut, "nothing was heard for \(options.timeout)")) }
            guard (try? await options.time.sleep(until: deadline)) != nil else { return }
        }
    }

    /// Answers the reader with what there is, now or later.
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
        letGo()
    }
}

/// The body of an answer, pulled by its reader.
final class StreamedBody: HTTPBodySource {
    private let transfer: Transfer

    init(_ transfer: Transfer) { self.transfer = transfer }

    func nextChunk() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { transfer.read($0) }
        } onCancel: {
            transfer.cancel()
        }
    }

    func cancel() { transfer.cancel() }
}
