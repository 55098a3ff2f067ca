#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport
import Synchronization

/// Runs a transport's transfers on libcurl's multi interface.
///
/// Only the thread that holds `driver` runs libcurl. The holder is the loop's thread, or a thread that starts a request
/// while the loop sleeps, which saves a thread switch. Only the loop's thread waits for the lock. Other threads leave
/// commands to the holder.
///
/// User code doesn't run under the lock (see ``DeferredWork``), except for a `PreSendFilter`. Whatever that filter
/// starts or cancels becomes a command.
final class CurlLoop: @unchecked Sendable {
    // Sendable: variables that aren't atomic or in a Mutex are accessed only by the holder of `driver`.

    enum Command {
        case start(Transfer)
        case stop(Transfer)
        /// A clock other than the system's found the transfer inactive.
        case inactivity(Transfer, noticed: UInt64)
        /// A reader emptied its buffer, or a request body has more bytes.
        case resume(Transfer)
        /// The connection needs to open or close, has bytes to send, or has room for input.
        case serve(CurlConnection)
    }

    struct Queue {
        var commands: [Command] = []
        var isRetired = false
        var isOver = false
    }

    let library: CurlLibrary
    let configuration: CurlConfiguration
    let proxy: ProxyChoice
    let pins: PinTable
    let addresses: AddressTable
    let alternativeWriter: AlternativeWriter?
    let followsAlternatives: Bool
    let sockets: SocketTable
    let connectTimeout: UInt64
    let keepAliveTime: UInt64
    /// The maximum number of concurrent requests to a host, if they can't share a connection.
    let maximumPerOrigin: Int

    let driver = DriverLock()
    let queue = Mutex(Queue())
    let loopWaits = Atomic(false)
    let isWoken = Atomic(false)
    let wake: Int32

    // MARK: Under `driver`

    // For frequently changed fields, here and in `SocketTable`, exclusive access isn't checked at run time, because the
    // checks took 6.5 percent of a request's instructions. This is safe: only one thread has the lock, and no access is
    // in progress while code runs that can reach the same variable. That includes libcurl calls, which run the
    // callbacks, except for calls that end handles without a transfer.

    var multi: CurlMulti
    let clock = RoundClock()
    var now: UInt64 {
        get { clock.now }
        set { clock.now = newValue }
    }
    var curlDeadline: UInt64?
    var nextDeadlineCheck = UInt64.max
    var nextKeepAliveCheck = UInt64.max
    var sleepsUntil: UInt64 = 0
    var lastEnd: UInt64 = 0
    @safe @exclusivity(unchecked) var active: [Transfer] = []
    /// Whether libcurl has transfers that it hasn't run yet.
    var hasNewTransfers = false
    /// Ended transfers whose name lookups are still running.
    var parked = 0
    @safe @exclusivity(unchecked) var origins = OriginTable()
    @safe @exclusivity(unchecked) var shortOfDescriptors = DescriptorQueue()
    @safe @exclusivity(unchecked) var connections = ConnectionTable()
    /// Connecting transfers for which the loop must wake libcurl to try the next address.
    @safe @exclusivity(unchecked) var dialing: [Transfer] = []
    var alternatives: AlternativeTable
    @safe @exclusivity(unchecked) var deferredWork = DeferredWork()
    @safe @exclusivity(unchecked) var idleHandles: [EasyHandle] = []
    @safe @exclusivity(unchecked) var unflushed: [Transfer] = []
    @safe @exclusivity(unchecked) var spareCommands: [Command] = []

    static let maximumIdleHandles = 128
    /// The maximum number of parked transfers. Each of them has a cancelled name lookup that is still running in a
    /// libcurl thread.
    static let maximumParked = 64

    var speaksHTTP2: Bool { configuration.httpVersion != .http1 && library.speaksHTTP2 }

    /// Creates a loop. Throws ``DescriptorShortage`` if descriptors run out, and an ``ErrandError`` otherwise.
    init(_ configuration: CurlConfiguration) throws {
        pins = try PinTable(configuration.tls.publicKeyPins)
        addresses = try AddressTable(configuration)
        library = try CurlLibrary.load()
        if configuration.httpVersion == .http3Only, !library.speaksHTTP3 { throw library.withoutHTTP3 }
        self.configuration = configuration
        proxy = ProxyChoice(configuration.proxy, environment: environmentVariable)
        // libcurl supports QUIC neither through proxies nor through Unix sockets.
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
            throw ErrandError(.transportFailed, "the event loop couldn't be created")
        }
        self.multi = multi
        prepareMulti()
        try startThread()
    }

    deinit {
        // Freeing these handles runs callbacks, which need the loop's other objects, so free the handles first.
        connections.multi?.free()
        multi.free()
        errand_close(wake)
    }

    private func prepareMulti() {
        multi.setCallbacks(for: self)
        // Use at least 1, because 0 would mean no limit.
        let (host, all) = (max(1, configuration.maximumConnectionsPerHost), max(1, configuration.maximumConnections))
        multi.set(ERRAND_CURLMOPT_MAX_HOST_CONNECTIONS, host)
        multi.set(ERRAND_CURLMOPT_MAX_TOTAL_CONNECTIONS, all)
        multi.set(ERRAND_CURLMOPT_MAXCONNECTS, all)
    }

    /// Closes all connections by replacing the multi handle, which works in every libcurl version. Later versions need
    /// descriptors to create a handle. If the creation fails, an option of these versions closes the connections.
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

