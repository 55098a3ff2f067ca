#if os(Linux)
import CErrandCurl
import Errand
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Glibc
import Synchronization

/// One exchange on the wire, from the call of `send` to the last byte that its reader takes.
final class Transfer: @unchecked Sendable {
    // Sendable: `shared` is a Mutex, the constants are Sendable, and all other fields are touched by the holder of the
    // loop's driver lock until the waiter is resumed; `head`, `collected` and `timings` by the waiter alone from then on.

    typealias Waiter = UnsafeContinuation<Void, any Error>
    typealias Reader = UnsafeContinuation<Data?, any Error>

    let request: HTTPRequest
    let options: TransportOptions
    let loop: CurlLoop
    let upload: Upload
    let isStreamed: Bool
    /// Whether content codings were asked for here and are taken off here.
    let decodes: Bool
    let usesLoopClock: Bool
    private let patience: UInt64
    private let created = Nanoseconds.now

    var handle: EasyHandle?
    var index: Int?
    var hasStarted = false
    var lastHeard: UInt64 = 0
    var head = ResponseHead()
    private var trailers = ResponseHead()
    private var collected = ByteBuffer()
    private var timings: TransferTimings?
    private(set) var queued: Duration?
    private var failure: ErrandError?
    private var headerBytes = 0
    private var isReceivePaused = false
    private var isSendPaused = false
    private var uploadOffset = 0
    private var progress = TransferProgress()
    private var reported: Int64 = 0

    private let shared = Mutex(Shared())

    /// What the reader's threads and the loop share.
    private struct Shared: ~Copyable {
        var waiter: Waiter?
        var reader: Reader?
        var buffer = ByteBuffer()
        var isFlushPending = false
        var isPaused = false
        var isCancelled = false
        var isOver = false
        var failure: ErrandError?
        var lastHeard: ContinuousClock.Instant?
    }

    /// A body in memory up to this size is handed to libcurl at once, to be sent with the head.
    static let copiedBodyBytes = 64 << 10
    /// What a stream holds for its reader before the transfer is paused.
    static let highWater = 256 << 10
    /// A reader that waits gets a chunk at once when it is this large, otherwise at the end of the loop's round.
    static let chunkBytes = 128 << 10
    private static let progressStep: Int64 = 128 << 10

    init(_ request: HTTPRequest, _ options: TransportOptions, _ loop: CurlLoop) throws {
        self.request = request
        self.options = options
        self.loop = loop
        isStreamed = options.delivery != .data
        decodes =
            loop.configuration.decodesContent && !request.headers.contains("Accept-Encoding")
            && !request.headers.contains("Range")
        usesLoopClock = options.time is SystemTimeSource
        patience = Nanoseconds.of(options.timeout)
        upload = try Upload(request)
    }

    static var cancelled: ErrandError { ErrandError(.cancelled, "the transfer was cancelled") }
}

// MARK: The caller's side

extension Transfer {
    /// Sends the request; returns when the head is there, or for delivery as data the whole answer.
    func response() async throws -> HTTPResponse {
        do {
            try await withTaskCancellationHandler {
                try await withUnsafeThrowingContinuation { wait($0) }
            } onCancel: {
                cancel()
            }
        } catch {
            if let timings = isStreamed ? nil : timings { options.report(.timings(timings)) }
            throw error
        }
        do { return try answered() } catch {
            cancel()
            throw error
        }
    }

    private func answered() throws -> HTTPResponse {
        guard head.status > 0 else {
            throw ErrandError(.invalidResponse, "the status line of the answer is not valid")
        }
        var response = HTTPResponse(
            url: request.url, status: head.status, headers: head.headers, version: head.version)
        let codings = codings(of: response)
        if !codings.isEmpty {
            // Both speak of the bytes on the wire.
            response.headers.remove(.contentEncoding)
            response.headers.remove(.contentLength)
        }
        if isStreamed {
            response.body = HTTPBody(source: try StreamedBody(self, codings))
        } else {
            let data = collected.take()
            options.report(.progress(progress))
            if let timings { options.report(.timings(timings)) }
            response.body = HTTPBody(
                codings.isEmpty ? data : try ContentDecoder.decode(data, codings, upTo: options.bodyLimit))
        }
        return response
    }

