import ErrandEssentials
import ErrandPlatform
import ErrandSupport

/// A connection from a browser. Only the server's thread uses this value.
struct PageConnection {
    enum Phase: Equatable {
        case reading
        case streaming
        /// The connection sends the last response, and then closes its sending direction.
        case finishing
        /// The connection discards input until the browser closes the connection. Closing it earlier could reset the
        /// connection, and the browser could lose the last response.
        case draining
        case over
    }

    let socket: Int32
    private(set) var phase = Phase.reading
    private(set) var isKnown = false
    /// The time when the connection is closed. It's postponed whenever the connection receives or sends bytes.
    private(set) var deadline: ContinuousClock.Instant
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var sent = 0
    private var feed: PageFeed?
    private var nextPing: ContinuousClock.Instant
    private var drained = 0

    static let readingTime = Duration.seconds(15)
    static let writingTime = Duration.seconds(60)
    private static let pingTime = Duration.seconds(20)
    /// The number of unsent bytes above which events aren't added.
    private static let maximumWaiting = 256 << 10

    init(_ socket: Int32, now: ContinuousClock.Instant) {
        (self.socket, deadline, nextPing) = (socket, now + Self.readingTime, now + Self.pingTime)
    }

    var isStreaming: Bool { feed != nil }

    var hasEvents: Bool { phase == .streaming && waiting < Self.maximumWaiting && feed?.hasMore == true }

    private var waiting: Int { output.count - sent }

    var events: Int16 {
        var events: Int32 = 0
        switch phase {
        case .reading: if waiting == 0 { events |= Int32(POLLIN) }
        case .streaming, .draining: events |= Int32(POLLIN)
        case .finishing, .over: break
        }
        if waiting > 0 { events |= Int32(POLLOUT) }
        return Int16(events)
    }

    mutating func receive(_ service: PageService, port: UInt16, now: ContinuousClock.Instant) {
        switch LoopbackSocket.receive(socket, into: &input, limit: 16 << 10) {
        case .wouldBlock: return
        case .end, .failed: phase = .over
        case .bytes(let count):
            switch phase {
            case .reading: respond(with: service, port: port, at: now)
            case .draining:
                drained += count
                input = []
                if drained > 1 << 20 { phase = .over }
            // On a connection that streams events, the page doesn't send further requests, so other input is ignored.
            default: input = []
            }
        }
    }

    private mutating func respond(with service: PageService, port: UInt16, at now: ContinuousClock.Instant) {
        while phase == .reading, waiting == 0 {
            do {
                guard let (request, length) = try PageRequest.parse(input) else { return }
                input.removeFirst(length)
                respond(to: request, with: service, port: port, at: now)
            } catch {
                phase = .finishing
                output = PageResponse.plain(error.status).encoded(keepsAlive: false)
                (sent, deadline) = (0, now + Self.readingTime)
            }
            send(service, port: port, now: now)
        }
    }

    private mutating func respond(
        to request: PageRequest, with service: PageService, port: UInt16, at now: ContinuousClock.Instant
    ) {
        let response = service.response(to: request, port: port)
        let isRefused = response.status == 403 || response.status == 421
        if !isRefused { isKnown = true }
        let keepsAlive = request.keepsAlive && !isRefused
        (output, sent) = (response.encoded(keepsAlive: keepsAlive), 0)
        deadline = now + Self.writingTime
        if case .events = response.body {
            let feed = PageFeed(service)
            output += feed.greeting
            self.feed = feed
            phase = .streaming
            nextPing = now + Self.pingTime
        } else if !keepsAlive {
            phase = .finishing
        }
    }

    mutating func send(_ service: PageService, port: UInt16, now: ContinuousClock.Instant) {
        while waiting > 0 {
            switch LoopbackSocket.send(socket, output, from: sent) {
            case .bytes(let count):
                sent += count
                deadline = now + Self.writingTime
            case .wouldBlock:
                compact()
                return
            case .end, .failed:
                phase = .over
                return
            }
        }
        (output, sent) = ([], 0)
        switch phase {
        case .reading: deadline = now + Self.readingTime
        case .finishing:
            LoopbackSocket.shutDownWriting(socket)
            (phase, deadline) = (.draining, now + .seconds(2))
        default: break
        }
    }

    private mutating func compact() {
        if sent < 64 << 10 { return }
        output.removeFirst(sent)
        sent = 0
    }

    mutating func hangUp() { phase = .over }

    mutating func resume(_ service: PageService, port: UInt16, now: ContinuousClock.Instant) {
        if phase == .reading, waiting == 0, !input.isEmpty { respond(with: service, port: port, at: now) }
    }

    mutating func changed(_ ids: [UInt64]) { feed?.add(ids) }

    mutating func stream(_ service: PageService, port: UInt16, now: ContinuousClock.Instant) {
        guard phase == .streaming else { return }
        // The number of steps is limited, so one page doesn't hold up the others.
        for _ in 0..<20 {
            guard waiting < Self.maximumWaiting, let bytes = feed?.next(), !bytes.isEmpty else { break }
            output += bytes
            nextPing = now + Self.pingTime
            send(service, port: port, now: now)
            if phase != .streaming { return }
        }
        if waiting == 0, now >= nextPing {
            output += ": ping\n\n".utf8
            nextPing = now + Self.pingTime
            send(service, port: port, now: now)
        }
        if waiting == 0 { deadline = now + Self.writingTime }
    }

    mutating func checkDeadline(_ service: PageService, port: UInt16, now: ContinuousClock.Instant) {
        guard now >= deadline else { return }
        if phase == .reading, waiting == 0, !input.isEmpty {
            output = PageResponse.plain(408).encoded(keepsAlive: false)
            (sent, phase, deadline) = (0, .finishing, now + .seconds(2))
            send(service, port: port, now: now)
        } else {
            phase = .over
        }
    }
}
