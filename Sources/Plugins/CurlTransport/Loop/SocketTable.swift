#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport

/// The sockets that libcurl waits for, which epoll watches, and the transfers on their connections.
///
/// A connection stays registered with epoll between two requests, because registering it again would cost two system
/// calls. If the connection becomes readable while libcurl doesn't wait for it, it is removed from epoll.
final class SocketTable: @unchecked Sendable {
    // Sendable: variables are accessed only under the loop's driver lock. `CurlLoop` explains the unchecked
    // exclusivity.

    /// A transfer's socket. The serial number shows whether the descriptor has been reused.
    struct Hold: Equatable {
        let descriptor: Int32
        let serial: UInt64
    }

    struct Entry {
        var wanted: Int32 = 0
        var registered: Int32 = 0
        /// Whether `open` created the socket, so libcurl reports its end.
        var isOurs = false
        /// The UDP socket of a QUIC connection.
        var isDatagram = false
        /// Whether the last HTTP/1 exchange has ended, so no bytes may arrive before the next request.
        var isQuiet = false
        /// The transfer for which libcurl last reported the socket.
        var user: ObjectIdentifier?
        var serial: UInt64 = 0
        /// The number of transfers on the connection, including paused transfers.
        var holders = 0
        /// The time since which the socket has no transfers and no events that libcurl waits for.
        var idleSince: UInt64?
        /// The local port, or 0 if the port isn't known yet.
        var port: UInt16 = 0
        var origin: Origin?
    }

    let poll: Int32
    @safe @exclusivity(unchecked) var entries: [Entry] = []
    /// Transfers that may use a kept connection whose socket is unknown.
    var unknownSocketCount = 0
    /// Quiet connections that received bytes, possibly for a transfer whose socket is unknown.
    @safe @exclusivity(unchecked) var doubtful: [Int32] = []
    @safe @exclusivity(unchecked) var ports = PortTable()
    @safe @exclusivity(unchecked) var withoutPort: [Int32] = []
    var serial: UInt64 = 0
    var open = 0
    var lastFull: UInt64 = 0
    let maximumOpen: Int
    let maximumPerOrigin: Int

    private static let spoiledAtOnce = 64
    @safe @exclusivity(unchecked)
    private var spoiled = [errand_poll_event](repeating: errand_poll_event(), count: spoiledAtOnce)

    var isEmpty: Bool { open == 0 }

    init(maximumOpen: Int, maximumPerOrigin: Int) throws {
        (self.maximumOpen, self.maximumPerOrigin) = (maximumOpen, maximumPerOrigin)
        poll = errand_poll_make()
        guard poll >= 0 else {
            if DescriptorShortage.isReported { throw DescriptorShortage() }
            throw ErrandError(.transportFailed, "epoll failed: \(systemErrorText(errno))")
        }
    }

    deinit { errand_close(poll) }

    func watch(_ descriptor: Int32) -> Bool { errand_poll_set(poll, descriptor, ERRAND_POLL_IN, 0) == 0 }

    func wait(into events: inout [errand_poll_event], milliseconds: Int32) -> Int {
        SystemCalls.wait(on: poll, into: &events, milliseconds: milliseconds)
    }

    func wanted(_ event: errand_poll_event) -> Int32? {
        let index = Int(event.descriptor)
        guard index < entries.count else { return nil }
        if entries[index].wanted != 0 { return event.mask }
        check(event.descriptor)
        return nil
    }

    /// Handles an event that libcurl doesn't wait for. Without received bytes, a quiet connection stays watched.
    private func check(_ descriptor: Int32) {
        let index = Int(descriptor)
        if entries[index].isQuiet {
            if unknownSocketCount > 0 || entries[index].holders > 0 {
                doubtful.append(descriptor)
            } else if !end(descriptor) {
                return
            }
        }
        errand_poll_remove(poll, descriptor)
        entries[index].registered = 0
    }

    /// Ends connections that no request uses, but that have received bytes. For example, some servers send a response
    /// with status 408 before they close an idle connection. libcurl would take these bytes for the next response.
    func endSpoiled() {
        // epoll moves the events that it returns to the end of its queue, so the next call returns other events.
        for _ in 0...(open / Self.spoiledAtOnce) {
            let count = wait(into: &spoiled, milliseconds: 0)
            for index in 0..<count where isQuiet(spoiled[index].descriptor) { check(spoiled[index].descriptor) }
            if count < Self.spoiledAtOnce { return }
        }
    }

    func isQuiet(_ descriptor: Int32) -> Bool {
        Int(descriptor) < entries.count && entries[Int(descriptor)].isQuiet
    }

    /// Ends a connection that has received bytes or has ended. Returns `false` if neither is the case, because the
    /// event may be outdated.
    ///
    /// Discards the received bytes first, because libcurl notices an end only if no bytes precede it.
    private func end(_ descriptor: Int32) -> Bool {
        for round in 0..<16 {
            let count = SystemCalls.discard(descriptor)
            if round == 0 && Self.isNothing(count) { return false }
            if count <= 0 { break }
        }
        shutdown(descriptor, Int32(SHUT_RDWR))
        return true
    }