    /// The codings to take off; none if one of them is not known here.
    private func codings(of response: HTTPResponse) -> [ContentCoding] {
        guard decodes, hasBody, let value = response.headers[.contentEncoding] else { return [] }
        return ContentCoding.list(value) ?? []
    }

    private var hasBody: Bool { request.method != .head && head.status != 204 && head.status != 304 }

    private func wait(_ waiter: Waiter) {
        let isCancelled = shared.withLock { shared in
            if !shared.isCancelled { shared.waiter = waiter }
            return shared.isCancelled
        }
        if isCancelled { return waiter.resume(throwing: Self.cancelled) }
        if !usesLoopClock { heardByClock() }
        loop.start(self)
    }

    var isCancelled: Bool { shared.withLock { $0.isCancelled } }

    /// From any thread, at any moment: whoever waits is answered first.
    func cancel() { give(up: Self.cancelled) }

    private func give(up error: ErrandError) {
        let (waiter, reader, wasOver) = shared.withLock { shared in
            defer { (shared.waiter, shared.reader, shared.isCancelled) = (nil, nil, true) }
            if shared.failure == nil { shared.failure = error }
            return (shared.waiter, shared.reader, shared.isCancelled || shared.isOver)
        }
        waiter?.resume(throwing: error)
        reader?.resume(throwing: error)
        upload.stop()
        if !wasOver { loop.submit(.stop(self)) }
    }

    /// What a reader finds without waiting.
    enum Found {
        case chunk(Data)
        case end
        case nothing
    }

    func take() throws -> Found {
        let (found, isPaused) = try shared.withLock { shared throws(ErrandError) -> (Found, Bool) in
            if shared.isCancelled { throw shared.failure ?? Self.cancelled }
            if shared.buffer.count > 0 {
                defer { shared.isPaused = false }
                return (.chunk(shared.buffer.take()), shared.isPaused)
            }
            if let failure = shared.failure { throw failure }
            return (shared.isOver ? .end : .nothing, false)
        }
        if isPaused { loop.submit(.resume(self)) }
        return found
    }

    /// Answers the reader with the next chunk, now or later.
    func read(_ reader: Reader) {
        do {
            let found: Found? = shared.withLock { shared in
                let isQuiet = shared.buffer.count == 0 && shared.failure == nil
                guard isQuiet && !shared.isOver && !shared.isCancelled else { return nil }
                shared.reader = reader
                return .nothing
            }
            if found != nil { return }
            switch try take() {
            case .chunk(let data): reader.resume(returning: data)
            case .end, .nothing: reader.resume(returning: nil)
            }
        } catch {
            reader.resume(throwing: error)
        }
    }
}

// MARK: The loop's side, under its driver lock

extension Transfer {
    /// A connection is being made or used from now on; waiting for a free one is over.
    func noteStart() {
        if hasStarted { return }
        hasStarted = true
        lastHeard = Nanoseconds.now
        queued = .nanoseconds(Int64(lastHeard - created))
        if !usesLoopClock { heardByClock() }
        loop.expectSilence(of: self)
    }

    func heard() {
        lastHeard = loop.now
        if !usesLoopClock { heardByClock() }
    }

