#if os(Linux)
import CErrandCurl
import Errand
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Runs the transfers of one transport on libcurl's multi interface.
///
/// A thread waits for sockets and timers. libcurl itself is run by whoever holds `driver`: the loop's thread, or a
/// thread that starts a request while the loop sleeps, which saves the request a change of threads. Nobody but the loop
/// waits for the lock; the others leave a command to its holder.
final class CurlLoop: @unchecked Sendable {
    // Sendable: what is neither constant, atomic nor in a Mutex is touched by the holder of `driver` only.

    enum Command {
        case start(Transfer)
        case stop(Transfer)
        /// Nothing was heard for too long, on a clock that is not the system's.
        case silence(Transfer)
        /// A reader drained its buffer, or a request body has more.
        case resume(Transfer)
    }

    private struct Queue {
        var commands: [Command] = []
        var isRetired = false
        /// The thread has ended, and takes no command.
        var isOver = false
    }

    let library: CurlLibrary
    let configuration: CurlConfiguration
    let proxy: ProxyChoice
    private let driver = DriverLock()
    private let queue = Mutex(Queue())
    private let loopWaits = Atomic(false)
    private let isWoken = Atomic(false)
    private let wake: Int32
    let sockets: SocketTable

    /// The time at which the present round of work began.
    private(set) var now = Nanoseconds.now
    var curlDeadline: UInt64?
    private var multi: UnsafeMutableRawPointer
    private var active: [Transfer] = []
    private var idleHandles: [EasyHandle] = []
    private var unflushed: [Transfer] = []
    private var spareCommands: [Command] = []
    private var nextDeadlineCheck = UInt64.max
    private var origins: [String: Origin] = [:]
    /// Transfers whose waiters are gone and whose name lookups still run.
    private(set) var parked = 0
    private var nextIdleCheck = UInt64.max
    private var lastEnd: UInt64 = 0
    private let patience: UInt64
    let connectPatience: UInt64
    let pins: PinTable
    private var sleepsUntil: UInt64 = 0

    private var shortOfDescriptors = DescriptorQueue()

    private static let maximumIdleHandles = 128
    /// The cancelled name lookups, each with a thread of libcurl's, beyond which no other one is begun.
    static let maximumParked = 64

    var speaksHTTP2: Bool { configuration.httpVersion == .automatic && library.speaksHTTP2 }

    /// Throws `transportUnavailable` without a libcurl, ``DescriptorShortage``, `transportFailed` for want of memory or
    /// threads, and `insecureConnection` for pins of something that is no host name.
    init(_ configuration: CurlConfiguration) throws {
        pins = try PinTable(configuration.tls.publicKeyPins)
        library = try CurlLibrary.load()
        self.configuration = configuration
        proxy = ProxyChoice(configuration.proxy) { name in getenv(name).map { String(cString: $0) } }
        patience = Nanoseconds.of(configuration.idleTimeout)
        connectPatience = Nanoseconds.of(configuration.connectTimeout)
        sockets = try SocketTable(
            maximumOpen: max(1, configuration.maximumConnections),
            maximumPerOrigin: max(1, configuration.maximumConnectionsPerHost))
        wake = errand_wake_make()
        guard wake >= 0 else {
            if DescriptorShortage.isReported { throw DescriptorShortage() }
            throw ErrandError(.transportFailed, "eventfd failed: \(String(cString: strerror(errno)))")
        }
        guard sockets.watch(wake), let multi = errand_curl_multi_make() else {
            errand_close(wake)
            throw ErrandError(.transportFailed, "the event loop could not be made")
        }
        self.multi = multi
        prepareMulti()
        try startThread()
    }

    deinit {
        if errand_curl_enter() != 0 {
            errand_curl_multi_free(multi)
            errand_curl_leave()
        }
        errand_close(wake)
    }

    private func prepareMulti() {
        errand_curl_multi_set_callbacks(multi, onSocket, onTimer, Unmanaged.passUnretained(self).toOpaque())
        // 0 would mean no limit.
        let (host, all) = (max(1, configuration.maximumConnectionsPerHost), max(1, configuration.maximumConnections))
        errand_curl_multi_set_long(multi, ERRAND_CURLMOPT_MAX_HOST_CONNECTIONS, host)
        errand_curl_multi_set_long(multi, ERRAND_CURLMOPT_MAX_TOTAL_CONNECTIONS, all)
        errand_curl_multi_set_long(multi, ERRAND_CURLMOPT_MAXCONNECTS, all)
    }

