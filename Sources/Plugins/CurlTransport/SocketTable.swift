#if os(Linux)
import CErrandCurl
import Errand

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What libcurl wants to hear of which socket, kept in step with epoll, and which transfers hold its connection.
///
/// A connection between two requests stays registered with epoll: registering it anew would cost two system calls for
/// each request. It is taken out when it becomes readable while nobody wants it.
final class SocketTable: @unchecked Sendable {
    // Sendable: everything but the constants is touched by the holder of the loop's driver lock only.

    /// A socket as one transfer holds it; its descriptor may since belong to another one.
    struct Hold: Equatable {
        let descriptor: Int32
        let serial: UInt64
    }

    private struct Entry {
        var wanted: Int32 = 0
        var registered: Int32 = 0
        /// Made by `open`, so that its end is heard of.
        var isOurs = false
        /// The last exchange on it was in HTTP/1 and is over, so that nothing may come on it before the next request.
        var isQuiet = false
        /// The transfer for which libcurl last named it.
        var user: ObjectIdentifier?
        var serial: UInt64 = 0
        /// Transfers that run on the connection, those that are paused and want nothing of the socket included.
        var holders = 0
        /// Since when it has neither a transfer nor anything that libcurl wants of it.
        var idleSince: UInt64?
        /// The local port; 0 while it is not known.
        var port: UInt16 = 0
        var origin: Origin?
    }

    private let poll: Int32
    private var entries: [Entry] = []
    /// How many transfers may be on a kept connection whose socket is not known.
    private var unplaced = 0
    /// Quiet connections on which something came that a transfer may be waiting for.
    private var doubtful: [Int32] = []
    private var ports: [UInt16: [Int32]] = [:]
    /// Sockets whose local ports have not been asked for.
    private var withoutPort: [Int32] = []
    private var serial: UInt64 = 0
    private var open = 0
    private var lastFull: UInt64 = 0
    private let maximumOpen: Int
    private let maximumPerOrigin: Int

    init(maximumOpen: Int, maximumPerOrigin: Int) throws {
        (self.maximumOpen, self.maximumPerOrigin) = (maximumOpen, maximumPerOrigin)
        poll = errand_poll_make()
        guard poll >= 0 else {
            if DescriptorShortage.isReported { throw DescriptorShortage() }
            throw ErrandError(.transportFailed, "epoll failed: \(String(cString: strerror(errno)))")
        }
    }

    deinit { errand_close(poll) }

    func watch(_ descriptor: Int32) -> Bool { errand_poll_set(poll, descriptor, ERRAND_POLL_IN, 0) == 0 }

    func wait(into events: UnsafeMutableBufferPointer<errand_poll_event>, milliseconds: Int32) -> Int {
        Int(errand_poll_wait(poll, events.baseAddress, Int32(events.count), milliseconds))
    }

    /// The event in libcurl's words; nil if nobody waits for it any more.
    func wanted(_ event: errand_poll_event) -> Int32? {
        let index = Int(event.descriptor)
        guard index < entries.count else { return nil }
        guard entries[index].wanted != 0 else {
            errand_poll_remove(poll, event.descriptor)
            entries[index].registered = 0
            if entries[index].isQuiet {
                let isDoubtful = unplaced > 0 || entries[index].holders > 0
                if isDoubtful { doubtful.append(event.descriptor) } else { end(event.descriptor) }
            }
            return nil
        }
        var mask: Int32 = 0
        if event.events & ERRAND_POLL_IN != 0 { mask |= ERRAND_CURL_CSELECT_IN }
        if event.events & ERRAND_POLL_OUT != 0 { mask |= ERRAND_CURL_CSELECT_OUT }
        if event.events & ERRAND_POLL_ERROR != 0 { mask |= ERRAND_CURL_CSELECT_ERR }
        return mask
    }

    /// Ends the quiet connections on which something came: what a server sends without a request, such as a 408 before it
    /// closes, would be taken for the response to the next one.
    func endSpoiled() {
        withUnsafeTemporaryAllocation(of: errand_poll_event.self, capacity: 16) { events in
            let count = wait(into: events, milliseconds: 0)
            for event in events[..<count] where isQuiet(event.descriptor) { _ = wanted(event) }
        }
    }

    private func isQuiet(_ descriptor: Int32) -> Bool {
        Int(descriptor) < entries.count && entries[Int(descriptor)].isQuiet
    }