    private static func isNothing(_ count: Int) -> Bool { count == -Int(EAGAIN) || count == -Int(EINTR) }

    func isSpoiled(_ descriptor: Int32) -> Bool {
        let count = SystemCalls.peek(descriptor)
        return !Self.isNothing(count)
    }

    func takenBytes(of descriptor: Int32) -> UInt64? { SystemCalls.taken(of: descriptor) }

    /// Records that a transfer has left its connection. With `isQuiet`, the transfer's HTTP/1 exchange has ended, so
    /// the connection is watched for bytes. Does nothing if the connection is in use again.
    func leave(_ descriptor: Int32, by user: Transfer, isQuiet: Bool, at now: UInt64) {
        let index = grow(to: descriptor)
        guard entries[index].isOurs, entries[index].wanted == 0, entries[index].user == ObjectIdentifier(user) else {
            return
        }
        entries[index].isQuiet = isQuiet && entries[index].holders == 0
        entries[index].user = nil
        if entries[index].isQuiet { watchForBytes(index) }
        noteIdle(index, at: now)
    }

    /// Counts a transfer whose socket libcurl didn't report. If such a transfer sends its request, receives part of the
    /// response and pauses in one step, its socket can appear idle although it's in use.
    func addUnknownSocket() { unknownSocketCount += 1 }

    /// Stops counting a transfer, because its socket becomes known or the transfer has ended.
    func removeUnknownSocket() {
        unknownSocketCount -= 1
        lookAgain()
    }

    /// Watches doubtful connections again once no transfer can be waiting for their bytes.
    func lookAgain() {
        if unknownSocketCount > 0 || doubtful.isEmpty { return }
        doubtful.removeAll { descriptor in
            let index = Int(descriptor)
            guard isQuiet(descriptor), entries[index].registered == 0 else { return true }
            if entries[index].holders > 0 { return false }
            watchForBytes(index)
            return true
        }
    }

    /// Watches a connection for input. libcurl may have watched it only for output.
    private func watchForBytes(_ index: Int) {
        let registered = entries[index].registered
        if registered == ERRAND_CURL_POLL_IN { return }
        let code = errand_poll_set(poll, Int32(index), ERRAND_CURL_POLL_IN, registered == 0 ? 0 : 1)
        if code == 0 { entries[index].registered = ERRAND_CURL_POLL_IN }
    }

    /// Records the events that libcurl waits for on a socket. `transfer` is `nil` unless ``open(_:for:)`` created the
    /// socket.
    func want(_ descriptor: Int32, _ what: Int32, for transfer: Transfer?, at now: UInt64) {
        let index = grow(to: descriptor)
        entries[index].isQuiet = false
        entries[index].user = transfer.map(ObjectIdentifier.init)
        let wanted = what & (ERRAND_CURL_POLL_IN | ERRAND_CURL_POLL_OUT)
        entries[index].wanted = wanted
        if wanted != 0, let transfer { hold(descriptor, by: transfer) }
        noteIdle(index, at: now)
        if wanted == entries[index].registered { return }
        if wanted == 0 {
            if entries[index].isOurs && what == ERRAND_CURL_POLL_REMOVE { return }
            errand_poll_remove(poll, descriptor)
            entries[index].registered = 0
        } else if errand_poll_set(poll, descriptor, wanted, entries[index].registered == 0 ? 0 : 1) == 0 {
            entries[index].registered = wanted
        }
    }

    func grow(to descriptor: Int32) -> Int {
        while entries.count <= Int(descriptor) { entries.append(Entry()) }
        return Int(descriptor)
    }
}

extension errand_poll_event {
    var mask: Int32 {
        var mask: Int32 = 0
        if events & ERRAND_POLL_IN != 0 { mask |= ERRAND_CURL_CSELECT_IN }
        if events & ERRAND_POLL_OUT != 0 { mask |= ERRAND_CURL_CSELECT_OUT }
        if events & ERRAND_POLL_ERROR != 0 { mask |= ERRAND_CURL_CSELECT_ERR }
        return mask
    }
}

/// The sockets by local port. Several sockets can share a port. The list is sorted, because every request looks up a
/// port and few requests add a socket.
struct PortTable {
    private var sockets: [(port: UInt16, descriptor: Int32)] = []

    subscript(index: Int) -> Int32 { sockets[index].descriptor }

    func range(of port: UInt16) -> Range<Int> {
        let start = slot(of: port)
        var end = start
        while end < sockets.count, sockets[end].port == port { end += 1 }
        return start..<end
    }

    mutating func insert(_ descriptor: Int32, at port: UInt16) {
        sockets.insert((port, descriptor), at: range(of: port).upperBound)
    }

    mutating func remove(_ descriptor: Int32, at port: UInt16) {
        for index in range(of: port) where sockets[index].descriptor == descriptor {
            sockets.remove(at: index)
            return
        }
    }

    private func slot(of port: UInt16) -> Int {
        var (start, end) = (0, sockets.count)
        while start < end {
            let middle = (start + end) / 2
            if sockets[middle].port < port { start = middle + 1 } else { end = middle }
        }
        return start
    }
}

