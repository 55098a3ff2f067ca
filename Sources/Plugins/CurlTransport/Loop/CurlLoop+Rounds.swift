#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import Synchronization

// The methods in this extension run under the driver lock.
extension CurlLoop {
    var nextDeadline: UInt64 {
        min(
            curlDeadline ?? .max, nextDeadlineCheck, nextKeepAliveCheck, shortOfDescriptors.deadline,
            connections.deadline)
    }

    /// How long the loop may sleep at most. libcurl sets a timer when a request waits for a connection. If the loop
    /// wakes before that timer fires, the thread that starts the request doesn't have to wake the loop.
    var longestSleep: UInt64 {
        active.isEmpty && sockets.isEmpty ? .max : Nanoseconds.sum(now, max(connectTimeout, Self.shortestHorizon))
    }

    private static let shortestHorizon = Nanoseconds.of(milliseconds: 1000)
    /// How often the loop repeats its work before it checks its sockets again. Work may cause more work.
    private static let maximumRepetitions = 8

    /// Does one round of work. Returns `false` if the process is ending, because libcurl and its TLS library may no
    /// longer exist. `mayGather` is true if another round follows immediately while ``isGathering`` is true.
    func work(events: ArraySlice<errand_poll_event>, mayGather: Bool) -> Bool {
        driver.assertHeld()
        if errand_curl_enter() == 0 { return false }
        defer { errand_curl_leave() }
        now = Nanoseconds.now
        for event in events { act(on: event) }
        var repetitions = 0
        repeat {
            let hasRun = runCommands()
            let isDue = curlDeadline.map { $0 <= now } ?? false
            if isDue {
                curlDeadline = nil
                if hasNewTransfers { endSpoiledConnections() }
                multi.actOnTimer()
            }
            let hasFinished = finishTransfers()
            let hasBegun = beginWaiting()
            let hasConnected = connections.multi != nil && runConnections()
            let hasWoken = !dialing.isEmpty && wakeDialing()
            repetitions += 1
            if !hasRun && !isDue && !hasFinished && !hasBegun && !hasConnected && !hasWoken { break }
        } while repetitions < Self.maximumRepetitions
        flush(mayGather: mayGather)
        if nextDeadlineCheck <= now { checkDeadlines() }
        if nextKeepAliveCheck <= now { endIdleConnections() }
        if shortOfDescriptors.deadline <= now { lookForDescriptors() }
        _ = beginWaiting()
        return true
    }

    /// Ends idle connections that have received bytes, before libcurl reuses a connection. Later libcurl versions check
    /// for such bytes only once per second.
    private func endSpoiledConnections() {
        sockets.endSpoiled()
        hasNewTransfers = false
    }

    /// Sets libcurl's timer. A negative number turns the timer off.
    func setTimer(_ milliseconds: Int) {
        curlDeadline = milliseconds < 0 ? nil : Nanoseconds.sum(now, Nanoseconds.of(milliseconds: milliseconds))
    }

    private func act(on event: errand_poll_event) {
        if event.descriptor == wake {
            errand_wake_take(wake)
            isWoken.store(false, ordering: .releasing)
        } else if connections.multi != nil, act(onConnection: event) {
            return
        } else if let mask = sockets.wanted(event) {
            multi.act(event.descriptor, mask)
        } else {
            endUploads(on: event.descriptor)
        }
    }

    /// Handles an event for which libcurl doesn't wait, which is most likely the connection's end.
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
            case .start(let transfer):
                begin(transfer)
                // The command may have held the last reference, which must not be released under the lock.
                if transfer.index == nil { deferredWork.add(.release(transfer)) }
            case .stop(let transfer):
                if has(transfer) { drop(transfer) }
                deferredWork.add(.release(transfer))
            case .inactivity(let transfer, let noticed):
                // Waiting in the origin's queue isn't inactivity, and bytes may have arrived since the command was
                // submitted.
                if transfer.waitsAt == nil, transfer.lastActivity <= noticed, has(transfer) {
                    endInactivity(of: transfer)
                }
                deferredWork.add(.release(transfer))
            case .resume(let transfer):
                if transfer.index != nil { resume(transfer) }
                deferredWork.add(.release(transfer))
            case .serve(let connection):
                serve(connection)
                deferredWork.add(.leave(connection))
            }
        }
        commands.removeAll(keepingCapacity: true)
        swap(&commands, &spareCommands)
        return isAny
    }

    private func finishTransfers() -> Bool {
        var isAny = false
        while let (transfer, code) = multi.nextTransfer() {
            isAny = true
            if let transfer { finish(transfer, code) }
        }
        return isAny
    }

    private func beginWaiting() -> Bool {
        var isAny = false
        while let transfer = origins.next(below: maximumPerOrigin) {
            isAny = true
            begin(transfer, isNext: true)
            if transfer.index == nil { deferredWork.add(.release(transfer)) }
        }
        return isAny
    }

    func needsFlush(_ transfer: Transfer) { unflushed.append(transfer) }

    /// Whether bytes are held back from waiting readers, because more are arriving.
    var isGathering: Bool { !unflushed.isEmpty }

    private func flush(mayGather: Bool) {
        if unflushed.isEmpty { return }
        var gathering = 0
        for transfer in unflushed {
            switch transfer.flush(mayGather: mayGather && transfer.index != nil) {
            case .kept: break
            case .gathered:
                unflushed[gathering] = transfer
                gathering += 1
                continue
            case .handedOver(let item): deferredWork.add(item)
            }
            if transfer.index == nil { deferredWork.add(.release(transfer)) }
        }
        unflushed.removeLast(unflushed.count - gathering)
    }
}
#endif
