import ErrandPlatform
import ErrandSupport
import Synchronization

/// The sockets and threads of a ``TestServer``. This object lives until its last thread has ended.
final class ServerCore: Sendable {
    let configuration: TestServer.Configuration
    let port: UInt16
    /// The number of requests. It's atomic, so a server that doesn't record requests doesn't need the lock for a
    /// request.
    let requestCount = Atomic(0)
    let sentBytes = Atomic<Int64>(0)
    private let script = Mutex(ServerScript())
    private let scriptVersion = Atomic(1)
    let state = Watched(ServerState())
    private let listener: Int32
    /// A socket that keeps the port after the listener has closed.
    private let placeholder: Mutex<Int32?>
    private let bell: Bell

    init(_ configuration: TestServer.Configuration) throws(TestServerError) {
        self.configuration = configuration
        POSIX.allowManyDescriptors()
        let reserved: Int32?
        do { (listener, port, reserved) = try POSIX.listen(ipv6: configuration.usesIPv6) } catch {
            throw TestServerError(reason: error.text)
        }
        placeholder = Mutex(reserved)
        guard let bell = Bell() else {
            close(listener)
            if let reserved { close(reserved) }
            throw TestServerError(reason: "the process has too many open files")
        }
        self.bell = bell
        state.update { $0.running = 1 }
        let isStarted = SystemThread.start(stack: 256 << 10) { [self] in
            acceptAll()
            // Closing the listener isn't enough, because a process that is being started may still have a copy of the
            // descriptor.
            POSIX.shutDown(listener)
            close(listener)
            keepPort()
            ended(0)
        }
        if !isStarted {
            close(listener)
            state.update { ($0.running, $0.isStopped) = (0, true) }
            throw TestServerError(reason: "the system can't create another thread")
        }
    }

    deinit {
        bell.close()
        if let descriptor = placeholder.withLock({ $0 }) { close(descriptor) }
    }

    /// Keeps the port, so clients of this stopped server can't reach another test's server.
    private func keepPort() {
        placeholder.withLock { $0 = $0 ?? POSIX.reserve(port, ipv6: configuration.usesIPv6) }
    }

    func edit(_ change: (inout ServerScript) -> Void) {
        script.withLock { script in
            change(&script)
            scriptVersion.add(1, ordering: .releasing)
        }
    }

    func plan(_ head: RequestHead, _ copy: inout (version: Int, script: ServerScript)) -> ServerScript.Plan {
        if copy.version != scriptVersion.load(ordering: .acquiring) {
            copy = script.withLock { (scriptVersion.load(ordering: .relaxed), $0) }
        }
        if copy.script.queue.isEmpty { return copy.script.plan(head) }
        return script.withLock { script in
            scriptVersion.add(1, ordering: .releasing)
            return script.takeQueued() ?? script.plan(head)
        }
    }

    func record(_ request: RecordedRequest) {
        let (limit, byteLimit) = (configuration.maximumRecordedRequests, configuration.maximumRecordedBytes)
        if limit <= 0 {
            requestCount.add(1, ordering: .sequentiallyConsistent)
            return state.touch()
        }
        // The request is counted and recorded under the same lock. A test that waits for the count then finds the
        // request in the log.
        state.update { state in
            requestCount.add(1, ordering: .sequentiallyConsistent)
            state.record(request, limit: limit, byteLimit: byteLimit)
        }
    }

    private func acceptAll() {
        while !state.read({ $0.isStopped }) {
            if POSIX.wait(listener, forInput: true, bell: bell, milliseconds: -1) == .belled { continue }
            guard let socket = POSIX.takeConnection(listener) else {
                // The process doesn't have free descriptors, but a connection may close soon.
                if errno != EAGAIN { _ = POSIX.wait(bell.waits, forInput: true, milliseconds: 5) }
                continue
            }
            begin(socket)
        }
    }

    private func begin(_ socket: Int32) {
        let plan = script.withLock { $0.connections.isEmpty ? .serve : $0.connections.removeFirst() }
        let id = state.update { state -> Int? in
            if state.isStopped { return nil }
            state.accepted += 1
            state.running += 1
            state.open[state.accepted] = socket
            return state.accepted
        }
        guard let id else {
            close(socket)
            return
        }
        let isStarted = SystemThread.start(stack: 512 << 10) { [self] in
            state.read { _ = $0.threads.insert(SystemThread.current) }
            Connection(socket, id: id, core: self).run(plan)
            ended(id)
        }
        if !isStarted {
            end(id, socket)
            state.update { $0.running -= 1 }
        }
    }

    /// Ends a connection. Removes the descriptor from the list before closing it, because the system may then use the
    /// number again.
    func end(_ id: Int, _ socket: Int32) {
        state.read { $0.open[id] = nil }
        close(socket)
        // Waiting tasks are woken after closing, so they find the connection closed.
        state.update { _ in }
    }

    private func ended(_ id: Int) {
        state.update { state in
            state.running -= 1
            state.threads.remove(SystemThread.current)
        }
    }

    func closeConnections() {
        state.read { state in
            for socket in state.open.values { POSIX.shutDown(socket) }
        }
    }

    /// Stops the server, and waits for all of its threads except the current thread.
    func stop() {
        let isFirst = state.update { state in
            defer { state.isStopped = true }
            return !state.isStopped
        }
        if isFirst {
            bell.ring()
            edit { $0 = ServerScript() }
        }
        closeConnections()
        // A handler may block its thread, so this waits at most ten seconds.
        for _ in 0..<10_000 {
            let isDone = state.read { $0.running <= ($0.threads.contains(SystemThread.current) ? 1 : 0) }
            if isDone { return }
            usleep(1000)
        }
    }
}

struct ServerState: Sendable {
    var open: [Int: Int32] = [:]
    var accepted = 0
    var threads: Set<UInt> = []
    var running = 0
    var isStopped = false
    private(set) var faults: [RequestFault] = []
    private var log = BoundedLog<RecordedRequest>()
    private var loggedBytes = 0
    private var taken = 0

    mutating func record(_ request: RecordedRequest, limit: Int, byteLimit: Int) {
        loggedBytes += request.body.count
        forget(log.add(request, limit: limit))
        while loggedBytes > byteLimit, log.count > 1 { forget(log.drop(1)) }
    }

    mutating func record(_ fault: RequestFault) {
        if faults.count < 1000 { faults.append(fault) }
    }

    private mutating func forget(_ dropped: [RecordedRequest]) {
        for request in dropped { loggedBytes -= request.body.count }
    }

    func requests(limit: Int) -> [RecordedRequest] { log.last(limit) }

    mutating func takeNext() -> RecordedRequest? {
        guard let (request, position) = log.next(from: taken) else { return nil }
        taken = position + 1
        return request
    }
}
