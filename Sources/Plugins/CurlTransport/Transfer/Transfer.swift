#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials
import Synchronization

/// The transfer of one request and its response, from the call of `send` to the last byte that the reader takes.
final class Transfer: @unchecked Sendable {
    // Sendable: `shared` is a Mutex, and other variables are accessed only under the loop's driver lock until the
    // waiter resumes. Then, only the waiter accesses `head`, `collected` and `timings`.

    typealias Waiter = Resumption<Void, any Error>
    typealias Reader = Resumption<Data?, any Error>

    let request: HTTPRequest
    let target: RequestTarget
    let options: TransportOptions
    let loop: CurlLoop
    let upload: SentBody
    let decodes: Bool
    let usesLoopClock: Bool
    let inactivityLimit: UInt64
    let created = Nanoseconds.now

    var isStreamed: Bool
    var handle: EasyHandle?
    /// The index in the loop's `active` transfers.
    var index: Int?
    var begun: UInt64 = 0
    /// Whether the transfer has a connection, or one is opening.
    var hasStarted = false
    /// When the connection began to open.
    var connecting: UInt64 = 0
    /// Whether the transfer has its connection.
    var isRequested = false
    /// Whether the loop must wake libcurl to try the next address while the transfer connects.
    var isDialing = false
    /// The sockets that libcurl has requested while connecting.
    var dialed: [SocketTable.Hold] = []
    var hasUnwatchedSocket = false
    var isResolving = false
    /// Whether the transfer has ended for its caller while its name lookup is still running.
    var isParked = false
    /// Whether the transfer can use the first connection to its host together with other requests.
    var sharesConnection = false
    var route: AlternativeTable.Route?
    /// The transfer's origin. `nil` unless the transfer runs.
    var origin: Origin?
    /// The origin in whose queue the transfer waits, and its position there.
    var waitsAt: Origin?
    var slot = 0
    /// The sockets of the transfer's connection.
    var held: [SocketTable.Hold] = []
    var lastActivity: UInt64 = 0
    var times = WireTimes()
    var head = ResponseHead()
    var trailers = ResponseHead()
    var collected = ByteBuffer()
    var timings: TransferTimings?
    var queued: Duration?
    var failure: ErrandError?
    var attempts = Attempts()
    var rounds: AddressRounds
    var stream = Stream()
    var socketUse = SocketUse()
    var isReceivePaused = false
    var isSendPaused = false {
        didSet { if !usesLoopClock { shared.withLock { $0.isSendPaused = isSendPaused } } }
    }
    var uploadOffset = 0
    /// Whether the exchange has ended before the source of the request's body.
    var isUploadAbandoned = false
    var watch: Task<Void, Never>?
    var progress = TransferProgress()
    var reported: Int64 = 0
    /// The number of chunks that the reader has taken, now and at the last progress report.
    var (readerTakes, reportedTakes) = (0, 0)
    var roundBytes = 0
    /// When bytes were first held back from a waiting reader, because more are arriving.
    var gatheredSince: UInt64?

    let shared = Mutex(Shared())
    let reports = Mutex(Reports())

    struct Shared: ~Copyable {
        var waiter: Waiter?
        var reader: Reader?
        var buffer = ChunkBuffer()
        var isFlushPending = false
        var isPaused = false
        /// Whether the reader waited for many bytes, and has kept up since.
        var isFast = false
        /// Whether sending is paused. Set only if the transfer's clock isn't the system's.
        var isSendPaused = false
        var isCancelled = false
        var isOver = false
        var failure: ErrandError?
        var lastActivity: ContinuousClock.Instant?
        /// When the reader last took all buffered bytes.
        var emptied: UInt64 = 0

        var isUnread: Bool { reader == nil && buffer.count > 0 }
        var room: Int { isFast || reader != nil ? Transfer.fastHighWater : Transfer.highWater }
    }

    /// libcurl copies a body up to this length and sends it with the head.
    static let copiedBodyBytes = 64 << 10
    /// The transfer pauses at this many buffered bytes.
    static let highWater = 512 << 10
    /// The transfer pauses at this many buffered bytes if its reader keeps up.
    static let fastHighWater = 2 << 20
    /// A paused transfer resumes at this many buffered bytes.
    static let lowWater = 256 << 10
    /// The number of bytes in a round of the loop from which a waiting reader gets the bytes only after the next round.
    static let gatheredBytes = 64 << 10
    static let longestGathering = Nanoseconds.of(milliseconds: 1)
    static let progressStep: Int64 = 128 << 10

    init(_ request: HTTPRequest, options: TransportOptions, loop: CurlLoop) throws {
        target = try RequestTarget(request)
        self.request = request
        self.options = options
        self.loop = loop
        isStreamed = options.delivery != .data
        decodes =
            loop.configuration.decodesContent && !request.headers.contains(.acceptEncoding)
            && !request.headers.contains(.range)
        usesLoopClock = options.time is SystemTimeSource
        inactivityLimit = Nanoseconds.of(options.timeout)
        rounds = AddressRounds(
            limit: loop.connectTimeout, timeout: usesLoopClock ? inactivityLimit : .max,
            isWatched: loop.library.reportsAttempts, loop.library)
        upload = try SentBody(request)
        progress.totalToSend = upload.length
    }

