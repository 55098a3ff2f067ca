#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

// The methods in this extension run under the driver lock.
extension CurlLoop {
    /// Does the pending work of a connection. `isReady` is true if the socket has reported an event.
    func serve(_ connection: CurlConnection, isReady: Bool = false) {
        driver.assertHeld()
        if connection.shared.withLock({ $0.isClosed }) { return close(connection) }
        switch connection.phase {
        case .new:
            connection.begun = now
            begin(connection)
        case .open:
            // Try to receive if the loop had stopped because of a slow reader, because epoll doesn't report the input
            // that arrived meanwhile.
            let receives = isReady || connection.registered & ERRAND_CURL_POLL_IN == 0
            if send(on: connection), !receives || receive(on: connection) { watch(connection) }
        case .opening, .over: break
        }
    }

    func act(onConnection event: errand_poll_event) -> Bool {
        if let connection = connections.open[event.descriptor] {
            serve(connection, isReady: true)
        } else if connections.watched[event.descriptor] != nil, let multi = connections.multi {
            multi.act(event.descriptor, event.mask)
        } else {
            return false
        }
        return true
    }

    func runConnections() -> Bool {
        guard let multi = connections.multi else { return false }
        if connections.deadline <= now {
            connections.deadline = .max
            multi.actOnTimer()
        }
        var isAny = wakeConnections()
        while let (connection, code) = multi.nextConnection() {
            isAny = true
            if let connection { opened(connection, code) }
        }
        return isAny
    }

    // MARK: Establishing

    private func begin(_ connection: CurlConnection) {
        if connections.multi == nil {
            connections.multi = CurlMulti()
            connections.multi?.setConnectionCallbacks(for: self)
        }
        guard let multi = connections.multi, let handle = EasyHandle(), let pool = CurlPool() else {
            return fail(
                connection, ErrandError(.transportFailed, "libcurl doesn't have enough memory for a connection"))
        }
        (connection.handle, connection.pool) = (handle, pool)
        do { try handle.prepare(for: connection, self, pool: pool) } catch { return fail(connection, error) }
        connection.phase = .opening
        connections.all[ObjectIdentifier(connection)] = connection
        let code = multi.add(handle.easy)
        if code != 0 {
            fail(connection, ErrandError(.transportFailed, "libcurl refused the connection"))
        }
    }

    private func opened(_ connection: CurlConnection, _ code: Int32) {
        guard connection.phase == .opening, let handle = connection.handle else { return }
        if connection.shared.withLock({ $0.isClosed }) { return release(connection) }
        if connection.rounds.goOn(after: code, since: connection.begun, at: now) {
            leaveLibrary(connection)
            return begin(connection)
        }
        guard code == 0 else { return fail(connection, handle.failure(code, proxy).error) }
        connection.descriptor = handle.easy.socket
        guard connection.descriptor >= 0 else {
            return fail(connection, ErrandError(.connectionLost, "the connection was closed immediately"))
        }
        if connection.isPlain { take(connection) }
        connection.phase = .open
        connections.open[connection.descriptor] = connection
        let opener = connection.shared.withLock { $0.opener.take() }
        if let opener { deferredWork.add(.progress(opener, nil)) }
        // The TLS library may have read bytes after its handshake, which epoll doesn't report.
        if receive(on: connection) { watch(connection) }
    }

    func watch(socket descriptor: Int32, _ what: Int32) {
        if connections.open[descriptor] != nil { return }
        let wanted = what & (ERRAND_CURL_POLL_IN | ERRAND_CURL_POLL_OUT)
        let registered = connections.watched[descriptor]
        if wanted == 0 {
            if registered != nil { errand_poll_remove(sockets.poll, descriptor) }
            connections.watched[descriptor] = nil
        } else if errand_poll_set(sockets.poll, descriptor, wanted, registered == nil ? 0 : 1) == 0 {
            connections.watched[descriptor] = wanted
        }
    }

    /// Sets the timer for connections. A negative number turns the timer off.
    func setConnectionTimer(_ milliseconds: Int) {
        connections.deadline =
            milliseconds < 0 ? .max : Nanoseconds.sum(now, Nanoseconds.of(milliseconds: milliseconds))
    }

    func forget(socket descriptor: Int32) {
        connections.watched[descriptor] = nil
        connections.open[descriptor] = nil
    }

    // MARK: Bytes

    private func watch(_ connection: CurlConnection) {
        var wanted: Int32 = connection.outgoing.isEmpty ? 0 : ERRAND_CURL_POLL_OUT
        let receives = connection.shared.withLock { shared in
            shared.isReceivePaused = shared.input.count >= CurlConnection.highWater
            return !shared.isReceivePaused && !shared.isAtEnd
        }
        if receives { wanted |= ERRAND_CURL_POLL_IN }
        if wanted == connection.registered { return }
        if wanted == 0 {
            // Remove the socket. Otherwise, epoll would still report the end of the connection.
            errand_poll_remove(sockets.poll, connection.descriptor)
        } else if errand_poll_set(sockets.poll, connection.descriptor, wanted, connection.registered == 0 ? 0 : 1) != 0
        {
            return fail(connection, ErrandError(.transportFailed, "epoll can't watch the connection's socket"))
        }
        connection.registered = wanted
    }

