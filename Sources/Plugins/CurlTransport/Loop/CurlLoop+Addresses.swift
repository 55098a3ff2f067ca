#if os(Linux) || os(Android)
import CErrandCurl

// The change from one address of a host to the next, where libcurl has to be woken for it: under the driver lock.
extension CurlLoop {
    /// libcurl makes a connection for a transfer, and has asked for a socket; -1 if there is none.
    func noteDialing(_ transfer: Transfer, _ descriptor: Int32) {
        guard library.avoids(.addressChange) else { return }
        if descriptor >= 0 {
            transfer.dialed.append(SocketTable.Hold(descriptor: descriptor, serial: sockets.serial))
        }
        // Until it is watched: one that fails at once never is.
        transfer.hasUnwatchedSocket = true
        if transfer.isDialing { return }
        transfer.isDialing = true
        dialing.append(transfer)
    }

    /// Wakes the transfers that have lost a socket while their connection is being made; whether there were any.
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