    /// One header line; false ends the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        heard()
        headerBytes += line.count
        guard headerBytes <= loop.configuration.maximumHeaderBytes else {
            return fail(
                .invalidResponse,
                "the answer has more than \(loop.configuration.maximumHeaderBytes) bytes of headers")
        }
        if head.isComplete {
            // Only a refused expectation makes libcurl send again and receive a second head.
            guard head.status == 417, line.starts(with: "HTTP/".utf8), !isAnswered else {
                return trailers.add(line)
            }
            head.restart()
        }
        guard head.add(line) else { return fail(.transportFailed, "there is no memory for the headers") }
        if !head.isComplete { return true }
        if head.status >= 100 && head.status < 200 && head.status != 101 {
            options.report(.informational(status: head.status, headers: head.headers))
            head.restart()
            return true
        }
        return receiveHead()
    }

    private func receiveHead() -> Bool {
        if hasBody, let length = handle?.announcedLength {
            progress.totalToReceive = length
            if !isStreamed {
                guard length <= Int64(options.bodyLimit) else { return failTooLarge() }
                collected.reserve(min(Int(length), 1 << 20))
            }
        }
        if isStreamed && !(head.status == 417 && request.headers.contains("Expect")) { answer() }
        return true
    }

    private var isAnswered: Bool { isStreamed && shared.withLock { $0.waiter == nil } }

    private func answer() {
        let waiter = shared.withLock { shared in
            defer { shared.waiter = nil }
            return shared.waiter
        }
        waiter?.resume()
    }

    /// Bytes of the body; answers how many were taken, or libcurl's sign for a pause.
    func receive(_ bytes: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
        heard()
        if isStreamed {
            if head.status == 417 { answer() }
            let taken = feed(bytes, count)
            if taken != count {
                isReceivePaused = taken != 0
                return taken
            }
        } else {
            guard collected.count + count <= options.bodyLimit else { return failTooLarge() ? count : 0 }
            guard collected.append(bytes, count) else { return 0 }
        }
        progress.received += Int64(count)
        reportProgress()
        return count
    }

    private func feed(_ bytes: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
        // A pointer may not be captured, an address may; it is read within this call only.
        let address = UInt(bitPattern: bytes)
        var isFirst = false
        let (taken, reader, chunk) = shared.withLock { shared -> (Int, Reader?, Data?) in
            if shared.isCancelled { return (0, nil, nil) }
            if shared.buffer.count >= Self.highWater {
                shared.isPaused = true
                return (Int(ERRAND_CURL_WRITEFUNC_PAUSE), nil, nil)
            }
            if shared.buffer.count == 0 { shared.buffer.reserve(Self.chunkBytes + (32 << 10)) }
            guard let bytes = UnsafeRawPointer(bitPattern: address), shared.buffer.append(bytes, count) else {
                return (0, nil, nil)
            }
            if let reader = shared.reader, shared.buffer.count >= Self.chunkBytes {
                shared.reader = nil
                return (count, reader, shared.buffer.take())
            }
            isFirst = !shared.isFlushPending
            shared.isFlushPending = true
            return (count, nil, nil)
        }
        reader?.resume(returning: chunk)
        if isFirst { loop.needsFlush(self) }
        return taken
    }

    /// Hands a waiting reader what there is.
    func flush() {
        let (reader, chunk) = shared.withLock { shared -> (Reader?, Data?) in
            shared.isFlushPending = false
            guard let reader = shared.reader, shared.buffer.count > 0 else { return (nil, nil) }
            shared.reader = nil
            return (reader, shared.buffer.take())
        }
        reader?.resume(returning: chunk)
    }

    /// The next bytes of the request's body for libcurl.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        heard()
        let count: Int
        switch upload {
        case .none: return 0
        case .data(let data):
            count = data.dropFirst(uploadOffset).copyBytes(to: buffer)
            uploadOffset += count
        case .stream(let stream):
            switch stream.read(into: buffer, for: self) {
            case .bytes(let taken): count = taken
            case .wait:
                isSendPaused = true
                return Int(ERRAND_CURL_READFUNC_PAUSE)
            case .failed(let error):
                failure = error
                return Int(ERRAND_CURL_READFUNC_ABORT)
            }
        }
        progress.sent += Int64(count)
        progress.totalToSend = upload.length
        reportProgress()
        return count
    }

    /// libcurl sends the body again on a fresh connection, because a reused one turned out closed.
    func seek(to offset: Int64) -> Bool {
        switch upload {
        case .none: return true
        case .data(let data):
            guard offset >= 0, offset <= Int64(data.count) else { return false }
            uploadOffset = Int(offset)
            progress.sent = offset
            return true
        case .stream(let stream): return offset == 0 && !stream.isBegun
        }
    }

    private func reportProgress() {
        guard progress.received + progress.sent - reported >= Self.progressStep else { return }
        reported = progress.received + progress.sent
        options.report(.progress(progress))
    }

    /// The halves that stay paused when a reader or a body goes on.
    func pausedHalves() -> Int32 {
        if isReceivePaused { isReceivePaused = shared.withLock { $0.isPaused } }
        if isSendPaused, case .stream(let stream) = upload { isSendPaused = stream.isEmpty }
        return (isReceivePaused ? ERRAND_CURLPAUSE_RECV : 0) | (isSendPaused ? ERRAND_CURLPAUSE_SEND : 0)
    }

    private func fail(_ code: ErrandError.Code, _ message: String) -> Bool {
        failure = ErrandError(code, message)
        return false
    }

    private func failTooLarge() -> Bool {
        fail(.bodyTooLarge, "the body is longer than the limit of \(options.bodyLimit) bytes")
    }

    /// What became of it in libcurl's eyes and in our own; nil if all is well.
    func verdict(_ code: Int32, _ handle: EasyHandle) -> ErrandError? {
        if let failure { return failure }
        if code == 0 {
            if head.isComplete { return nil }
            return ErrandError(.connectionLost, "the connection was closed within the head of the answer")
        }
        var failure = handle.failure(code)
        failure.hasHead = head.isComplete
        return failure.error
    }

    /// The transfer is over on the wire; called once, unless it was cancelled before it began.
    func finish(_ error: ErrandError?, _ timings: TransferTimings?) {
        upload.stop()
        self.timings = timings
        if isStreamed {
            if !trailers.isEmpty { options.report(.trailers(trailers.trailers)) }
            if progress.received + progress.sent > reported { options.report(.progress(progress)) }
            if let timings { options.report(.timings(timings)) }
        } else if !trailers.isEmpty {
            options.report(.trailers(trailers.trailers))
        }
        let (waiter, reader, chunk) = shared.withLock { shared -> (Waiter?, Reader?, Data?) in
            shared.isOver = true
            if shared.failure == nil { shared.failure = error }
            let chunk = shared.reader != nil && shared.buffer.count > 0 ? shared.buffer.take() : nil
            defer { (shared.waiter, shared.reader) = (nil, nil) }
            return (shared.waiter, shared.reader, chunk)
        }
        if let error {
            waiter?.resume(throwing: error)
            if let chunk { reader?.resume(returning: chunk) } else { reader?.resume(throwing: error) }
        } else {
            waiter?.resume()
            reader?.resume(returning: chunk)
        }
    }
}