    static var cancelled: ErrandError { ErrandError(.cancelled, "the transfer was cancelled") }
}

// Ends a transfer, under the loop's driver lock.
extension Transfer {
    private var abandonedVerdict: ErrandError? {
        if let length = progress.totalToReceive, hasBody, progress.received < length {
            return ErrandError(.truncated, "the connection was closed before the response's body ended")
        }
        return nil
    }

    var tooLargeRequest: ErrandError {
        let isURL = target.text.utf8.count > Self.longestHead / 2
        return ErrandError(
            isURL ? .invalidURL : .invalidRequest,
            "the \(isURL ? "URL" : "request's head") is too long for libcurl")
    }

    static let longestHead = (1 << 20) - (8 << 10)

    /// Whether the response is complete although libcurl reports a failure to send. If the server doesn't need the rest
    /// of the request, it ends the stream without an error (RFC 9113, section 8.1), which libcurl reports like this.
    private var isWhole: Bool {
        head.isComplete && (!hasBody || progress.totalToReceive.map { progress.received == $0 } ?? true)
    }

    func fail(_ code: ErrandError.Code, _ message: String) -> Bool {
        failure = ErrandError(code, message)
        return false
    }

    func failTooLarge() -> Bool {
        fail(.bodyTooLarge, "the body is longer than the limit of \(options.maximumBodyBytes) bytes")
    }

    func verdict(_ code: Int32, _ handle: EasyHandle) -> ErrandError? {
        if let failure { return failure }
        if code == CurlCode.abortedByCallback, isUploadAbandoned { return abandonedVerdict }
        if code == CurlCode.http2Stream, isWhole, !handle.hasErrorText { return nil }
        if code == 0 {
            if head.isComplete { return nil }
            return ErrandError(.connectionLost, "the connection was closed before the response's head ended")
        }
        // If a header line was rejected, use the error that libcurl would report for it.
        var failure = head.isRefused ? CurlFailure.ofLine : handle.failure(code, loop.proxy)
        failure.hasHead = head.isComplete
        failure.isOnUsedConnection = head.received == 0 && handle.isReused
        failure.isMuteWithoutTLS = head.received == 0 && !handle.isReused && attempts.count < 2 && !target.isSecure
        failure.isRepetition = mayHaveBeenSent(handle)
        failure.isRefusedQUIC = isOnQUIC && attempts.count == 0 && Self.codesOfLostQUIC.contains(code)
        if isOnQUIC, attempts.count > 0, Self.codesOfLostQUIC.contains(code) {
            failure.isLostOnQUIC = true
            failure.isCutShort = head.isComplete && progress.totalToReceive.map { progress.received < $0 } ?? false
            failure.isEndedHere = failure.detail.contains("ERR_CLOSING") && loop.sockets.isAlone(self)
        }
        failure.isBrokenHTTP2 = stream.number > 0 && !stream.isEnding
        if head.received == 0, handle.sentBytes == 0, CurlCode.areTooLarge.contains(code) { return tooLargeRequest }
        return failure.error
    }

    /// Adds the head and the beginning of a collected body to an error. For streamed bodies, the core does this.
    private func withEvidence(_ error: ErrandError) -> ErrandError {
        guard !isStreamed, head.isComplete, head.status > 0, error.response == nil, !error.isCancelled else {
            return error
        }
        var error = error
        error.response = partialResponse(collected.take())
        return error
    }

    /// Ends the transfer and returns its result. Deliver the result without the driver lock.
    func finish(_ error: ErrandError?, _ timings: TransferTimings?) -> DeferredWork.Item {
        let error = error.map(withEvidence)
        self.timings = timings
        var end = DeferredWork.End(transfer: self, failure: error, watch: watch)
        watch = nil
        shared.withLock { shared in
            shared.isOver = true
            if shared.failure == nil { shared.failure = error }
            if shared.reader != nil && shared.buffer.count > 0 { end.chunk = shared.buffer.take() }
            (end.waiter, end.reader) = (shared.waiter, shared.reader)
            (shared.waiter, shared.reader) = (nil, nil)
        }
        // A task that waits for the end delivers the last reports before it returns.
        reportEnd(isFailure: error != nil, soon: end.waiter == nil && (end.reader == nil || end.chunk != nil))
        return .end(end)
    }

    private func reportEnd(isFailure: Bool, soon: Bool) {
        if case .stream = upload { report(.sourceIsDone, soon: soon) }
        if !trailers.isEmpty { report(.event(.trailers(trailers.trailers)), soon: soon) }
        // A waiter that gets the whole response reports these events itself.
        guard isStreamed || isFailure else { return }
        if progress.received + progress.sent > reported { report(.event(.progress(progress)), soon: soon) }
        if let timings { report(.event(.timings(timings)), soon: soon) }
    }
}
#endif