    private func send(on connection: CurlConnection) -> Bool {
        var sent = 0
        while true {
            if connection.outgoing.isEmpty {
                connection.outgoing = connection.shared.withLock { shared in
                    defer { shared.output = [] }
                    return shared.output[...]
                }
                connection.offset = 0
            }
            guard let piece = connection.outgoing.first else { break }
            var count = 0
            let code = connection.send(piece, from: connection.offset, &count)
            sent += count
            connection.offset += count
            if connection.offset == piece.count {
                connection.outgoing.removeFirst()
                connection.offset = 0
            } else if code == ERRAND_CURL_AGAIN || code == 0 && count == 0 {
                break
            }
            if code != 0 && code != ERRAND_CURL_AGAIN {
                fail(connection, connection.lost(code))
                return false
            }
        }
        if sent > 0 { note(sent, on: connection) }
        return true
    }

    private func note(_ sent: Int, on connection: CurlConnection) {
        let done = connection.shared.withLock { shared -> [Transfer.Waiter] in
            shared.sent += UInt64(sent)
            if shared.flushes.isEmpty { return [] }
            let limit = shared.sent
            defer { shared.flushes.removeAll { $0.upTo <= limit } }
            return shared.flushes.filter { $0.upTo <= limit }.map(\.waiter)
        }
        for waiter in done { deferredWork.add(.progress(waiter, nil)) }
    }

    private func receive(on connection: CurlConnection) -> Bool {
        var room = connections.takeBuffer()
        defer { connections.giveBack(room) }
        while connection.shared.withLock({ $0.input.count < CurlConnection.highWater && !$0.isAtEnd }) {
            var count = 0
            let code = connection.receive(into: &room, &count)
            if code == ERRAND_CURL_AGAIN { break }
            guard code == 0 else {
                fail(connection, connection.lost(code))
                return false
            }
            add(room[..<count], on: connection)
            // The buffer isn't full, so the socket doesn't have more bytes.
            if count < room.count, connection.isPlain { break }
        }
        let (reader, input) = connection.shared.withLock { shared -> (Transfer.Reader?, Data?) in
            guard shared.reader != nil, !shared.input.isEmpty || shared.isAtEnd else { return (nil, nil) }
            defer { shared.input = Data() }
            return (shared.reader.take(), shared.input.isEmpty ? nil : shared.input)
        }
        if let reader { deferredWork.add(.bytes(reader, .success(input))) }
        return true
    }

    private func add(_ bytes: ArraySlice<UInt8>, on connection: CurlConnection) {
        let data = Data(bytes)
        connection.shared.withLock { shared in
            if data.isEmpty { shared.isAtEnd = true }
            if shared.input.isEmpty { shared.input = data } else { shared.input.append(data) }
        }
    }

    // MARK: Closing

    private func fail(_ connection: CurlConnection, _ error: ErrandError) {
        for item in connection.ended(by: error) { deferredWork.add(item) }
        release(connection)
    }

    private func close(_ connection: CurlConnection) {
        // If libcurl can't abandon a name lookup, removing the handle blocks. ``opened(_:_:)`` releases the connection
        // later.
        if connection.phase == .opening, !library.leavesLookups { return }
        release(connection)
    }

    private func release(_ connection: CurlConnection) {
        if connection.phase == .over { return }
        if connection.descriptor >= 0 {
            if connection.registered != 0 { errand_poll_remove(sockets.poll, connection.descriptor) }
            connections.open[connection.descriptor] = nil
            if connection.isTaken { _ = errand_close(connection.descriptor) }
        }
        leaveLibrary(connection)
        (connection.phase, connection.outgoing) = (.over, [])
        if connections.all.removeValue(forKey: ObjectIdentifier(connection)) != nil {
            deferredWork.add(.leave(connection))
        }
    }
}

// Takes connections over from libcurl, under the driver lock.
extension CurlLoop {
    /// Takes over the socket of a connection without TLS, because libcurl would keep about 15 KB of memory for it.
    func take(_ connection: CurlConnection) {
        // epoll watches the socket, not its number. Remove it before the number refers to another socket.
        if connections.watched.removeValue(forKey: connection.descriptor) != nil {
            errand_poll_remove(sockets.poll, connection.descriptor)
        }
        let taken = errand_socket_take(connection.descriptor)
        if taken < 0 { return }
        connection.descriptor = taken
        leaveLibrary(connection)
    }

    func leaveLibrary(_ connection: CurlConnection) {
        if let handle = connection.handle.take() {
            if let multi = connections.multi, connection.phase != .new { multi.remove(handle.easy) }
            // Detach the pool first, because libcurl doesn't free a pool that a handle still uses.
            handle.easy.clear(ERRAND_CURLOPT_SHARE)
        }
        connection.pool = nil
    }
}

/// Connections without a request, in their own libcurl pools, under the loop's driver lock.
struct ConnectionTable {
    var multi: CurlMulti?
    var deadline = UInt64.max
    var all: [ObjectIdentifier: CurlConnection] = [:]
    var open: [Int32: CurlConnection] = [:]
    /// The sockets that libcurl watches while it connects, with their events.
    var watched: [Int32: Int32] = [:]
    var hasUnwatchedSocket = false
    private var buffer: [UInt8] = []

    private static let bufferBytes = 64 << 10

    var isEmpty: Bool { all.isEmpty }

    /// Takes the buffer out of the table. Receiving into the table's own buffer would access the table while libcurl's
    /// callbacks access it, too.
    mutating func takeBuffer() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &buffer)
        return taken.isEmpty ? Array(repeating: 0, count: Self.bufferBytes) : taken
    }

    mutating func giveBack(_ taken: consuming [UInt8]) { buffer = taken }
}
#endif