// MARK: Silence

extension Transfer {
    /// Nil while the transfer waits for a connection or for us: that is not the server's silence.
    var silenceDeadline: UInt64? {
        guard usesLoopClock, hasStarted, !isReceivePaused, !isSendPaused else { return nil }
        let (deadline, isBeyond) = lastHeard.addingReportingOverflow(patience)
        return isBeyond ? nil : deadline
    }

    var silenceError: ErrandError {
        let when =
            head.isComplete ? "in the body of the answer" : progress.sent > 0 ? "after sending" : "before an answer"
        return ErrandError(.timedOut, "nothing was heard for \(options.timeout), \(when)")
    }

    private func heardByClock() {
        let now = options.time.now
        shared.withLock { $0.lastHeard = now }
    }

    /// Ends the transfer after a silence on a clock that is not the system's.
    func watchSilence() async {
        while true {
            let last = shared.withLock { $0.isOver || $0.isCancelled ? nil : $0.lastHeard ?? options.time.now }
            guard let last, (try? await options.time.sleep(until: last + options.timeout)) != nil else { return }
            let isSilent = shared.withLock { !$0.isPaused && ($0.lastHeard ?? last) == last }
            if isSilent { return give(up: ErrandError(.timedOut, "nothing was heard for \(options.timeout)")) }
        }
    }
}
#endif
