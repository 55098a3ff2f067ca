#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials
import Synchronization

/// One exchange on the wire, from the call of `send` to the last byte that its reader takes.
final class Transfer: @unchecked Sendable {
    // Sendable: `shared` is a Mutex, the constants are Sendable, and all other fields are accessed by the holder of the
    // loop's driver lock until the waiter is resumed; `head`, `collected` and `timings` by the waiter alone from then
    // on.

    typealias Waiter = Resumption<Void, any Error>
    typealias Reader = Resumption<Data?, any Error>

    let request: HTTPRequest
    let target: RequestTarget
    let options: TransportOptions
    let loop: CurlLoop
    let upload: SentBody
    /// Whether content codings were requested here and are decoded here.
    let decodes: Bool
    let usesLoopClock: Bool
    /// The time for which the server may be inactive.
    let inactivityLimit: UInt64
    let created = Nanoseconds.now

    /// Whether the body is handed over as it comes; decided by the head.
    var isStreamed: Bool
    var handle: EasyHandle?
    /// The index among the transfers that libcurl has.
    var index: Int?
    /// The time at which the loop began it.
    var begun: UInt64 = 0
    /// Whether a connection is being made for it, or it has one.
    var hasStarted = false
    /// The time since when a connection is being made.
    var connecting: UInt64 = 0
    /// Whether it got its connection.
    var isRequested = false
    /// Whether a connection is being made for it, where the loop has to wake libcurl meanwhile.
    var isDialing = false
    /// The sockets that libcurl has asked for meanwhile.
    var dialed: [SocketTable.Hold] = []
    /// Whether one of them is not watched, or no longer.
    var hasUnwatchedSocket = false
    /// Whether a name is being looked up for it.
    var isResolving = false
    /// It has ended for its user; libcurl still waits for the end of its name lookup.
    var isParked = false
    /// Whether the first connection to its host may turn out to carry it along with others.
    var sharesConnection = false
    /// The alternative of its origin that it uses.
    var route: AlternativeTable.Route?
    /// The transfers for the same host, while it runs.
    var origin: Origin?
    /// The host where it waits for another transfer to end, and its position in that line.
    var waitsAt: Origin?
    var slot = 0
    /// The sockets of its connection.
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
    /// The exchange has ended although the source of the request's body has not.
    var isUploadAbandoned = false
    /// Watches for inactivity where the clock is not the system's.
    var watch: Task<Void, Never>?
    var progress = TransferProgress()
    var reported: Int64 = 0
    /// The number of chunks that the reader had taken, now and at the last report of progress.
    var (readerTakes, reportedTakes) = (0, 0)
    /// The bytes of the body that were received since the end of the last round.
    var roundBytes = 0
    /// The time since when bytes stay here although a reader waits for them.
    var gatheredSince: UInt64?

    let shared = Mutex(Shared())
    let reports = Mutex(Reports())

    /// The state that the reader's threads and the loop share.
    struct Shared: ~Copyable {
        var waiter: Waiter?
        var reader: Reader?
        var buffer = ChunkBuffer()
        var isFlushPending = false
        var isPaused = false
        /// Whether the reader waited for much the last time, and has not been behind since.
        var isFast = false
        /// Set here only where the clock is not the system's.
        var isSendPaused = false
        var isCancelled = false
        var isOver = false
        var failure: ErrandError?
        var lastActivity: ContinuousClock.Instant?

        /// The number of bytes in the buffer from which the transfer is paused.
        var room: Int { isFast || reader != nil ? Transfer.fastHighWater : Transfer.highWater }
    }

    /// A body in memory up to this size is passed to libcurl at once, to be sent with the head.
    static let copiedBodyBytes = 64 << 10
    /// The number of bytes that a stream buffers for its reader before the transfer is paused.
    static let highWater = 512 << 10
    /// The same for a reader that waits for the wire rather than the wire for it.
    static let fastHighWater = 2 << 20
    /// The number of bytes in the buffer down to which a paused transfer stays so.
    static let lowWater = 256 << 10
    /// The number of bytes in a round from which a reader is left waiting for those of the next one.
    static let gatheredBytes = 64 << 10
    /// The time for which it is, at most.
    static let longestGathering = Nanoseconds.of(milliseconds: 1)
    static let progressStep: Int64 = 128 << 10

    init(_ request: HTTPRequest, _ options: TransportOptions, _ loop: CurlLoop) throws {
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
#endif