    /// An event may be older than the end of the exchange that it belongs to; then there is nothing to read. What there is
    /// is taken out: libcurl finds a connection at its end only if nothing comes before it.
    private func end(_ descriptor: Int32) {
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { bytes in
            for round in 0..<16 {
                let count = recv(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT))
                if count < 0 && round == 0 && (errno == EAGAIN || errno == EINTR) { return }
                if count <= 0 { break }
            }
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    /// A transfer is no longer on a connection; `isSilent` says that its exchange in HTTP/1 is over. Ignored where another
    /// transfer is on the connection by now, or the descriptor is another socket's.
    func leave(_ descriptor: Int32, by user: Transfer, isSilent: Bool, at now: UInt64) {
        let index = grow(to: descriptor)
        guard entries[index].isOurs, entries[index].wanted == 0, entries[index].user == ObjectIdentifier(user) else {
            return
        }
        entries[index].isQuiet = isSilent && entries[index].holders == 0
        entries[index].user = nil
        noteIdle(index, at: now)
    }

    /// libcurl has given a transfer a connection without naming the socket. It may have sent the request, received a part
    /// of the response and paused in one step: then it wants nothing of a socket that seems to be without a request.
    func addUnplaced() { unplaced += 1 }

    /// The socket of such a transfer is named, or the transfer is over.
    func removeUnplaced() {
        unplaced -= 1
        lookAgain()
    }

    /// What came on a connection is looked at again when no transfer can be waiting for it.
    private func lookAgain() {
        if unplaced > 0 || doubtful.isEmpty { return }
        doubtful.removeAll { descriptor in
            let index = Int(descriptor)
            guard isQuiet(descriptor), entries[index].registered == 0 else { return true }
            if entries[index].holders > 0 { return false }
            let isRegistered = errand_poll_set(poll, descriptor, ERRAND_CURL_POLL_IN, 0) == 0
            if isRegistered { entries[index].registered = ERRAND_CURL_POLL_IN }
            return true
        }
    }

    /// libcurl changed what it wants of a socket, for `transfer` if it is one of ours.
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

    // MARK: Connections

    /// A socket for a connection of libcurl's; -1 if there is none.
    func open(_ address: UnsafeMutablePointer<errand_curl_sockaddr>, for origin: Origin?) -> Int32 {
        let descriptor = errand_socket_make(
            address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        if descriptor < 0 { return descriptor }
        serial += 1
        entries[grow(to: descriptor)] = Entry(isOurs: true, serial: serial, origin: origin)
        origin?.open += 1
        open += 1
        withoutPort.append(descriptor)
        return descriptor
    }

    func close(socket descriptor: Int32) -> Int32 {
        if Int(descriptor) < entries.count, entries[Int(descriptor)].isOurs {
            let entry = entries[Int(descriptor)]
            if open >= maximumOpen { lastFull = Nanoseconds.now }
            if let origin = entry.origin {
                if origin.open >= maximumPerOrigin { origin.lastFull = Nanoseconds.now }
                origin.open -= 1
            }
            open -= 1
            withoutPort.removeAll { $0 == descriptor }
            if entry.port != 0 {
                ports[entry.port]?.removeAll { $0 == descriptor }
                if ports[entry.port]?.isEmpty == true { ports[entry.port] = nil }
            }
            entries[Int(descriptor)] = Entry()
        }
        return errand_close(descriptor)
    }

    /// A transfer runs on the connection of this socket.
    private func hold(_ descriptor: Int32, by transfer: Transfer) {
        let index = Int(descriptor)
        guard transfer.index != nil, entries[index].isOurs else { return }
        let hold = Hold(descriptor: descriptor, serial: entries[index].serial)
        if transfer.held.contains(hold) { return }
        transfer.held.append(hold)
        entries[index].holders += 1
        entries[index].idleSince = nil
    }

    /// A transfer got a connection with this local port, which may be an old one with other transfers on it. All of
    /// several with the same port are held.
    func hold(port: UInt16, by transfer: Transfer) {
        if port == 0 { return }
        withoutPort.removeAll { descriptor in
            let index = Int(descriptor)
            guard entries[index].isOurs, entries[index].port == 0 else { return true }
            entries[index].port = UInt16(clamping: errand_socket_port(descriptor))
            if entries[index].port == 0 { return false }
            ports[entries[index].port, default: []].append(descriptor)
            return true
        }
        guard let sockets = ports[port] else { return }
        for descriptor in sockets { hold(descriptor, by: transfer) }
        if sockets.count == 1 { transfer.setUnplaced(false) }
    }

    /// A transfer is over.
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

    private func noteIdle(_ index: Int, at now: UInt64) {
        let isIdle = entries[index].isOurs && entries[index].holders == 0 && entries[index].wanted == 0
        entries[index].idleSince = isIdle ? entries[index].idleSince ?? now : nil
    }

    /// Ends the connections that had no transfer since then; libcurl takes leave of them at the next one. The result is
    /// since when the oldest of the others has none. None ends while a transfer may be on any of them.
    func endIdle(since: UInt64) -> UInt64? {
        if unplaced > 0 { return nil }
        var oldest: UInt64?
        for index in entries.indices {
            guard let idle = entries[index].idleSince else { continue }
            if idle <= since {
                shutdown(Int32(index), Int32(SHUT_RDWR))
                entries[index].idleSince = nil
            } else {
                oldest = min(oldest ?? idle, idle)
            }
        }
        return oldest
    }

    /// Since when a transfer that has no connection waits for one to be made: a wait for a free one does not count.
    func waitStart(_ origin: Origin, since begun: UInt64, now: UInt64) -> UInt64 {
        isFull(origin) ? now : max(begun, origin.lastFull, lastFull)
    }

    func isFull(_ origin: Origin) -> Bool { origin.open >= maximumPerOrigin || open >= maximumOpen }

    private func grow(to descriptor: Int32) -> Int {
        while entries.count <= Int(descriptor) { entries.append(Entry()) }
        return Int(descriptor)
    }
}

/// The connections to one host and port, whose requests wait for the first one.
final class Origin {
    let name: String
    /// Sockets that are open, those that are still connecting included.
    var open = 0
    /// When there were last as many as there may be.
    var lastFull: UInt64 = 0
    /// Transfers that run or wait.
    var transfers = 0

    init(_ name: String) { self.name = name }
}
#endif
