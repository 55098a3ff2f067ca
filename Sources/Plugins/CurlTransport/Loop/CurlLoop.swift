#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport
import Synchronization

/// Runs the transfers of one transport on libcurl's multi interface.
///
/// A thread waits for sockets and timers. libcurl itself is run by the holder of `driver`: the loop's thread, or a
/// thread that starts a request while the loop sleeps, which saves the request a change of threads. Only the loop waits
/// for the lock; other threads leave a command to its holder. No code of the user runs under it (see ``Outbox``),
/// except that of a `DepartureFilter`: whatever this starts or cancels becomes a command.
final class CurlLoop: @unchecked Sendable {
    // Sendable: fields that are neither constant, atomic nor in a Mutex are accessed by the holder of `driver` only.

    enum Command {
        case start(Transfer)
        case stop(Transfer)
        /// The server was inactive for too long, on a clock that is not the system's.
        case inactivity(Transfer, noticed: UInt64)
        /// A reader drained its buffer, or a request body has more.
        case resume(Transfer)
        /// A connection without a request is to be made, has bytes to send, has room for more, or is to be closed.
        case serve(CurlConnection)
    }

    struct Queue {
        var commands: [Command] = []
        var isRetired = false
        /// The thread has ended, and accepts no command.
        var isOver = false
    }

    let library: CurlLibrary
    let configuration: CurlConfiguration
    let proxy: ProxyChoice
    let pins: PinTable
    let addresses: AddressTable
    let alternativeWriter: AlternativeWriter?
    /// Whether HTTP/3 is used with the servers that offer it.
    let followsAlternatives: Bool
    let sockets: SocketTable
    let connectTimeout: UInt64
    let keepAliveTime: UInt64
    /// The maximum number of requests to one host that libcurl gets at once where none of them can share a connection.
    let maximumPerOrigin: Int

    let driver = DriverLock()
    let queue = Mutex(Queue())
    let loopWaits = Atomic(false)
    let isWoken = Atomic(false)
    let wake: Int32

    // MARK: Under `driver`

    // Exclusive access to what most rounds change, here and in `SocketTable`, isn't checked at run time: the checks
    // of all fields were 6.5 percent of the instructions of a request, libcurl's included. It's safe: one thread has
    // the lock, and none of its accesses is open while it runs code that comes back to the same variable: none is open
    // during a call of libcurl's, from which the callbacks come, but those that end handles, and these are called
    // without a transfer.

    var multi: CurlMulti
    let clock = RoundClock()
    /// The time at which the current round of work began.
    var now: UInt64 {
        get { clock.now }
        set { clock.now = newValue }
    }
    /// The time at which libcurl's timer is due.
    var curlDeadline: UInt64?
    var nextDeadlineCheck = UInt64.max
    var nextKeepAliveCheck = UInt64.max
    /// The time until which the loop's thread sleeps if nothing wakes it.
    var sleepsUntil: UInt64 = 0
    var lastEnd: UInt64 = 0
    /// The transfers that libcurl has.
    @safe @exclusivity(unchecked) var active: [Transfer] = []
    /// Whether libcurl got some that it has not run.
    var hasNewTransfers = false
    /// Transfers whose waiters are gone and whose name lookups still run.
    var parked = 0
    @safe @exclusivity(unchecked) var origins = OriginTable()
    @safe @exclusivity(unchecked) var shortOfDescriptors = DescriptorQueue()
    @safe @exclusivity(unchecked) var connections = ConnectionTable()
    /// The transfers for which libcurl makes a connection, where it has to be woken for the next address.
    @safe @exclusivity(unchecked) var dialing: [Transfer] = []
    var alternatives: AlternativeTable
    @safe @exclusivity(unchecked) var outbox = Outbox()
    @safe @exclusivity(unchecked) var idleHandles: [EasyHandle] = []
    @safe @exclusivity(unchecked) var unflushed: [Transfer] = []
    @safe @exclusivity(unchecked) var spareCommands: [Command] = []

    static let maximumIdleHandles = 128
    /// The cancelled name lookups, each with a thread of libcurl's, beyond which no other one is begun.
    static let maximumParked = 64

    var speaksHTTP2: Bool { configuration.httpVersion != .http1 && library.speaksHTTP2 }

    /// Throws `transportUnavailable` without a libcurl, or one without the HTTP/3 that is required,
    /// ``DescriptorShortage``, `transportFailed` for lack of memory or threads, `insecureConnection` for pins of
    /// something that is no host name, and `nameLookupFailed` for addresses that are none.
    init(_ configuration: CurlConfiguration) throws {
        pins = try PinTable(configuration.tls.publicKeyPins)
        addresses = try AddressTable(configuration)
        library = try CurlLibrary.load()
        if configuration.httpVersion == .http3Only, !library.speaksHTTP3 { throw library.withoutHTTP3 }
        self.configuration = configuration
        proxy = ProxyChoice(configuration.proxy, environment: environmentVariable)
        // libcurl speaks QUIC through neither.
        followsAlternatives =
            configuration.httpVersion == .http3 && library.speaksHTTP3 && proxy.https.isEmpty
            && configuration.unixSocketPath == nil
        let file = followsAlternatives ? configuration.alternativeServicesFile.map(AlternativeFile.init) : nil
        alternativeWriter = file.map { AlternativeWriter($0) }
        alternatives = Self.alternatives(in: file)
        keepAliveTime = Nanoseconds.of(configuration.keepAliveTime)
        connectTimeout = Nanoseconds.of(configuration.connectTimeout)
        maximumPerOrigin = max(1, min(configuration.maximumConnectionsPerHost, configuration.maximumConnections))
        sockets = try SocketTable(
            maximumOpen: max(1, configuration.maximumConnections),
            maximumPerOrigin: max(1, configuration.maximumConnectionsPerHost))
        wake = errand_wake_make()
        guard wake >= 0 else {
            if DescriptorShortage.isReported { throw DescriptorShortage() }
            throw ErrandError(.transportFailed, "eventfd failed: \(systemErrorText(errno))")
        }
        guard sockets.watch(wake), let multi = CurlMulti() else {
            let isShort = DescriptorShortage.isReported || !DescriptorShortage.isOver
            errand_close(wake)
            if isShort { throw DescriptorShortage() }
            throw ErrandError(.transportFailed, "the event loop could not be made")
        }
        self.multi = multi
        prepareMulti()
        try startThread()
    }

    deinit {
        // While everything that libcurl calls back for is there.
        connections.multi?.free()
        multi.free()
        errand_close(wake)
    }

    private func prepareMulti() {
        multi.setCallbacks(for: self)
        // 0 would mean no limit.
        let (host, all) = (max(1, configuration.maximumConnectionsPerHost), max(1, configuration.maximumConnections))
        multi.set(ERRAND_CURLMOPT_MAX_HOST_CONNECTIONS, host)
        multi.set(ERRAND_CURLMOPT_MAX_TOTAL_CONNECTIONS, all)
        multi.set(ERRAND_CURLMOPT_MAXCONNECTS, all)
    }

    /// Closes every connection by a new pool, the one way that all versions of libcurl have. Later ones make none without
    /// a descriptor, and have another way.
    func closeAll() {
        idleHandles.removeAll()
        guard let empty = CurlMulti() else {
            multi.set(ERRAND_CURLMOPT_NETWORK_CHANGED, ERRAND_CURLMNWC_CLEAR_CONNS)
            return
        }
        multi.free()
        multi = empty
        curlDeadline = nil
        prepareMulti()
    }
}
#endif