// The functions that any thread may call, and the work of the loop's own thread.
extension CurlLoop {
    func start(_ transfer: Transfer) {
        guard run(.start(transfer)) else { return DeferredWork.deliver(transfer.finish(Self.ended, nil)) }
    }

    static var ended: ErrandError {
        ErrandError(.transportFailed, "the request was sent through a transport that has already ended")
    }

    /// Runs a command on this thread, unless another thread runs libcurl. Returns `false` once the loop has ended.
    @discardableResult func run(_ command: Command) -> Bool {
        guard push(command) else { return false }
        workHere()
        return true
    }

    private func workHere() {
        guard library.runsOnAnyThread else { return wakeUp() }
        while !loopWaits.load(ordering: .acquiring), driver.tryLock() {
            let isAllowed = work(events: [], mayGather: false)
            let isEarlier = nextDeadline < sleepsUntil
            if isEarlier { sleepsUntil = 0 }
            var outgoing = DeferredWork()
            deferredWork.move(to: &outgoing)
            driver.unlock()
            if isEarlier { wakeUp() }
            outgoing.deliver()
            if !isAllowed || queue.withLock({ $0.commands.isEmpty }) { return }
        }
    }

    func submit(_ command: Command) {
        if push(command) { wakeUp() }
    }

    private func push(_ command: Command) -> Bool {
        queue.withLock { queue in
            if !queue.isOver { queue.commands.append(command) }
            return !queue.isOver
        }
    }

    func retire() {
        queue.withLock { $0.isRetired = true }
        wakeUp()
    }

    private func wakeUp() {
        if !isWoken.exchange(true, ordering: .acquiringAndReleasing) { errand_wake_send(wake) }
    }

    var runningCount: Int {
        driver.lock()
        defer { driver.unlock() }
        return active.count + origins.waitingCount
    }

    // MARK: The loop's thread

    func startThread() throws {
        let code = SystemCalls.startThread { [self] in run() }
        guard code == 0 else {
            throw ErrandError(.transportFailed, "a thread couldn't be created: \(systemErrorText(code))")
        }
    }

    private static let eventsAtOnce = 64

    private func run() {
        SystemCalls.prepareThread("errand-curl")
        var events = [errand_poll_event](repeating: errand_poll_event(), count: Self.eventsAtOnce)
        var count = 0
        var outgoing = DeferredWork()
        while true {
            loopWaits.store(true, ordering: .releasing)
            driver.lock()
            loopWaits.store(false, ordering: .releasing)
            if !work(events: events[..<count], mayGather: true) { errand_thread_rest() }
            sleepsUntil = isGathering ? 0 : min(nextDeadline, longestSleep)
            let deadline = sleepsUntil
            let isIdle =
                active.count == parked && shortOfDescriptors.isEmpty && origins.waitingCount == 0
                && connections.isEmpty
            deferredWork.move(to: &outgoing)
            driver.unlock()
            outgoing.deliver()
            count = 0
            let isEmpty = queue.withLock { queue in
                queue.isOver = queue.commands.isEmpty && isIdle && queue.isRetired
                return queue.commands.isEmpty
            }
            if !isEmpty { continue }
            if queue.withLock({ $0.isOver }) { break }
            count = sockets.wait(into: &events, milliseconds: Self.timeout(until: deadline))
        }
        end()
    }

    private func end() {
        driver.lock()
        if errand_curl_enter() != 0 {
            for transfer in active { detach(transfer) }
            closeAll()
            errand_curl_leave()
        }
        var outgoing = DeferredWork()
        deferredWork.move(to: &outgoing)
        driver.unlock()
        outgoing.deliver()
    }

    private static func timeout(until deadline: UInt64) -> Int32 {
        if deadline == .max { return -1 }
        let now = Nanoseconds.now
        return deadline <= now ? 0 : Int32(Nanoseconds.milliseconds(deadline - now))
    }
}
#endif
