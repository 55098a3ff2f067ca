import Dispatch
import Errand
import ErrandEssentials
import ErrandPlatform
import ErrandSupport
import Synchronization

/// The server that provides the inspector's page. It runs on one thread, which never waits for a browser. The only app
/// code on this thread is previews of requests.
final class InspectorServer: Sendable {
    let port: UInt16
    private let listeners: [Int32]
    private let bell: Bell
    private let service: PageService
    private let time: any TimeSource
    private let isStopped = Atomic(false)
    private let thread = Atomic<UInt>(0)
    private let ended = DispatchSemaphore(value: 0)

    /// The maximum number of connections. If a further browser connects, the server closes a connection to make room.
    static let maximumConnections = 64
    static let maximumPages = 16
    private static let interval = Duration.milliseconds(60)

    init(port: UInt16, service: PageService, time: any TimeSource) throws(InspectorError) {
        do throws(LoopbackSocket.Failure) { (listeners, self.port) = try Self.listen(port) } catch {
            throw .listeningFailed(error.text)
        }
        (self.service, self.time) = (service, time)
        guard let bell = Bell() else {
            for listener in listeners { LoopbackSocket.end(listener) }
            throw .listeningFailed("the process has too many open files")
        }
        self.bell = bell
        // The thread has a large stack, because previews of requests need it.
        guard SystemThread.start(stack: 1 << 20, { [self] in run() }) else {
            for listener in listeners { LoopbackSocket.end(listener) }
            throw .listeningFailed("the system can't create another thread")
        }
    }

    /// Closes the bell. It isn't used anymore, because the thread and each caller of `stop` keep the server alive.
    deinit { bell.close() }

    private static let backlog: Int32 = 128

    private static func listen(_ port: UInt16) throws(LoopbackSocket.Failure) -> ([Int32], UInt16) {
        var failure: LoopbackSocket.Failure?
        for _ in 0..<16 {
            let (socket, chosen) = try LoopbackSocket.listen(ipv6: false, port: port, backlog: backlog)
            do throws(LoopbackSocket.Failure) {
                let other = try LoopbackSocket.listen(ipv6: true, port: chosen, backlog: backlog).socket
                return ([socket, other], chosen)
            } catch {
                if error.code == EADDRNOTAVAIL || error.code == EAFNOSUPPORT { return ([socket], chosen) }
                // Another program has this port on ::1. The browser might send the page's requests to that program, so
                // this port isn't used.
                LoopbackSocket.end(socket)
                failure = error
            }
            if port != 0 { break }
        }
        throw failure ?? LoopbackSocket.Failure("listen")
    }

    /// Waits until the server has stopped. On the server's own thread, returns without waiting.
    func stop() {
        if isStopped.exchange(true, ordering: .sequentiallyConsistent) { return }
        bell.ring()
        if thread.load(ordering: .relaxed) != SystemThread.current { _ = ended.wait(timeout: .now() + .seconds(5)) }
    }

    // MARK: The server's thread

    private func run() {
        thread.store(SystemThread.current, ordering: .relaxed)
        var loop = PageLoop(listeners: listeners, bell: bell, service: service, port: port, time: time)
        while !isStopped.load(ordering: .sequentiallyConsistent) { loop.turn(interval: Self.interval) }
        loop.end()
        ended.signal()
    }
}

/// The connections of a server. Only the server's thread uses this value.
private struct PageLoop {
    private let listeners: [Int32]
    private let bell: Bell
    private let service: PageService
    private let port: UInt16
    private let time: any TimeSource
    private var connections: [PageConnection] = []
    private var isWatching = false
    private var hasChanges = false
    private var nextFlush: ContinuousClock.Instant
    /// The time when the server accepts connections again, after the process ran out of file descriptors.
    private var nextAccept: ContinuousClock.Instant

    init(listeners: [Int32], bell: Bell, service: PageService, port: UInt16, time: any TimeSource) {
        (self.listeners, self.bell, self.service) = (listeners, bell, service)
        (self.port, self.time) = (port, time)
        (nextFlush, nextAccept) = (time.now, time.now)
    }