extension SocketTable {

    func open(_ address: errand_curl_sockaddr, for origin: Origin?) -> Int32 {
        let descriptor = errand_socket_make(address.family, address.socktype, address.protocol)
        if descriptor < 0 { return descriptor }
        let index = grow(to: descriptor)
        forget(index)
        serial += 1
        let isDatagram = errand_socket_is_datagram(address.socktype) != 0
        entries[index] = Entry(isOurs: true, isDatagram: isDatagram, serial: serial, origin: origin)
        origin?.open += 1
        open += 1
        withoutPort.append(descriptor)
        return descriptor
    }

    func close(socket descriptor: Int32) -> Int32 {
        if Int(descriptor) < entries.count { forget(Int(descriptor)) }
        return errand_close(descriptor)
    }

    private func forget(_ index: Int) {
        let entry = entries[index]
        guard entry.isOurs else { return }
        let descriptor = Int32(index)
        if open >= maximumOpen { lastFull = Nanoseconds.now }
        if let origin = entry.origin {
            if origin.open >= maximumPerOrigin { origin.lastFull = Nanoseconds.now }
            origin.open -= 1
        }
        open -= 1
        withoutPort.removeAll { $0 == descriptor }
        if entry.port != 0 { ports.remove(descriptor, at: entry.port) }
        entries[index] = Entry()
    }

    /// Forgets sockets that libcurl has closed. Some versions close a socket that isn't connected yet without a
    /// callback.
    func forgetClosed(_ dialed: [Hold]) {
        for hold in dialed where entries[Int(hold.descriptor)].serial == hold.serial {
            if fcntl(hold.descriptor, F_GETFD) < 0 { forget(Int(hold.descriptor)) }
        }
    }

    func isAlone(_ transfer: Transfer) -> Bool {
        transfer.held.allSatisfy {
            entries[Int($0.descriptor)].serial != $0.serial || entries[Int($0.descriptor)].holders <= 1
        }
    }

    func hold(_ descriptor: Int32, by transfer: Transfer) {
        let index = Int(descriptor)
        guard transfer.index != nil, entries[index].isOurs else { return }
        let hold = Hold(descriptor: descriptor, serial: entries[index].serial)
        if transfer.held.contains(hold) { return }
        transfer.held.append(hold)
        entries[index].holders += 1
        entries[index].idleSince = nil
    }

    /// Finds the socket of a transfer by its port. Call this when the transfer got its connection. If several sockets
    /// share the port, the transfer holds all of them, and the result is `nil`.
    func hold(port: UInt16, by transfer: Transfer) -> Hold? {
        if port == 0 { return nil }
        if !withoutPort.isEmpty { notePorts() }
        let range = ports.range(of: port)
        for index in range { hold(ports[index], by: transfer) }
        guard range.count == 1, let index = range.first else { return nil }
        transfer.setSocketUnknown(false)
        return Hold(descriptor: ports[index], serial: entries[Int(ports[index])].serial)
    }

    private func notePorts() {
        withoutPort.removeAll { descriptor in
            let index = Int(descriptor)
            guard entries[index].isOurs, entries[index].port == 0 else { return true }
            entries[index].port = UInt16(clamping: errand_socket_port(descriptor))
            if entries[index].port == 0 { return false }
            ports.insert(descriptor, at: entries[index].port)
            return true
        }
    }

    func release(_ transfer: Transfer, at now: UInt64) {
        for hold in transfer.held {
            let index = Int(hold.descriptor)
            guard entries[index].serial == hold.serial else { continue }
            entries[index].holders -= 1
            noteIdle(index, at: now)
        }
        transfer.held.removeAll()
        lookAgain()
    }

    func noteIdle(_ index: Int, at now: UInt64) {
        let isIdle = entries[index].isOurs && entries[index].holders == 0 && entries[index].wanted == 0
        entries[index].idleSince = isIdle ? entries[index].idleSince ?? now : nil
    }

    /// Ends connections that have been idle since a time, so libcurl closes them with its next transfer. Returns the
    /// time since which the oldest other connection has been idle. Keeps all connections while a transfer's socket is
    /// unknown.
    func endIdle(since: UInt64) -> UInt64? {
        if unknownSocketCount > 0 { return nil }
        var oldest: UInt64?
        for index in entries.indices {
            // QUIC ends idle connections itself, and libcurl doesn't reuse old ones.
            guard let idle = entries[index].idleSince, !entries[index].isDatagram else { continue }
            if idle <= since {
                shutdown(Int32(index), Int32(SHUT_RDWR))
                entries[index].idleSince = nil
            } else {
                oldest = min(oldest ?? idle, idle)
            }
        }
        return oldest
    }

    /// Returns when the transfer began to wait for a new connection. Waiting for a free connection doesn't count.
    func waitStart(_ origin: Origin, since begun: UInt64, now: UInt64) -> UInt64 {
        isFull(origin) ? now : max(begun, origin.lastFull, lastFull)
    }

    func isFull(_ origin: Origin) -> Bool { origin.open >= maximumPerOrigin || open >= maximumOpen }
}
#endif
