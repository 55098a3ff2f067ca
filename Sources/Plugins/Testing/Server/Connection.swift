import Errand
import ErrandEssentials
import ErrandPlatform
import ErrandSupport
import Synchronization

/// A connection of the server, from accepting to closing. It's used by a single thread.
final class Connection {
    enum Ending: Error {
        case close
        case reset
        /// The client has closed the connection, or the server is stopping.
        case gone
    }

    let socket: Int32
    let id: Int
    let core: ServerCore
    var input = InputBuffer()
    var output: [UInt8] = []
    /// The number of bytes to send before the current response is cut off.
    var budget = Int.max
    private var served = 0
    private var lastHead: (bytes: [UInt8], head: RequestHead)?
    private var script = (version: 0, script: ServerScript())

    init(_ socket: Int32, id: Int, core: ServerCore) {
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
                try bytes.withSpan { try send($0) }
                throw Ending.close
            case .converse(let body): try converse(body)
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
            isUnread = try readBody(&request, head: head, reading: reading)
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
            // A first byte that can't begin a request is rejected. Otherwise, a TLS client would wait forever, because
            // its greeting doesn't contain a line break.
            if let first = input.first, first != 0x0D, !RequestHead.isToken(first) {
                let isTLS = first == 0x16
                throw RequestFault(
                    400,
                    isTLS
                        ? "the client uses TLS, but this server doesn't" : "the first line doesn't begin with a method")
            }
            let head = try input.takeHead(limit: core.configuration.maximumHeadBytes) { bytes in
                // Clients often send the same head again, so the last head is kept and compared.
                if let lastHead, lastHead.bytes[...] == bytes { return lastHead.head }
                let head = try RequestHead(parsing: bytes)
                lastHead = (Array(bytes), head)
                return head
            }
            if let head { return head }
            try receive()
        }
    }

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

    func stall() throws -> Never {
        while true {
            input.removeAll()
            try receive()
        }
    }

    /// Waits for input. Returns `true` if the bell rang. Keeps the received bytes if there is room for them.
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

    /// Reads the remaining input before closing. Closing with unread input would reset the connection, and the client
    /// could lose the response.
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

extension Connection {
    /// Reads the body of a request. Returns `true` if more bytes of the body may arrive.
    func readBody(_ request: inout RecordedRequest, head: RequestHead, reading: BodyReading) throws -> Bool {
        let framing = try head.framing()
        if framing == .length(0) {
            guard case .watched(let watch) = reading else { return false }
            do { try perform(watch(request, Data())) } catch is EnoughRead { return true }
            return false
        }
        let limit = Int64(core.configuration.maximumBodyBytes)
        if case .untouched = reading { return true }
        if case .held(let gate) = reading { try wait(at: gate) }
        var keeps = true
        if case .discarded = reading { keeps = false }
        var watch: Watch?
        if case .watched(let body) = reading { (keeps, watch) = (false, body) }
        if keeps, case .length(let length) = framing, length > limit { throw Self.tooLarge }
        try meetExpectation(head)
        do { try readBody(&request, framing: framing, keeps: keeps, limit: limit, watch: watch) } catch is EnoughRead {
            return true
        }
        return false
    }

    private typealias Watch = @Sendable (RecordedRequest, Data) -> [BodyAction]

    private struct EnoughRead: Error {}

    private func readBody(
        _ request: inout RecordedRequest, framing: RequestHead.Framing, keeps: Bool, limit: Int64, watch: Watch?
    ) throws {
        try perform(watch?(request, Data()))
        switch framing {
        case .length(let length): try readBytes(length, keeps: keeps, into: &request, watch)
        case .chunked:
            while true {
                let size = try readChunkSize()
                if size == 0 { break }
                if keeps, size > limit - request.bodyLength { throw Self.tooLarge }
                try readBytes(size, keeps: keeps, into: &request, watch)
                guard try readLine(limit: 2).isEmpty else {
                    throw RequestFault(400, "a chunk isn't followed by CR and LF, so its size is wrong")
                }
            }
            try readTrailers(&request)
        }
    }

    private func perform(_ actions: [BodyAction]?) throws {
        for action in actions ?? [] {
            switch action {
            case .inform(let status, let headers):
                var bytes: [UInt8] = []
                ResponseEncoder(response: .status(200).informational(status, headers), isHead: false, closes: false)
                    .informational(into: &bytes, 0)
                budget = .max
                try bytes.withSpan { try send($0) }
            case .respond: throw EnoughRead()
            case .close: throw Ending.close
            case .reset: throw Ending.reset
            case .stall: try stall()
            }
        }
    }

    private static var tooLarge: RequestFault { RequestFault(413, "the body is longer than this server accepts") }

    private func meetExpectation(_ head: RequestHead) throws {
        guard let expectation = head.headers[.expect] else { return }
        guard expectation.lowercased() == "100-continue" else {
            throw RequestFault(417, "expected Expect: 100-continue, got another expectation")
        }
        guard core.configuration.sendsContinue, input.isEmpty, head.version == "1.1" else { return }
        budget = .max
        let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        try interim.withSpan { try send($0) }
    }

