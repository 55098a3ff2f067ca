#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import Synchronization

// The methods in this extension run under the driver lock.
extension CurlLoop {
    /// Returns whether the transfer is in the loop. Also removes a waiting transfer from its queue.
    func has(_ transfer: Transfer) -> Bool {
        transfer.index != nil || origins.remove(transfer) || shortOfDescriptors.remove(transfer)
    }

    /// Starts a transfer. If too many transfers are running, adds it to its origin's queue. With `isNext`, transfers
    /// that already wait in the queue don't delay it.
    func begin(_ transfer: Transfer, isNext: Bool = false) {
        driver.assertHeld()
        if transfer.isCancelled { return }
        let origin = origins.origin(of: transfer)
        transfer.sharesConnection = speaksHTTP2 && transfer.target.isSecure
        transfer.route = nil
        // libcurl could make the request wait, too, but would need the full memory of a transfer for it.
        let isFull = origin.transfers >= maximumPerOrigin || !isNext && !origin.line.isEmpty
        if !transfer.sharesConnection, isFull {
            return origins.enqueue(transfer, for: origin)
        }
        // A request that was sent before has already been checked.
        if isNext, transfer.attempts.count == 0 {
            do { try transfer.options.checkBeforeSending(transfer.request) } catch { return fail(transfer, error) }
        }
        guard let handle = idleHandles.popLast() ?? EasyHandle() else {
            return fail(transfer, ErrandError(.transportFailed, "libcurl doesn't have enough memory for a transfer"))
        }
        findRoute(of: transfer, origin)
        do { try handle.prepare(for: transfer) } catch {
            if transfer.route?.isProbe == true { alternatives.withdraw(origin.name) }
            handle.forgetTransfer()
            recycle(handle, after: false)
            return fail(transfer, error)
        }
        transfer.handle = handle
        transfer.index = active.count
        active.append(transfer)
        (transfer.lastActivity, transfer.begun, transfer.connecting) = (now, now, now)
        join(transfer, origin)
        if !library.reportsAttempts { transfer.hasStarted = true }
        expectDeadline(of: transfer)
        hasNewTransfers = true
        let code = multi.add(handle.easy)
        if code != 0 {
            drop(
                transfer,
                with: ErrandError(
                    .transportFailed, "libcurl refused the transfer",
                    underlying: CurlError(code: code, message: "CURLMcode")))
        }
    }

    private func fail(_ transfer: Transfer, _ error: ErrandError) { deferredWork.add(transfer.finish(error, nil)) }

    /// Watches a transfer that can share a connection from now on, because it may wait until the first connection to
    /// its host is open.
    private func join(_ transfer: Transfer, _ origin: Origin) {
        origin.transfers += 1
        transfer.origin = origin
        if !transfer.sharesConnection || transfer.usesLoopClock || !library.reportsAttempts { return }
        transfer.startWatch()
    }

    func resume(_ transfer: Transfer) {
        driver.assertHeld()
        guard let handle = transfer.handle, !transfer.isParked else { return }
        transfer.noteActivity()
        let code = handle.easy.pause(transfer.pausedHalves())
        // `badFunctionArgument` means that the transfer waits for a connection or has ended.
        if code != 0 && code != CurlCode.badFunctionArgument { finish(transfer, code) }
        expectDeadline(of: transfer)
    }

    func finish(_ transfer: Transfer, _ code: Int32) {
        driver.assertHeld()
        guard let handle = transfer.handle else { return }
        if transfer.isParked { return detach(transfer) }
        if code != 0, transfer.failure == nil { noteFailure(of: transfer, code) }
        switch transfer.sequel(to: code, handle) {
        case .end: break
        case .again:
            detach(transfer)
            transfer.rewind()
            begin(transfer, isNext: true)
            if transfer.index == nil { deferredWork.add(.release(transfer)) }
            return
        case .wait:
            detach(transfer)
            transfer.rewind(forWaiting: now)
            return shortOfDescriptors.add(transfer, at: now)
        }
        let error = transfer.verdict(code, handle)
        transfer.noteCopiedBody()
        let timings = transfer.options.isObserved ? handle.timings(of: transfer) : nil
        detach(transfer, endsExchange: error == nil)
        deferredWork.add(transfer.finish(error, timings))
    }

    func drop(_ transfer: Transfer, with error: ErrandError? = nil) {
        driver.assertHeld()
        if transfer.isParked { return }
        if error != nil { noteFailure(of: transfer) }
        // Removing the handle doesn't end libcurl's lookup thread. Before 7.87, the removal even waits for that thread.
        if transfer.isResolving { park(transfer) } else { detach(transfer) }
        deferredWork.add(transfer.finish(error ?? Transfer.cancelled, nil))
    }

    private func park(_ transfer: Transfer) {
        transfer.isParked = true
        parked += 1
        transfer.handle?.waitLong()
        sockets.release(transfer, at: now)
        leaveRoute(of: transfer)
        origins.leave(transfer)
    }

    func detach(_ transfer: Transfer, endsExchange: Bool = false) {
        driver.assertHeld()
        guard let index = transfer.index, let handle = transfer.handle else { return }
        multi.remove(handle.easy)
        if transfer.isParked {
            parked -= 1
            deferredWork.add(.release(transfer))
        }
        sockets.release(transfer, at: now)
        transfer.leaveSocket(isQuiet: endsExchange && transfer.head.isHTTP1)
        leaveRoute(of: transfer)
        origins.leave(transfer)
        transfer.index = nil
        transfer.handle = nil
        handle.forgetTransfer()
        lastEnd = now
        if nextKeepAliveCheck == .max { nextKeepAliveCheck = Nanoseconds.sum(now, keepAliveTime) }
        if let last = active.popLast(), last !== transfer {
            active[index] = last
            last.index = index
        }
        recycle(handle, after: endsExchange && transfer.attempts.onHandle <= 1)
    }

    private func recycle(_ handle: EasyHandle, after isSmooth: Bool) {
        if idleHandles.count < Self.maximumIdleHandles, handle.makeReusable(after: isSmooth, library) {
            idleHandles.append(handle)
        }
    }
}
#endif