    private func startThread() throws {
        let loop = Unmanaged.passRetained(self)
        let code = errand_thread_start(
            { loop in
                if let loop { Unmanaged<CurlLoop>.fromOpaque(loop).takeRetainedValue().run() }
            }, loop.toOpaque())
        guard code == 0 else {
            loop.release()
            throw ErrandError(.transportFailed, "no thread could be made: \(String(cString: strerror(code)))")
        }
    }

    // MARK: From any thread

    /// Starts a transfer, on this thread if nobody else runs libcurl just now.
    func start(_ transfer: Transfer) {
        guard push(.start(transfer)) else {
            return transfer.finish(ErrandError(.transportFailed, "the transport has ended"), nil)
        }
        guard library.runsOnAnyThread else { return wakeUp() }
        while !loopWaits.load(ordering: .acquiring), driver.tryLock() {
            sockets.endSpoiled()
            let isAllowed = work(events: UnsafeBufferPointer(start: nil, count: 0))
            let isEarlier = nextDeadline < sleepsUntil
            driver.unlock()
            if isEarlier { wakeUp() }
            if !isAllowed || queue.withLock({ $0.commands.isEmpty }) { return }
        }
    }

    /// Leaves a command to the loop's thread, unless that has ended with the last transfer.
    func submit(_ command: Command) {
        if push(command) { wakeUp() }
    }

    private func push(_ command: Command) -> Bool {
        queue.withLock { queue in
            if !queue.isOver { queue.commands.append(command) }
            return !queue.isOver
        }
    }

    /// The transport is gone: the thread ends with the last transfer.
    func retire() {
        queue.withLock { $0.isRetired = true }
        wakeUp()
    }

    private func wakeUp() {
        if !isWoken.exchange(true, ordering: .acquiringAndReleasing) { errand_wake_send(wake) }
    }

    // MARK: The loop's thread

    private func run() {
        errand_thread_prepare("errand-curl")
        let events = UnsafeMutableBufferPointer<errand_poll_event>.allocate(capacity: 64)
        defer { events.deallocate() }
        var count = 0
        while true {
            loopWaits.store(true, ordering: .releasing)
            driver.lock()
            loopWaits.store(false, ordering: .releasing)
            if !work(events: UnsafeBufferPointer(rebasing: events[..<count])) { errand_thread_rest() }
            sleepsUntil = nextDeadline
            let deadline = sleepsUntil
            let isIdle = active.count == parked && shortOfDescriptors.isEmpty
            driver.unlock()
            count = 0
            let isEmpty = queue.withLock { queue in
                queue.isOver = queue.commands.isEmpty && isIdle && queue.isRetired
                return queue.commands.isEmpty
            }
            if !isEmpty { continue }
            if queue.withLock({ $0.isOver }) { break }
            count = sockets.wait(into: events, milliseconds: Self.timeout(until: deadline))
        }
        driver.lock()
        if errand_curl_enter() != 0 {
            for transfer in active { detach(transfer) }
            closeAll()
            errand_curl_leave()
        }
        driver.unlock()
    }

    private static func timeout(until deadline: UInt64) -> Int32 {
        if deadline == .max { return -1 }
        let now = Nanoseconds.now
        return deadline <= now ? 0 : Int32(Nanoseconds.milliseconds(deadline - now))
    }

    /// Closes every connection: libcurl has no other way than to make a new pool.
    private func closeAll() {
        idleHandles.removeAll()
        guard let empty = errand_curl_multi_make() else { return }
        errand_curl_multi_free(multi)
        multi = empty
        curlDeadline = nil
        prepareMulti()
    }

    // MARK: Under `driver`

    private var nextDeadline: UInt64 {
        min(curlDeadline ?? .max, nextDeadlineCheck, nextIdleCheck, shortOfDescriptors.deadline)
    }

    /// One round: what sockets, other threads and timers want, then what came of it. None, and false, when the process
    /// ends: what libcurl and its TLS library need may be gone then.
    private func work(events: UnsafeBufferPointer<errand_poll_event>) -> Bool {
        if errand_curl_enter() == 0 { return false }
        defer { errand_curl_leave() }
        now = Nanoseconds.now
        for event in events {
            if event.descriptor == wake {
                errand_wake_take(wake)
                isWoken.store(false, ordering: .releasing)
            } else if let mask = sockets.wanted(event) {
                errand_curl_multi_act(multi, event.descriptor, mask)
            } else {
                endUploads(on: event.descriptor)
            }
        }
        var rounds = 0
        repeat {
            let commands = runCommands()
            let isDue = curlDeadline.map { $0 <= now } ?? false
            if isDue {
                curlDeadline = nil
                errand_curl_multi_act(multi, ERRAND_CURL_SOCKET_TIMEOUT, 0)
            }
            let finished = finishTransfers()
            rounds += 1
            if !commands && !isDue && !finished { break }
        } while rounds < 8
        flush()
        if nextDeadlineCheck <= now { checkDeadlines() }
        if nextIdleCheck <= now { endIdle() }
        if shortOfDescriptors.deadline <= now { lookForDescriptors() }
        return true
    }