    private func readBytes(
        _ count: Int64, keeps: Bool, into request: inout RecordedRequest, _ watch: Watch?
    ) throws {
        var left = count
        while left > 0 {
            if input.isEmpty { try receive() }
            var piece: Data?
            let taken = input.take(upTo: Int(clamping: left)) { bytes in
                if keeps { request.body.append(contentsOf: bytes) }
                if watch != nil { piece = Data(copying: bytes) }
                return bytes.count
            }
            left -= Int64(taken)
            request.bodyLength += Int64(taken)
            if let piece { try perform(watch?(request, piece)) }
        }
    }

    /// Reads the size of a chunk. Ignores chunk extensions (RFC 9112, section 7.1).
    private func readChunkSize() throws -> Int64 {
        let line = try readLine(limit: 4096)
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
        let values = digits.compactMap(Hexadecimal.value(of:))
        guard !digits.isEmpty, digits.count <= 15, values.count == digits.count else {
            throw RequestFault(400, "a chunk's size isn't a hexadecimal number")
        }
        return values.reduce(0) { $0 << 4 | Int64($1) }
    }

    private func readTrailers(_ request: inout RecordedRequest) throws {
        var lines: [UInt8] = []
        while true {
            let line = try readLine(limit: core.configuration.maximumHeadBytes)
            if line.isEmpty { break }
            lines += line + [0x0D, 0x0A]
            if lines.count > core.configuration.maximumHeadBytes {
                throw RequestFault(431, "the trailers are longer than this server accepts")
            }
        }
        var rest = lines[...]
        request.trailers = try RequestHead.fields(&rest)
    }

    private func readLine(limit: Int) throws -> [UInt8] {
        while true {
            if let line = try input.takeLine(limit: limit) { return line }
            try receive()
        }
    }
}

extension Connection {
    /// Sends a response, with its scripted faults and waits. Throws to end the connection.
    func respond(_ response: TestResponse, isHead: Bool, mayKeep: Bool) throws {
        var closes = !mayKeep
        if case .close = response.ending { closes = true }
        if let gate = response.gate { try wait(at: gate) }
        if response.delay > .zero { try wait(for: response.delay) }
        do { try write(ResponseEncoder(response: response, isHead: isHead, closes: closes)) } catch is CutReached {}
        switch response.cut?.action {
        case .close: throw Ending.close
        case .reset: throw Ending.reset
        case .stall: try stall()
        case nil: break
        }
        switch response.ending {
        case .closeSilently: throw Ending.close
        case .closeAtNextRequest:
            if input.isEmpty { try receive() }
            throw Ending.gone
        case .conversation(let body): try converse(body)
        case .close, .keep: if closes { throw Ending.close }
        }
    }

    private func converse(_ body: (TestConversation) throws -> Void) throws -> Never {
        budget = .max
        let conversation = TestConversation(self)
        do { try body(conversation) } catch let ending as Ending { throw ending } catch {}
        throw Ending.close
    }

    /// Sends the response. A small response without delays or faults takes a single `send`, as on a fast server.
    private func write(_ encoder: ResponseEncoder) throws {
        let response = encoder.response
        budget = .max
        if let cut = response.cut, cut.countsHead { budget = cut.bytes }
        for index in response.informational.indices {
            output.removeAll(keepingCapacity: true)
            encoder.informational(into: &output, index)
            try flush(response.pace?.includesHead == true ? response.pace : nil)
        }
        output.removeAll(keepingCapacity: true)
        encoder.head(into: &output)
        let isPlain = response.pace == nil && response.cut == nil && response.bodyGate == nil
        if isPlain, response.content.count <= 64 << 10 {
            encoder.body { output.append(contentsOf: $0) }
            return try flush(nil)
        }
        try flush(response.pace?.includesHead == true ? response.pace : nil)
        if let cut = response.cut, !cut.countsHead { budget = cut.bytes }
        var gated = response.bodyGate
        if let (after, gate) = gated, after == 0 {
            gated = nil
            try wait(at: gate)
        }
        var sent = 0
        try encoder.body { piece in
            var start = 0
            if let (after, gate) = gated, sent + piece.count >= after {
                start = after - sent
                try paced(piece.extracting(..<start), response.pace)
                sent = after
                gated = nil
                try wait(at: gate)
            }
            try paced(piece.extracting(start...), response.pace)
            sent += piece.count - start
        }
    }

    private func flush(_ pace: TestResponse.Pace?) throws {
        let bytes = output
        try bytes.withSpan { try paced($0, pace) }
    }

    private func paced(_ bytes: Span<UInt8>, _ pace: TestResponse.Pace?) throws {
        guard let pace else { return bytes.isEmpty ? () : try send(bytes) }
        var position = 0
        while position < bytes.count {
            let end = min(bytes.count, position + pace.bytes)
            try send(bytes.extracting(position..<end))
            position = end
            if pace.interval > .zero, budget > 0 { try wait(for: pace.interval) }
        }
    }
}