    mutating func turn(interval: Duration) {
        let ready = wait()
        let now = time.now
        for (index, events) in ready.enumerated() where events != 0 {
            let isReadable = connections[index].events & Int16(POLLIN) != 0
            if isReadable, Int32(events) & Int32(POLLIN | POLLHUP | POLLERR) != 0 {
                connections[index].receive(service, port: port, now: now)
            } else if Int32(events) & Int32(POLLHUP | POLLERR) != 0 {
                connections[index].hangUp()
            }
            connections[index].send(service, port: port, now: now)
            connections[index].resume(service, port: port, now: now)
        }
        if now >= nextAccept { for listener in listeners { accept(listener, now) } }
        // Watching begins before the rows are created, so later changes aren't lost.
        watchPages()
        flush(now, interval)
        for index in connections.indices { connections[index].checkDeadline(service, port: port, now: now) }
        closeEnded()
        watchPages()
    }

    private mutating func wait() -> [Int16] {
        let accepts = time.now >= nextAccept
        var polled = [pollfd(fd: bell.waits, events: Int16(POLLIN), revents: 0)]
        polled += listeners.map { pollfd(fd: accepts ? $0 : -1, events: Int16(POLLIN), revents: 0) }
        polled += connections.map { pollfd(fd: $0.socket, events: $0.events, revents: 0) }
        LoopbackSocket.wait(&polled, milliseconds: milliseconds(accepts))
        if polled[0].revents != 0 {
            bell.wait()
            hasChanges = true
        }
        return polled.dropFirst(1 + listeners.count).map(\.revents)
    }

    private func milliseconds(_ accepts: Bool) -> Int32 {
        if connections.contains(where: \.hasEvents) || hasChanges {
            return Int32(clamping: Int64(max(.zero, time.now.duration(to: nextFlush)) / .milliseconds(1)) + 1)
        }
        return connections.isEmpty && accepts ? -1 : 1000
    }

    private mutating func accept(_ listener: Int32, _ now: ContinuousClock.Instant) {
        for _ in 0..<64 {
            guard let socket = LoopbackSocket.accept(listener) else {
                if errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM {
                    nextAccept = now + .seconds(1)
                }
                return
            }
            if connections.count >= InspectorServer.maximumConnections { makeRoom() }
            connections.append(PageConnection(socket, now: now))
        }
    }

    private mutating func makeRoom() {
        let index =
            connections.firstIndex { !$0.isKnown } ?? connections.firstIndex { !$0.isStreaming }
            ?? connections.startIndex
        LoopbackSocket.end(connections[index].socket)
        connections.remove(at: index)
    }

    private mutating func flush(_ now: ContinuousClock.Instant, _ interval: Duration) {
        guard now >= nextFlush else { return }
        if hasChanges {
            hasChanges = false
            let changed = service.store.takeChanged().map(\.id)
            for index in connections.indices { connections[index].changed(changed) }
        }
        nextFlush = now + interval
        for index in connections.indices { connections[index].stream(service, port: port, now: now) }
    }

    private mutating func closeEnded() {
        for connection in connections where connection.phase == .over { LoopbackSocket.end(connection.socket) }
        connections.removeAll { $0.phase == .over }
        var surplus = connections.count(where: \.isStreaming) - InspectorServer.maximumPages
        while surplus > 0, let index = connections.firstIndex(where: \.isStreaming) {
            LoopbackSocket.end(connections[index].socket)
            connections.remove(at: index)
            surplus -= 1
        }
    }

    private mutating func watchPages() {
        let hasPage = connections.contains(where: \.isStreaming)
        if hasPage != isWatching {
            isWatching = hasPage
            service.store.watch(ringing: hasPage ? bell : nil)
        }
    }

    func end() {
        service.store.watch(ringing: nil)
        for connection in connections { LoopbackSocket.end(connection.socket) }
        for listener in listeners { LoopbackSocket.end(listener) }
    }
}
