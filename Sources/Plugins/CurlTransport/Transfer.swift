#if os(Linux)
import CErrandCurl
import Errand
import ErrandEssentials
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
    let patience: UInt64
    let created = Nanoseconds.now

    var handle: EasyHandle?
    var index: Int?
    /// When the loop began it.
    var begun: UInt64 = 0
    /// Whether a connection is being made for it, or it has one.
    var hasStarted = false
    /// Since when a connection is being made.
    var connecting: UInt64 = 0
    /// Whether it got its connection.
    var isRequested = false
    /// Whether a name is being looked up for it.
    var isResolving = false
    /// It is over for everybody but libcurl, which waits for the end of its name lookup.
    var isParked = false
    /// The connections of the host it is for, where requests wait for the first of them.
    var origin: Origin?
    /// The sockets of its connection.
    var held: [SocketTable.Hold] = []
    var lastHeard: UInt64 = 0
    var times = WireTimes()
    var head = ResponseHead()
    var trailers = ResponseHead()
    var collected = ByteBuffer()
    var timings: TransferTimings?
    var queued: Duration?
    var failure: ErrandError?
    var headerBytes = 0
    var attempts = Attempts()
    var place = Place()
    var isReceivePaused = false
    var isSendPaused = false {
        didSet { if !usesLoopClock { shared.withLock { $0.isSendPaused = isSendPaused } } }
    }
    var uploadOffset = 0
    /// The exchange is over although the source of the request's body has not ended.
    var isUploadAbandoned = false
    var watch: Task<Void, Never>?
    var progress = TransferProgress()
    var reported: Int64 = 0

    let shared = Mutex(Shared())
    let reports = Mutex(Reports())

    /// What the reader's threads and the loop share.
    struct Shared: ~Copyable {
        var waiter: Waiter?
        var reader: Reader?
        var buffer = ByteBuffer()
        var isFlushPending = false
        var isPaused = false
        /// Set here only where the clock is not the system's.
        var isSendPaused = false
        /// Whether it has no connection yet; set here only where the clock is not the system's.
        var isQueued = false
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
    static let progressStep: Int64 = 128 << 10

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
        progress.totalToSend = upload.length
    }

    var hostAndPort: String { "\(request.url.host?.lowercased() ?? ""):\(request.url.port ?? 443)" }

    static var cancelled: ErrandError { ErrandError(.cancelled, "the transfer was cancelled") }
}

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
            if !isCancelled { await deliverReports(waits: true) }
            throw error
        }
        await deliverReports(waits: true)
        // The continuation orders what follows after the loop's work; the lock lets the thread sanitizer see it too.
        shared.withLock { _ in }
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
            do {
                response.body = HTTPBody(
                    codings.isEmpty ? data : try ContentDecoder.decode(data, codings, upTo: options.bodyLimit))
            } catch var error as ErrandError {
                error.response = partialResponse(data)
                throw error
            }
        }
        return response
    }

    /// The response as far as it came, for an error: at most 64 KiB of its body, decoded as far as that is possible.
    func partialResponse(_ data: Data) -> HTTPResponse {
        let limit = 64 << 10
        var response = HTTPResponse(
            url: request.url, status: head.status, headers: head.headers, version: head.version)
        let codings = codings(of: response)
        guard !codings.isEmpty else {
            response.body = HTTPBody(Data(data.prefix(limit)))
            return response
        }
        response.headers.remove(.contentEncoding)
        response.headers.remove(.contentLength)
        response.body = HTTPBody(ContentDecoder.beginning(of: data, codings, upTo: limit))
        return response
    }

    /// The codings to take off; none if one of them is not known here.
    private func codings(of response: HTTPResponse) -> [ContentCoding] {
        guard decodes, hasBody, let value = response.headers[.contentEncoding] else { return [] }
        return ContentCoding.list(value) ?? []
    }

    var hasBody: Bool { request.method != .head && head.status != 204 && head.status != 304 }

    private func wait(_ waiter: Waiter) {
        let isCancelled = shared.withLock { shared in
            if !shared.isCancelled { shared.waiter = waiter }
            return shared.isCancelled
        }
        if isCancelled { return waiter.resume(throwing: Self.cancelled) }
        loop.start(self)
    }

    var isCancelled: Bool { shared.withLock { $0.isCancelled } }

    /// From any thread, at any moment: whoever waits is answered first.
    func cancel() { give(up: Self.cancelled) }

    func give(up error: ErrandError) {
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
#endif
