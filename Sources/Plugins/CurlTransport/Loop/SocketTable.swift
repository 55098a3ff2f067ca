#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport

/// The sockets libcurl waits for, kept in sync with epoll, and the transfers that hold their connections.
///
/// A connection stays registered with epoll between two requests, because registering it again would cost two system
/// calls. It is removed when it becomes readable while libcurl doesn't wait for it.
final class SocketTable: @unchecked Sendable {
    // Sendable: everything but the constants is only accessed under the loop's driver lock. `CurlLoop` explains the
    // unchecked exclusive access.

    /// A transfer's socket. The descriptor may have been reused since.
    struct Hold: Equatable {
        let descriptor: Int32
        let serial: UInt64
    }

    struct Entry {
        var wanted: Int32 = 0
        var registered: Int32 = 0
        /// Whether `open` created it, so libcurl reports its end.
        var isOurs = false
        /// A QUIC connection's UDP socket.
        var isDatagram = false
        /// Whether its last HTTP/1 exchange has ended, so bytes must not arrive before the next request.
        var isQuiet = false
        /// The transfer for which libcurl last named it.
        var user: ObjectIdentifier?
        var serial: UInt64 = 0
        /// Transfers on the connection, even if they are paused and don't wait for events.
        var holders = 0
        /// Since when it has neither transfers nor events libcurl waits for.
        var idleSince: UInt64?
        /// 0 if it isn't known.
        var port: UInt16 = 0
        var origin: Origin?
    }

    let poll: Int32
    @safe @exclusivity(unchecked) var entries: [Entry] = []
    /// Transfers that may be on a kept connection with an unknown socket.
    var unknownSocketCount = 0
    /// Quiet connections that received bytes a transfer may be waiting for.
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

    /// Returns `nil` if libcurl doesn't wait for the event.
    func wanted(_ event: errand_poll_event) -> Int32? {
        let index = Int(event.descriptor)
        guard index < entries.count else { return nil }
        if entries[index].wanted != 0 { return event.mask }
        check(event.descriptor)
        return nil
    }

    /// libcurl doesn't wait for this event. A quiet socket without bytes stays watched.
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

    /// Ends quiet connections with bytes, such as a 408 that a server sends before it closes. They would be taken for
    /// the next response.
    func endSpoiled() {
        // epoll moves returned events to the end of its line.
        for _ in 0...(open / Self.spoiledAtOnce) {
            let count = wait(into: &spoiled, milliseconds: 0)
            for index in 0..<count where isQuiet(spoiled[index].descriptor) { check(spoiled[index].descriptor) }
            if count < Self.spoiledAtOnce { return }
        }
    }

    func isQuiet(_ descriptor: Int32) -> Bool {
        Int(descriptor) < entries.count && entries[Int(descriptor)].isQuiet
    }

    /// Ends a quiet connection that has bytes or has ended. Returns `false` if neither applies, because the event may
    /// be older. Reads bytes first: libcurl only notices an end without bytes before it.
    private func end(_ descriptor: Int32) -> Bool {
        for round in 0..<16 {
            let count = SystemCalls.discard(descriptor)
            if round == 0 && Self.isNothing(count) { return false }
            if count <= 0 { break }
        }
        shutdown(descriptor, Int32(SHUT_RDWR))
        return true
    }

    /// Whether a read may find bytes later.
    private static func isNothing(_ count: Int) -> Bool { count == -Int(EAGAIN) || count == -Int(EINTR) }

    func isSpoiled(_ descriptor: Int32) -> Bool {
        let count = SystemCalls.peek(descriptor)
        return !Self.isNothing(count)
    }

    /// `nil` if the system doesn't report it.
    func takenBytes(of descriptor: Int32) -> UInt64? { SystemCalls.taken(of: descriptor) }

    /// A transfer has left a connection. With `isQuiet`, its HTTP/1 exchange has ended. Ignored if the connection or
    /// the descriptor is in use again.
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

    /// libcurl has given a transfer a connection without naming the socket. The transfer may have sent its request,
    /// received part of the response and paused in one step, so its socket appears idle.
    func addUnknownSocket() { unknownSocketCount += 1 }

    /// The socket of such a transfer is known, or the transfer has ended.
    func removeUnknownSocket() {
        unknownSocketCount -= 1
        lookAgain()
    }

    /// Checks doubtful connections once no transfer can be waiting for their bytes.
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

    /// libcurl may only have watched a quiet connection for output.
    private func watchForBytes(_ index: Int) {
        let registered = entries[index].registered
        if registered == ERRAND_CURL_POLL_IN { return }
        let code = errand_poll_set(poll, Int32(index), ERRAND_CURL_POLL_IN, registered == 0 ? 0 : 1)
        if code == 0 { entries[index].registered = ERRAND_CURL_POLL_IN }
    }

    /// libcurl changed the events it waits for on a socket, for `transfer` if the socket is ours.
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
    /// The events in libcurl's form.
    var mask: Int32 {
        var mask: Int32 = 0
        if events & ERRAND_POLL_IN != 0 { mask |= ERRAND_CURL_CSELECT_IN }
        if events & ERRAND_POLL_OUT != 0 { mask |= ERRAND_CURL_CSELECT_OUT }
        if events & ERRAND_POLL_ERROR != 0 { mask |= ERRAND_CURL_CSELECT_ERR }
        return mask
    }
}
#endif
