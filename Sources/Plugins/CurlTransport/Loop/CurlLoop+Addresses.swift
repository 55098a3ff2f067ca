#if os(Linux) || os(Android)
import CErrandCurl

// Wakes libcurl when it must try a host's next address. Runs under the driver lock.
extension CurlLoop {
    /// libcurl has requested a socket to connect. -1 if that failed.
    func noteDialing(_ transfer: Transfer, _ descriptor: Int32) {
        guard library.avoids(.addressChange) else { return }
        if descriptor >= 0 {
            transfer.dialed.append(SocketTable.Hold(descriptor: descriptor, serial: sockets.serial))
        }
        // A socket that fails at once is never watched.
        transfer.hasUnwatchedSocket = true
        if transfer.isDialing { return }
        transfer.isDialing = true
        dialing.append(transfer)
    }

    /// Wakes transfers that lost a socket while connecting. Returns whether there were any.
    func wakeDialing() -> Bool {
        dialing.removeAll { transfer in
            if transfer.isDialing, transfer.index != nil, !transfer.isParked { return false }
            transfer.isDialing = false
            sockets.forgetClosed(transfer.dialed)
            transfer.dialed = []
            return true
        }
        var isAny = false
        for transfer in dialing where transfer.hasUnwatchedSocket {
            transfer.hasUnwatchedSocket = false
            transfer.handle?.wake()
            isAny = true
        }
        return isAny
    }

    /// The same for connections without a request.
    func wakeConnections() -> Bool {
        guard connections.hasUnwatchedSocket else { return false }
        connections.hasUnwatchedSocket = false
        guard library.avoids(.addressChange) else { return false }
        var isAny = false
        for connection in connections.all.values where connection.phase == .opening && connection.hasUnwatchedSocket {
            connection.hasUnwatchedSocket = false
            connection.handle?.wake()
            isAny = true
        }
        return isAny
    }
}
#endif