    /// Something came on a connection of which libcurl wants nothing, most likely its end.
    private func endUploads(on descriptor: Int32) {
        for transfer in active
        where transfer.isSendPaused && transfer.held.contains(where: { $0.descriptor == descriptor }) {
            transfer.abandonUpload()
        }
    }

    private func runCommands() -> Bool {
        var commands: [Command] = []
        swap(&commands, &spareCommands)
        queue.withLock { swap(&commands, &$0.commands) }
        let isAny = !commands.isEmpty
        for command in commands {
            switch command {
            case .start(let transfer): begin(transfer)
            case .stop(let transfer): if has(transfer) { drop(transfer) }
            case .silence(let transfer): if has(transfer) { endSilence(of: transfer) }
            case .resume(let transfer): if transfer.index != nil { resume(transfer) }
            }
        }
        commands.removeAll(keepingCapacity: true)
        swap(&commands, &spareCommands)
        return isAny
    }

    /// Whether a transfer has begun and is not over; one that waits for a descriptor is taken out.
    private func has(_ transfer: Transfer) -> Bool { transfer.index != nil || shortOfDescriptors.remove(transfer) }

    private func begin(_ transfer: Transfer) {
        if transfer.isCancelled { return }
        guard let handle = idleHandles.popLast() ?? EasyHandle(self) else {
            return transfer.finish(ErrandError(.transportFailed, "libcurl has no memory for a transfer"), nil)
        }
        do { try handle.prepare(for: transfer) } catch {
            recycle(handle)
            return transfer.finish(error, nil)
        }
        transfer.handle = handle
        transfer.index = active.count
        active.append(transfer)
        (transfer.lastHeard, transfer.begun, transfer.connecting) = (now, now, now)
        if handle.waitsForFirstConnection { join(transfer) }
        if !library.tellsRequestStart { transfer.hasStarted = true }
        expectDeadline(of: transfer)
        let code = errand_curl_multi_add(multi, handle.raw)
        if code != 0 {
            drop(
                transfer,
                with: ErrandError(
                    .transportFailed, "libcurl refused the transfer",
                    underlying: CurlError(code: code, message: "CURLMcode")))
        }
    }

    /// The transfer may have to wait for another one to make the first connection to its host.
    private func join(_ transfer: Transfer) {
        let name = transfer.hostAndPort
        let origin = origins[name] ?? Origin(name)
        if origins.count > 256 { origins = origins.filter { $0.value.transfers > 0 || $0.value.open > 0 } }
        origins[name] = origin
        origin.transfers += 1
        transfer.origin = origin
        if transfer.usesLoopClock || !library.tellsRequestStart { return }
        transfer.shared.withLock { $0.isQueued = true }
        transfer.startWatch()
    }

    private func leave(_ transfer: Transfer) {
        guard let origin = transfer.origin else { return }
        transfer.origin = nil
        origin.transfers -= 1
        // Its sockets may outlive it; they refer to it themselves.
        if origin.transfers == 0 && origin.open == 0 { origins[origin.name] = nil }
    }

    /// By its own clock it was silent for too long, unless it waits for a free connection.
    private func endSilence(of transfer: Transfer) {
        let isQueued = transfer.index != nil && !transfer.hasStarted
        if isQueued, transfer.origin.map({ sockets.isFull($0) }) ?? true { return }
        drop(transfer, with: transfer.silenceError)
    }

    private func resume(_ transfer: Transfer) {
        guard let handle = transfer.handle, !transfer.isParked else { return }
        transfer.heard()
        let code = errand_curl_pause(handle.raw, transfer.pausedHalves())
        // 43 means that it has no connection, so that there is nothing to go on with: it waits for one, or is over.
        if code != 0 && code != 43 { finish(transfer, code) }
        expectDeadline(of: transfer)
    }

    private func finishTransfers() -> Bool {
        var code: Int32 = 0
        var isAny = false
        while let easy = errand_curl_multi_finished(multi, &code) {
            isAny = true
            guard let user = errand_curl_get_private(easy) else { continue }
            finish(Unmanaged<Transfer>.fromOpaque(user).takeUnretainedValue(), code)
        }
        return isAny
    }

