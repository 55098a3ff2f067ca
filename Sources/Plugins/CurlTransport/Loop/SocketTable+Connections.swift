#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport

// Open connections, and the transfers on them.
extension SocketTable {

    /// Returns -1 on failure.
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

    /// Forgets sockets closed without a callback, as some libcurl versions do before a socket is connected.
    func forgetClosed(_ dialed: [Hold]) {
        for hold in dialed where entries[Int(hold.descriptor)].serial == hold.serial {
            if fcntl(hold.descriptor, F_GETFD) < 0 { forget(Int(hold.descriptor)) }
        }
    }

    /// Returns whether no other transfer is on its connections.
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

    /// A transfer got a connection with this local port, possibly shared. Holds all sockets with the port. Returns the
    /// connection, or `nil` if it is ambiguous.
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

    /// Shuts down connections that are idle since a given time; libcurl closes them with its next transfer. Returns
    /// since when the oldest other connection is idle. Keeps all of them while a transfer may be on any.
    func endIdle(since: UInt64) -> UInt64? {
        if unknownSocketCount > 0 { return nil }
        var oldest: UInt64?
        for index in entries.indices {
            // QUIC ends connections itself, and libcurl doesn't use old ones.
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

    /// Since when a transfer waits for a connection to be made. Waiting for a free one doesn't count.
    func waitStart(_ origin: Origin, since begun: UInt64, now: UInt64) -> UInt64 {
        isFull(origin) ? now : max(begun, origin.lastFull, lastFull)
    }

    func isFull(_ origin: Origin) -> Bool { origin.open >= maximumPerOrigin || open >= maximumOpen }
}
#endif
