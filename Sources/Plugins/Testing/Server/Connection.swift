import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

/// One connection, from its accept to its close; lives on one thread.
final class Connection {
    /// The reason why a connection ends.
    enum Ending: Error {
        /// All sent bytes shall arrive.
        case close
        case reset
        /// The client has gone, or the server stops.
        case gone
    }

    let socket: Int32
    let id: Int
    let core: ServerCore
    var input = InputBuffer()
    var output: [UInt8] = []
    /// The number of bytes of the current response that may still be sent.
    var budget = Int.max
    private var served = 0
    private var lastHead: (bytes: [UInt8], head: RequestHead)?
    private var script = (version: 0, script: ServerScript())

    init(_ socket: Int32, _ id: Int, _ core: ServerCore) {
        (self.socket, self.id, self.core) = (socket, id, core)
        output.reserveCapacity(2048)
    }

    func run(_ plan: ConnectionPlan) {
        do {
            switch plan {
            case .serve: while true { try serveOne() }
            case .close: break
            case .reset: throw Ending.reset
            case .silence: try stall()
            case .send(let bytes):
                try send(bytes.span)
                throw Ending.close
            }
        } catch Ending.close {
            linger()
        } catch Ending.reset {
            POSIX.resetOnClose(socket)
        } catch {}
        core.end(id, socket)
    }

    private func serveOne() throws {
        let head: RequestHead
        var request: RecordedRequest
        let handler: TestServer.Handler
        var isUnread = false
        do {
            head = try readHead()
            served += 1
            request = RecordedRequest(
                method: HTTPMethod(rawValue: head.method), target: head.target, version: head.version,
                headers: head.headers, connection: id, index: served)
            let reading: BodyReading
            (reading, handler) = core.plan(head, &script)
            isUnread = try readBody(&request, head, reading)
        } catch let fault as RequestFault {
            core.state.update { $0.record(fault) }
            try respond(
                .text("\(fault.reason)\n", status: fault.status).keepAlive(false), isHead: false, mayKeep: false)
            throw Ending.close
        }
        core.record(request)
        let response: TestResponse
        do { response = try handler(request).resolved(for: request) } catch {
            response = .text("\(error)", status: 500)
        }
        try respond(response, isHead: head.method == "HEAD", mayKeep: head.wantsKeepAlive && !isUnread)
    }

    private func readHead() throws -> RequestHead {
        while true {
            input.skipLineEnds()
            // A greeting of TLS has no line end to wait for.
            if let first = input.first, first != 0x0D, !RequestHead.isToken(first) {
                let isTLS = first == 0x16
                throw RequestFault(400, isTLS ? "the client speaks TLS, this server does not" : "no method begins so")
            }
            let head = try input.takeHead(limit: core.configuration.maximumHeadBytes) { bytes in
                // Clients that send one request many times send the same bytes.
                if let lastHead, lastHead.bytes.span.hasSameBytes(as: bytes.span) { return lastHead.head }
                let head = try RequestHead(parsing: bytes)
                lastHead = (Array(bytes), head)
                return head
            }
            if let head { return head }
            try receive()
        }
    }

    /// Reads more bytes; ends the connection if there are none.
    func receive() throws {
        guard let count = input.fill(from: socket), count > 0 else { throw Ending.gone }
    }

    func send(_ bytes: Span<UInt8>) throws {
        let count = min(budget, bytes.count)
        guard POSIX.send(socket, bytes.extracting(..<count)) else { throw Ending.gone }
        core.sentBytes.add(Int64(count), ordering: .relaxed)
        budget -= count
        if count < bytes.count { throw CutReached() }
    }

    struct CutReached: Error {}

    /// Waits, and ends the connection if the client goes or the server stops meanwhile.
    func wait(for duration: Duration) throws {
        let end = ContinuousClock.now.advanced(by: min(duration, .seconds(86_400)))
        while true {
            let left = ContinuousClock.now.duration(to: end)
            if left <= .zero { return }
            let milliseconds = Int32(
                clamping: left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
            try watch(nil, milliseconds: milliseconds)
        }
    }

    func wait(at gate: Gate) throws {
        guard let bell = Bell() else { throw Ending.gone }
        defer {
            gate.leave(bell)
            bell.close()
        }
        if !gate.arrive(bell) { return }
        while try !watch(bell, milliseconds: -1) {}
    }

    /// Stays silent until the client goes or the server stops.
    func stall() throws -> Never {
        while true {
            input.removeAll()
            try receive()
        }
    }

    /// Bytes that arrive meanwhile are kept, as far as there is room. True if the bell rang.
    @discardableResult
    private func watch(_ bell: Bell?, milliseconds: Int32) throws -> Bool {
        let hasRoom = input.count < core.configuration.maximumHeadBytes
        switch POSIX.wait(socket, forInput: hasRoom, bell: bell, milliseconds: milliseconds) {
        case .belled: return true
        case .timedOut: return false
        case .readable:
            if !hasRoom { throw Ending.gone }
            try receive()
            return false
        }
    }

    /// Closing with unread input would reset the connection, and the client might lose the response.
    private func linger() {
        guard POSIX.hasUnreadInput(socket) else { return POSIX.shutDownWriting(socket) }
        POSIX.shutDownWriting(socket)
        let end = ContinuousClock.now.advanced(by: .seconds(5))
        while ContinuousClock.now < end, POSIX.wait(socket, forInput: true, milliseconds: 1000) == .readable {
            input.removeAll()
            guard let count = input.fill(from: socket), count > 0 else { return }
        }
    }
}
