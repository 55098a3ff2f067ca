#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials
import Synchronization

/// One exchange on the wire, from the call of `send` to the last byte its reader takes.
final class Transfer: @unchecked Sendable {
    // Sendable: `shared` is a Mutex, the constants are Sendable, and all other fields are only accessed under the
    // loop's driver lock until the waiter resumes. From then on, only the waiter accesses `head`, `collected` and
    // `timings`.

    typealias Waiter = Resumption<Void, any Error>
    typealias Reader = Resumption<Data?, any Error>

    let request: HTTPRequest
    let target: RequestTarget
    let options: TransportOptions
    let loop: CurlLoop
    let upload: SentBody
    /// Whether the transport requested content codings, and decodes them.
    let decodes: Bool
    let usesLoopClock: Bool
    /// How long the server may be inactive.
    let inactivityLimit: UInt64
    let created = Nanoseconds.now

    /// Whether to deliver the body as it arrives. The head decides.
    var isStreamed: Bool
    var handle: EasyHandle?
    /// The index among libcurl's transfers.
    var index: Int?
    /// The time at which the loop began it.
    var begun: UInt64 = 0
    /// Whether a connection is being made for it, or it has one.
    var hasStarted = false
    /// The time since which a connection is being made.
    var connecting: UInt64 = 0
    /// Whether it has its connection.
    var isRequested = false
    /// Whether a connection is being made that requires the loop to wake libcurl.
    var isDialing = false
    /// The sockets libcurl has requested meanwhile.
    var dialed: [SocketTable.Hold] = []
    /// Whether libcurl doesn't watch one of them yet, or doesn't watch it anymore.
    var hasUnwatchedSocket = false
    /// Whether a name is being looked up for it.
    var isResolving = false
    /// Whether it has ended for its user while libcurl still waits for its name lookup.
    var isParked = false
    /// Whether the first connection to its host may be able to carry it along with other requests.
    var sharesConnection = false
    /// The origin's alternative it uses.
    var route: AlternativeTable.Route?
    /// The transfers for the same host, while it runs.
    var origin: Origin?
    /// The origin at which it waits for another transfer to end, and its position in the line.
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
    /// Whether the exchange has ended although the source of the request's body hasn't.
    var isUploadAbandoned = false
    /// Watches for inactivity, if the clock isn't the system's.
    var watch: Task<Void, Never>?
    var progress = TransferProgress()
    var reported: Int64 = 0
    /// The number of chunks the reader has taken, now and at the last progress report.
    var (readerTakes, reportedTakes) = (0, 0)
    /// The body bytes received since the end of the last round.
    var roundBytes = 0
    /// The time since which bytes are held back although a reader waits.
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
        /// Whether the reader waited for many bytes last time, and has kept up since.
        var isFast = false
        /// Only set here if the clock isn't the system's.
        var isSendPaused = false
        var isCancelled = false
        var isOver = false
        var failure: ErrandError?
        var lastActivity: ContinuousClock.Instant?

        /// The number of buffered bytes from which the transfer pauses.
        var room: Int { isFast || reader != nil ? Transfer.fastHighWater : Transfer.highWater }
    }

    /// The maximum size of a body in memory that libcurl gets at once and sends with the head.
    static let copiedBodyBytes = 64 << 10
    /// The number of bytes a stream buffers for its reader before the transfer pauses.
    static let highWater = 512 << 10
    /// The number of bytes to buffer for a reader that keeps up with the wire.
    static let fastHighWater = 2 << 20
    /// The number of buffered bytes at which a paused transfer resumes.
    static let lowWater = 256 << 10
    /// The number of bytes in a round from which a reader waits for the next round.
    static let gatheredBytes = 64 << 10
    /// The maximum time of such a wait.
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
