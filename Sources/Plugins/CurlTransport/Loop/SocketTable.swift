#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandSupport

/// The events of each socket that libcurl waits for, kept in step with epoll, and the transfers that hold its
/// connection.
///
/// A connection between two requests stays registered with epoll: registering it again would cost two system calls for
/// each request. It is removed when it becomes readable while libcurl does not wait for it.
final class SocketTable: @unchecked Sendable {
    // Sendable: everything but the constants is accessed by the holder of the loop's driver lock only. `CurlLoop` says
    // why exclusive access to some of it isn't checked.

    /// A socket as one transfer holds it; its descriptor may since belong to another one.
    struct Hold: Equatable {
        let descriptor: Int32
        let serial: UInt64
    }

    struct Entry {
        var wanted: Int32 = 0
        var registered: Int32 = 0
        /// Made by `open`, so that libcurl reports its end.
        var isOurs = false
        /// UDP's, for a connection of QUIC.
        var isDatagram = false
        /// The last exchange on it was in HTTP/1 and has ended, so that nothing may arrive on it before the next
        /// request.
        var isQuiet = false
        /// The transfer for which libcurl last named it.
        var user: ObjectIdentifier?
        var serial: UInt64 = 0
        /// Transfers on the connection, including those that are paused and wait for no event.
        var holders = 0
        /// The time since when it has neither a transfer nor an event that libcurl waits for.
        var idleSince: UInt64?
        /// The local port; 0 while it is not known.
        var port: UInt16 = 0
        var origin: Origin?
    }

    let poll: Int32
    @safe @exclusivity(unchecked) var entries: [Entry] = []
    /// The number of transfers that may be on a kept connection whose socket is not known.
    var unknownSocketCount = 0
    /// Quiet connections that received bytes that a transfer may be waiting for.
    @safe @exclusivity(unchecked) var doubtful: [Int32] = []
    @safe @exclusivity(unchecked) var ports = PortTable()
    /// Sockets whose local ports were not looked up.
    @safe @exclusivity(unchecked) var withoutPort: [Int32] = []
    var serial: UInt64 = 0
    var open = 0
    var lastFull: UInt64 = 0
    let maximumOpen: Int
    let maximumPerOrigin: Int

    private static let spoiledAtOnce = 64
    /// The events among which those of spoiled connections are looked for; in memory that is used again.
    @safe @exclusivity(unchecked)
    private var spoiled = [errand_poll_event](repeating: errand_poll_event(), count: spoiledAtOnce)

    /// Whether no connection is open.
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

    /// The event in libcurl's form; nil if libcurl does not wait for it any more.
    func wanted(_ event: errand_poll_event) -> Int32? {
        let index = Int(event.descriptor)
        guard index < entries.count else { return nil }
        if entries[index].wanted != 0 { return event.mask }
        check(event.descriptor)
        return nil
    }

    /// A socket that libcurl does not wait for has an event. A quiet one without bytes goes on being watched.
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

    /// Ends the quiet connections that received bytes: what a server sends without a request, such as a 408 before it
    /// closes, would be taken for the response to the next one.
    func endSpoiled() {
        // Those that were returned are the last in line for the next round.
        for _ in 0...(open / Self.spoiledAtOnce) {
            let count = wait(into: &spoiled, milliseconds: 0)
            for index in 0..<count where isQuiet(spoiled[index].descriptor) { check(spoiled[index].descriptor) }
            if count < Self.spoiledAtOnce { return }
        }
    }

    func isQuiet(_ descriptor: Int32) -> Bool {
        Int(descriptor) < entries.count && entries[Int(descriptor)].isQuiet
    }

    /// Ends a quiet connection that has bytes or is at its end; false if it has neither: an event may be older than the
    /// end of the exchange that it belongs to. Available bytes are read here: libcurl finds a connection at its end only
    /// if nothing precedes it.
    private func end(_ descriptor: Int32) -> Bool {
        for round in 0..<16 {
            let count = SystemCalls.discard(descriptor)
            if round == 0 && Self.isNothing(count) { return false }
            if count <= 0 { break }
        }
        shutdown(descriptor, Int32(SHUT_RDWR))
        return true
    }

    /// Whether a call that reads has found nothing, and may again.
    private static func isNothing(_ count: Int) -> Bool { count == -Int(EAGAIN) || count == -Int(EINTR) }

    /// Whether a quiet connection has bytes or is at its end.
    func isSpoiled(_ descriptor: Int32) -> Bool {
        let count = SystemCalls.peek(descriptor)
        return !Self.isNothing(count)
    }

    /// The number of bytes that were read of a socket; nil where the system does not say.
    func takenBytes(of descriptor: Int32) -> UInt64? { SystemCalls.taken(of: descriptor) }

    /// A transfer has left a connection; with `isQuiet` its exchange in HTTP/1 has ended. Ignored where another
    /// transfer is on the connection by now, or the descriptor is another socket's.
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

    /// libcurl has given a transfer a connection without naming the socket. It may have sent the request, received a
    /// part of the response and paused in one step: then it wants nothing of a socket that seems to be without a
    /// request.
    func addUnknownSocket() { unknownSocketCount += 1 }

    /// The socket of such a transfer is known, or the transfer has ended.
    func removeUnknownSocket() {
        unknownSocketCount -= 1
        lookAgain()
    }

    /// Checks doubtful connections again when no transfer can be waiting for their bytes.
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

    /// libcurl may have watched a quiet connection only until it could be written to.
    private func watchForBytes(_ index: Int) {
        let registered = entries[index].registered
        if registered == ERRAND_CURL_POLL_IN { return }
        let code = errand_poll_set(poll, Int32(index), ERRAND_CURL_POLL_IN, registered == 0 ? 0 : 1)
        if code == 0 { entries[index].registered = ERRAND_CURL_POLL_IN }
    }

    /// libcurl changed the events that it waits for on a socket, for `transfer` if it is one of ours.
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
