#if os(Linux)
import CErrandCurl
import Errand
import Glibc

/// What libcurl wants to hear of which socket, kept in step with epoll.
///
/// A connection between two requests stays registered with epoll: registering it anew would cost two system calls for
/// each request. It is taken out when it becomes readable while nobody wants it.
final class SocketTable: @unchecked Sendable {
    // Sendable: `entries` is touched by the holder of the loop's driver lock only, `poll` is constant.

    private struct Entry {
        var wanted: Int32 = 0
        var registered: Int32 = 0
        /// Made by `open`, so that its end is heard of.
        var isOurs = false
        /// The last exchange on it was in HTTP/1 and is over, so that nothing may come on it before the next request.
        var isQuiet = false
        /// The transfer for which libcurl last named it.
        var user: ObjectIdentifier?
        /// When nobody wanted it any more: a connection without a request.
        var idleSince: UInt64?
    }

    private let poll: Int32
    private var entries: [Entry] = []
    /// How many transfers may be on a kept connection whose socket libcurl has not named for them.
    private var unplaced = 0
    /// Quiet connections on which something came while a transfer was unplaced.
    private var doubtful: [Int32] = []

    init() throws {
        poll = errand_poll_make()
        guard poll >= 0 else {
            if DescriptorShortage.isReported { throw DescriptorShortage() }
            throw ErrandError(.transportFailed, "epoll failed: \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(poll) }

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
                if unplaced == 0 { end(event.descriptor) } else { doubtful.append(event.descriptor) }
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
        entries[index].isQuiet = isSilent
        entries[index].idleSince = now
        entries[index].user = nil
    }

    /// libcurl has given a transfer a connection without naming the socket. It may have sent the request, received a part
    /// of the response and paused in one step: then it wants nothing of a socket that seems to be without a request.
    func addUnplaced() { unplaced += 1 }

    /// The socket of such a transfer is named, or the transfer is over.
    func removeUnplaced() {
        unplaced -= 1
        if unplaced > 0 { return }
        for descriptor in doubtful where isQuiet(descriptor) && entries[Int(descriptor)].registered == 0 {
            let isRegistered = errand_poll_set(poll, descriptor, ERRAND_CURL_POLL_IN, 0) == 0
            if isRegistered { entries[Int(descriptor)].registered = ERRAND_CURL_POLL_IN }
        }
        doubtful.removeAll(keepingCapacity: true)
    }

    /// libcurl changed what it wants of a socket.
    func want(_ descriptor: Int32, _ what: Int32, for user: Transfer?, at now: UInt64) {
        let index = grow(to: descriptor)
        entries[index].isQuiet = false
        entries[index].user = user.map(ObjectIdentifier.init)
        // A transfer that is paused wants nothing of its connection either.
        let isIdle = entries[index].isOurs && what == ERRAND_CURL_POLL_REMOVE && user?.isReceivePaused != true
        entries[index].idleSince = isIdle ? now : nil
        let wanted = what & (ERRAND_CURL_POLL_IN | ERRAND_CURL_POLL_OUT)
        entries[index].wanted = wanted
        if wanted == entries[index].registered { return }
        if wanted == 0 {
            if entries[index].isOurs && what == ERRAND_CURL_POLL_REMOVE { return }
            errand_poll_remove(poll, descriptor)
            entries[index].registered = 0
        } else if errand_poll_set(poll, descriptor, wanted, entries[index].registered == 0 ? 0 : 1) == 0 {
            entries[index].registered = wanted
        }
    }

    /// A socket for a connection of libcurl's; -1 if there is none.
    func open(_ address: UnsafeMutablePointer<errand_curl_sockaddr>) -> Int32 {
        let descriptor = errand_socket_make(
            address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        if descriptor >= 0 { entries[grow(to: descriptor)] = Entry(isOurs: true) }
        return descriptor
    }

    func close(socket descriptor: Int32) -> Int32 {
        if Int(descriptor) < entries.count { entries[Int(descriptor)] = Entry() }
        return Glibc.close(descriptor)
    }

    /// Ends the connections that had no request since then; libcurl takes leave of them at the next one. Returns since
    /// when the oldest of the others has none. None ends while a transfer may be on any of them.
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

    private func grow(to descriptor: Int32) -> Int {
        while entries.count <= Int(descriptor) { entries.append(Entry()) }
        return Int(descriptor)
    }

    private func close(_ descriptor: Int32) { _ = Glibc.close(descriptor) }
}
#endif