    private func finish(_ transfer: Transfer, _ code: Int32) {
        guard let handle = transfer.handle else { return }
        if transfer.isParked { return detach(transfer) }
        switch transfer.sequel(to: code, handle) {
        case .end: break
        case .again:
            detach(transfer)
            transfer.rewind()
            return begin(transfer)
        case .wait:
            detach(transfer)
            transfer.rewind(forWaiting: now)
            return shortOfDescriptors.add(transfer, at: now)
        }
        let error = transfer.verdict(code, handle)
        transfer.noteCopiedBody()
        let timings = handle.timings(of: transfer)
        detach(transfer, endsExchange: error == nil)
        transfer.finish(error, timings)
    }

    /// Ends a transfer that libcurl has not ended.
    private func drop(_ transfer: Transfer, with error: ErrandError? = nil) {
        if transfer.isParked { return }
        // Its lookup has a thread of libcurl's, of which nobody would know when the handle is removed; before 7.87 the
        // removal would even wait for it.
        if transfer.isResolving { park(transfer) } else { detach(transfer) }
        transfer.finish(error ?? ErrandError(.cancelled, "the transfer was cancelled"), nil)
    }

    private func park(_ transfer: Transfer) {
        transfer.isParked = true
        parked += 1
        transfer.handle?.waitLong()
        sockets.release(transfer, at: now)
        leave(transfer)
    }

    private func detach(_ transfer: Transfer, endsExchange: Bool = false) {
        guard let index = transfer.index, let handle = transfer.handle else { return }
        errand_curl_multi_remove(multi, handle.raw)
        if transfer.isParked { parked -= 1 }
        sockets.release(transfer, at: now)
        transfer.leaveSocket(isSilent: endsExchange && transfer.head.isHTTP1)
        leave(transfer)
        transfer.index = nil
        transfer.handle = nil
        lastEnd = now
        if nextIdleCheck == .max { nextIdleCheck = now + patience }
        if let last = active.popLast(), last !== transfer {
            active[index] = last
            last.index = index
        }
        recycle(handle)
    }

    private func recycle(_ handle: EasyHandle) {
        if library.avoids(.handleReuse) { return }
        if idleHandles.count < Self.maximumIdleHandles { idleHandles.append(handle) }
    }

    /// Transfers that wait for a descriptor go on if there are some; else idle connections give theirs.
    private func lookForDescriptors() {
        let isOver = DescriptorShortage.isOver
        let (late, next) = shortOfDescriptors.due(at: now, hasDescriptors: isOver)
        for transfer in late { transfer.finish(transfer.descriptorError, nil) }
        for transfer in next { begin(transfer) }
        if isOver || shortOfDescriptors.isEmpty { return }
        if active.isEmpty { closeAll() } else { _ = sockets.endIdle(since: now) }
    }

    // MARK: Streams and silence

    /// A transfer has bytes for a reader that may be waiting: they are handed over at the end of the round, together.
    func needsFlush(_ transfer: Transfer) { unflushed.append(transfer) }

    private func flush() {
        if unflushed.isEmpty { return }
        for transfer in unflushed { transfer.flush() }
        unflushed.removeAll(keepingCapacity: true)
    }

    func expectDeadline(of transfer: Transfer) {
        if let deadline = transfer.deadline { nextDeadlineCheck = min(nextDeadlineCheck, deadline) }
    }

    private func checkDeadlines() {
        nextDeadlineCheck = .max
        // What ended is judged before any of it is removed: a removal lets another transfer begin.
        var overdue: [(Transfer, ErrandError)] = []
        for transfer in active {
            guard let deadline = transfer.deadline else { continue }
            if deadline <= now {
                overdue.append((transfer, transfer.overdueError))
            } else {
                nextDeadlineCheck = min(nextDeadlineCheck, deadline)
            }
        }
        for (transfer, error) in overdue { drop(transfer, with: error) }
    }

    /// Connections that have had no transfer for the configured time go; all of them at once when nothing runs.
    private func endIdle() {
        nextIdleCheck = .max
        // Which connection such a transfer has is not known, as with libcurl before 7.80: none is ended.
        let isUnclear = active.contains { transfer in
            transfer.held.isEmpty && !transfer.isParked && (transfer.isRequested || !library.tellsRequestStart)
        }
        if isUnclear {
            nextIdleCheck = now + patience
            return
        }
        if active.isEmpty {
            if lastEnd + patience > now { nextIdleCheck = lastEnd + patience } else { closeAll() }
        } else if let oldest = sockets.endIdle(since: now > patience ? now - patience : 0) {
            nextIdleCheck = oldest + patience
        } else {
            nextIdleCheck = now + patience
        }
    }
}
#endif
