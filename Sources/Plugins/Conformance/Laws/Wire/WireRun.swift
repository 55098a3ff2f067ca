import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// A server that plays exchanges for one transport, one after the other.
final class WireRun: Sendable {
    private let stage = WireStage()
    private let server: TestServer
    /// The other origin, once an exchange needs it.
    private let elsewhere = Mutex<TestServer?>(nil)
    private let clock = ManualTimeSource()
    private let transport: Mutex<(any Transport)?>
    /// How long an exchange may take before it counts as hanging.
    let patience: Duration

    init(_ transport: any Transport, patience: Duration) throws {
        self.transport = Mutex(transport)
        self.patience = patience
        server = try Self.server(stage, isElsewhere: false)
    }

    private static func server(_ stage: WireStage, isElsewhere: Bool) throws -> TestServer {
        let server = try TestServer()
        server.on("*") { request in
            guard let scene = stage.scene(for: request, isElsewhere) else { return .status(500) }
            return scene.reply(to: request)
        }
        server.on(
            "\(uploads)/*",
            reading: .watched { request, piece in
                guard let scene = stage.scene(for: request, isElsewhere) else { return [.close] }
                if piece.isEmpty { scene.noteInterrupted() }
                return request.bodyLength >= scene.uploadLimit ? [.reset] : []
            }
        ) { _ in .status(500) }
        return server
    }

    /// The path of requests that the server interrupts.
    private static let uploads = "/interrupted"

    private func address(of exchange: WireExchange) throws -> String {
        var server = server
        if exchange.isElsewhere {
            server = try elsewhere.withLock { [stage] other in
                let known = try other ?? Self.server(stage, isElsewhere: true)
                other = known
                return known
            }
        }
        if case .resetUpload = exchange.reply.fault { return server.url + Self.uploads + exchange.target }
        return server.url + exchange.target
    }

    /// Forgets the transport, whose connections must close then. Returns false if they stay open.
    func releaseTransport() async -> Bool {
        transport.withLock { $0 = nil }
        let other = elsewhere.withLock { $0 }
        do {
            try await server.waitUntilNoConnections(within: patience)
            try await other?.waitUntilNoConnections(within: patience)
        } catch { return false }
        return true
    }

    /// Plays an exchange to its end and returns what happened.
    func play(_ exchange: WireExchange) async throws -> WireTrace {
        let scene = WireScene(exchange)
        stage.add(scene)
        defer { stage.remove(scene) }
        return try await play(scene)
    }

    /// Plays exchanges at the same time, while another one stays without a response. Their targets must differ.
    func play(together exchanges: [WireExchange], beside silent: WireExchange) async throws -> [WireTrace] {
        let held = WireScene(silent, isHeld: true)
        let scenes = exchanges.map { WireScene($0) }
        for scene in scenes + [held] { stage.add(scene) }
        defer { for scene in scenes + [held] { stage.remove(scene) } }
        async let end = play(held)
        _ = try? await held.state.wait(for: "the silent exchange", within: patience) { $0.isServed ? true : nil }
        let traces = try await play(scenes)
        held.mayBeCancelled.open()
        _ = try await end
        return traces
    }

    private func play(_ scenes: [WireScene]) async throws -> [WireTrace] {
        return try await withThrowingTaskGroup(of: (Int, WireTrace).self) { group in
            for (index, scene) in scenes.enumerated() {
                group.addTask { [self] in (index, try await play(scene)) }
            }
            var traces: [Int: WireTrace] = [:]
            for try await (index, trace) in group { traces[index] = trace }
            return scenes.indices.compactMap { traces[$0] }
        }
    }

    private func play(_ scene: WireScene) async throws -> WireTrace {
        let exchange = scene.exchange
        guard let transport = transport.withLock({ $0 }), let url = URL(string: try address(of: exchange)) else {
            throw ConformanceFailure(expected: "a URL", came: exchange.target)
        }
        let file = try WireFile(exchange.body)
        defer { file?.remove() }
        return await finish(scene, start(scene, transport, WireRequest(scene, url, file)))
    }

    private func start(_ scene: WireScene, _ transport: any Transport, _ request: WireRequest) -> Task<Void, Never> {
        var configuration = AgentConfiguration()
        configuration.timeout = scene.exchange.isSilent ? WireRun.silence : .seconds(1_000_000)
        configuration.accessories = [WireEvents(scene)]
        let agent = NetworkAgent(
            configuration: configuration, transport: WireProbe(scene, transport), time: clock)
        return Task {
            do { _ = try await agent.send(request, options: CallOptions()).value } catch {
                let failure = WireTrace.Failure(error)
                scene.state.update { if $0.trace.sent == nil { $0.trace.failure = failure } }
            }
            scene.state.update { $0.isOver = true }
        }
    }

    /// The timeout of an exchange whose server falls silent.
    static let silence = Duration.seconds(1_000)

    private func finish(_ scene: WireScene, _ task: Task<Void, Never>) async -> WireTrace {
        let driver = Task { [clock] in
            // Transports may wait by the agent's clock. Their timeouts must not end before the server's silence.
            let (start, exchange) = (clock.now, scene.exchange)
            var isAwaitingTimeout = exchange.isSilent && !exchange.isCancelled && !exchange.isDropped
            if case .response = scene.image.outcome { isAwaitingTimeout = false }
            while !Task.isCancelled {
                let isSilent = isAwaitingTimeout && scene.state.read { $0.isServed }
                if let wake = clock.nextWake, isSilent || start.duration(to: wake) < .seconds(100) {
                    clock.advance(to: wake)
                }
                if exchange.isCancelled, scene.mayBeCancelled.isOpen, scene.state.read({ $0.isServed }) {
                    task.cancel()
                }
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        if !(await ended(scene, within: patience)) {
            scene.state.update { $0.trace.isHanging = true }
            task.cancel()
            scene.openAll()
            _ = await ended(scene, within: .seconds(1))
        }
        let isHanging = scene.state.read { $0.trace.isHanging }
        driver.cancel()
        if isHanging {
            // Only the hanging matters, and each further wait may take as long.
            scene.finished.open()
            return scene.state.read { $0.trace }
        }
        if scene.exchange.isCancelled || scene.exchange.isDropped {
            let isClosed = try? await scene.state.wait(for: "a closed connection", within: patience) { state in
                state.isLeft ? true : nil
            }
            scene.state.update { $0.trace.isClosed = isClosed == true }
        }
        scene.finished.open()
        scene.openAll()
        _ = try? await scene.state.wait(for: "the end", within: patience) { $0.isOver ? true : nil }
        let end = ContinuousClock.now.advanced(by: patience)
        while !scene.remains.isEmpty, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(2)) }
        return scene.state.read { state in
            state.trace.remains = scene.remains
            state.trace.requests = state.requests
            state.trace.arrivals = state.requests.count + state.interrupted
            return state.trace
        }
    }

    private func ended(_ scene: WireScene, within limit: Duration) async -> Bool {
        let isEnded = try? await scene.state.wait(for: "the end", within: limit) { state in
            state.isEnded || state.isOver && state.trace.sent == nil ? true : nil
        }
        return isEnded == true
    }
}

/// What happened in an exchange.
struct WireTrace: Sendable {
    struct Head: Sendable {
        var status: Int
        var headers: HTTPHeaders
        var length: Int64?
    }

    enum Event: Sendable {
        case informational(Int, HTTPHeaders)
        case trailers(HTTPHeaders)
        case progress(TransferProgress)
        case timings
    }

    /// A request as the transport got it. Keeps neither its body nor its tags.
    struct Sent: Sendable {
        let target: String
        let headers: HTTPHeaders
        let length: Int64?
    }

    struct Failure: Sendable {
        let code: ErrandError.Code?
        let isCancelled: Bool
        let description: String
        let evidence: Int?

        init(_ error: any Error) {
            let known = error as? ErrandError
            code = known?.code
            isCancelled = known?.code == .cancelled || error is CancellationError
            description = known.map { "\($0.code): \($0.message)" } ?? "\(type(of: error))"
            evidence = known?.response?.status
        }
    }

    var sent: Sent?
    var mayCollect = false
    /// The complete requests at the server.
    var requests: [RecordedRequest] = []
    /// With those whose body was interrupted.
    var arrivals = 0
    var head: Head?
    var body = Data()
    var isComplete = false
    var failure: Failure?
    var events: [Event] = []
    var isHanging = false
    /// Whether the server saw the end of a connection whose exchange was cancelled or dropped.
    var isClosed = false
    /// The objects that outlived the exchange.
    var remains: [String] = []
}

/// Finds the exchange that a request belongs to.
final class WireStage: Sendable {
    private let scenes = Mutex<[WireScene]>([])

    func add(_ scene: WireScene) { scenes.withLock { $0.append(scene) } }
    func remove(_ scene: WireScene) { scenes.withLock { $0.removeAll { $0 === scene } } }

    /// By its target, if there are several. Returns `nil` if the request came to the wrong origin.
    func scene(for request: RecordedRequest, _ isElsewhere: Bool) -> WireScene? {
        scenes.withLock { scenes in
            let scene = scenes.count < 2 ? scenes.first : scenes.first { $0.exchange.target == request.target }
            return scene?.exchange.isElsewhere == isElsewhere ? scene : nil
        }
    }
}

/// An exchange while it's being played.
final class WireScene: Sendable {
    struct State: Sendable {
        var trace = WireTrace()
        var requests: [RecordedRequest] = []
        var interrupted = 0
        /// The server has sent its last byte.
        var isServed = false
        /// The client has closed a connection on which the server was silent.
        var isLeft = false
        /// The transport has returned, and the body is read.
        var isEnded = false
        /// The call is over.
        var isOver = false
    }

    private struct References: Sendable {
        var sources: [WeakWireSource] = []
        weak var mark: BenchMark?
    }

    let exchange: WireExchange
    let image: WireImage
    let state = Watched(State())
    let finished = Gate()
    let mayBeCancelled: Gate
    /// The first opens with the head, the others when the parts of the body are received.
    private let gates: [Gate]
    private let references = Mutex(References())

    init(_ exchange: WireExchange, isHeld: Bool = false) {
        self.exchange = exchange
        mayBeCancelled = Gate(isOpen: !isHeld)
        image = WireImage(exchange)
        gates = (0...image.parts.count).map { _ in Gate() }
    }

    /// Whether the server must not wait for a reader.
    func openAll() { for gate in gates { gate.open() } }

    func received(_ count: Int) {
        gates[0].open()
        for (gate, part) in zip(gates.dropFirst(), image.parts) where count >= part.delivered { gate.open() }
    }

    func keep(_ source: WireSource) -> WireSource {
        references.withLock { $0.sources.append(WeakWireSource(source: source)) }
        return source
    }

    func keep(_ mark: BenchMark) -> BenchMark {
        references.withLock { $0.mark = mark }
        return mark
    }

    var remains: [String] {
        references.withLock { references in
            (references.mark == nil ? [] : ["the request's tags"])
                + (references.sources.contains { $0.source != nil } ? ["the source of the request's body"] : [])
        }
    }

    // MARK: At the server

    /// The bytes of the request's body after which the connection is reset.
    var uploadLimit: Int64 {
        if case .resetUpload(let count) = exchange.reply.fault { Int64(count) } else { .max }
    }

    func noteInterrupted() { state.update { $0.interrupted += 1 } }

    func reply(to request: RecordedRequest) -> TestResponse {
        state.update { $0.requests.append(request) }
        let reply = exchange.reply
        if reply.fault?.position == nil, !reply.isPaced, !exchange.isDropped, !exchange.isCancelled {
            // Kept alive, so nothing shows the end but the framing.
            let response = TestResponse.raw(Data(image.bytes)).keepAlive(image.completion != nil)
            guard let pieces = reply.pieces else { return response }
            return response.slowly(bytesPerChunk: pieces, every: .zero, includingHead: true)
        }
        return TestResponse.raw("").continuing { [self] connection in
            do { try serve(connection) } catch {
                state.update { $0.isLeft = true }
                throw error
            }
        }
    }

    private func serve(_ connection: TestConversation) throws {
        var position = 0
        func send(upTo end: Int) throws {
            if end > position {
                try connection.send(Data(image.bytes[position..<end]), inPiecesOf: exchange.reply.pieces)
            }
            position = max(position, end)
        }
        if exchange.reply.isPaced {
            for (gate, end) in zip(gates, [image.headEnd] + image.parts.map(\.end)) {
                try send(upTo: end)
                try connection.wait(for: gate)
            }
        }
        try send(upTo: min(exchange.reply.fault?.position ?? .max, image.bytes.count))
        state.update { $0.isServed = true }
        switch exchange.reply.fault {
        case .close: return
        case .reset: try connection.reset()
        case .stall: try connection.stall()
        case .resetUpload, .malformed, nil:
            if image.completion == nil { return }
            try connection.wait(for: finished)
        }
    }
}

struct WeakWireSource: Sendable { weak let source: WireSource? }

extension WireExchange {
    /// Whether the server falls silent before the exchange is over.
    var isSilent: Bool { if case .stall = reply.fault { true } else { false } }
}

/// The chunks of a request's body.
final class WireSource: HTTPBodySource {
    private let rest: Mutex<(data: Data, sizes: ArraySlice<Int>)>
    private let fails: Bool

    init(_ sizes: [Int], fails: Bool) {
        rest = Mutex((WireBytes.prefix(sizes.reduce(0, +)), sizes[...]))
        self.fails = fails
    }

    func nextChunk() async throws -> Data? {
        let chunk = rest.withLock { rest -> Data? in
            guard let size = rest.sizes.popFirst() else { return nil }
            defer { rest.data = Data(rest.data.dropFirst(size)) }
            return Data(rest.data.prefix(size))
        }
        if chunk == nil, fails { throw BenchError() }
        return chunk
    }

    func cancel() {}
}

/// A file with the bytes of a request's body.
struct WireFile: Sendable {
    let url: URL

    init?(_ body: WireBody) throws {
        guard case .file(let count) = body else { return nil }
        let name = "errand-law-\(UInt64.random(in: 0 ... .max))"
        url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
        try WireBytes.prefix(count).write(to: url)
    }

    func remove() { try? FileManager.default.removeItem(at: url) }
}

private struct WireRequest: Request {
    typealias Output = HTTPResponse
    let http: HTTPRequest
    let isStreamed: Bool
    let tags: Tags

    init(_ scene: WireScene, _ url: URL, _ file: WireFile?) {
        let exchange = scene.exchange
        isStreamed = exchange.isStreamed
        tags = Tags().with(BenchTag.self, scene.keep(BenchMark()))
        http = HTTPRequest(
            exchange.method, url, headers: exchange.headers, body: Self.body(of: exchange, scene, file))
    }

    private static func body(of exchange: WireExchange, _ scene: WireScene, _ file: WireFile?) -> RequestBody {
        switch exchange.body {
        case .none: return .none
        case .data(let count): return .data(WireBytes.prefix(count), contentType: nil)
        case .file: return file.map { .file($0.url, contentType: nil) } ?? .none
        case .failing(let sizes):
            return .stream(contentType: nil) { [weak scene] in try body(sizes, nil, fails: true, scene) }
        case .stream(let sizes, let isKnown, let isReplayable):
            let length = isKnown ? Int64(sizes.reduce(0, +)) : nil
            if !isReplayable {
                let source = scene.keep(WireSource(sizes, fails: false))
                return .stream(HTTPBody(length: length, source: source), contentType: nil)
            }
            return .stream(length: length, contentType: nil) { [weak scene] in
                try body(sizes, length, fails: false, scene)
            }
        }
    }

    private static func body(
        _ sizes: [Int], _ length: Int64?, fails: Bool, _ scene: WireScene?
    ) throws -> HTTPBody {
        guard let scene else { throw BenchError() }
        return HTTPBody(length: length, source: scene.keep(WireSource(sizes, fails: fails)))
    }

    var delivery: BodyDelivery { isStreamed ? .stream : .data }
    var acceptableStatuses: StatusCodes { .any }
    var acceptableContentTypes: ContentTypes { .any }
    var redirects: RedirectPolicy? { RedirectPolicy.off }
    func httpRequest() -> HTTPRequest? { http }
}

/// Calls the transport, reads its response, and records both.
private final class WireProbe: Transport {
    private let scene: WireScene
    private let subject: any Transport

    init(_ scene: WireScene, _ subject: any Transport) { (self.scene, self.subject) = (scene, subject) }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let mayCollect = options.collectsBody(ofStatus: scene.exchange.reply.status)
        let sent = WireTrace.Sent(
            target: Self.target(of: request.urlText), headers: request.headers, length: request.body.length)
        scene.state.update { ($0.trace.sent, $0.trace.mayCollect) = (sent, mayCollect) }
        if mayCollect { scene.openAll() }
        do { try await read(request, options) } catch {
            let failure = WireTrace.Failure(error)
            scene.state.update { ($0.trace.failure, $0.isEnded) = (failure, true) }
            throw error
        }
        scene.state.update { $0.isEnded = true }
        return HTTPResponse(to: request, status: 200)
    }

    /// Without the scheme and the host.
    private static func target(of url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        return String(url[start...].drop { $0 != "/" })
    }

    private func read(_ request: HTTPRequest, _ options: TransportOptions) async throws {
        let response = try await subject.send(request, options: options)
        scene.state.update {
            $0.trace.head = WireTrace.Head(
                status: response.status, headers: response.headers, length: response.body.length)
        }
        scene.received(0)
        if let data = response.body.data {
            scene.state.update { ($0.trace.body, $0.trace.isComplete) = (data, true) }
            return
        }
        var iterator = response.body.makeAsyncIterator()
        while let chunk = try await iterator.next() {
            let count = scene.state.update { state in
                state.trace.body.append(chunk)
                return state.trace.body.count
            }
            scene.received(count)
            if scene.exchange.isDropped && !chunk.isEmpty { return }
        }
        scene.state.update { $0.trace.isComplete = true }
    }
}

/// Records the transport's events.
private final class WireEvents: Accessory {
    private let scene: WireScene

    init(_ scene: WireScene) { self.scene = scene }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .transport(let event) = event else { return }
        let seen: WireTrace.Event? =
            switch event {
            case .informational(let status, let headers): .informational(status, headers)
            case .trailers(let fields): .trailers(fields)
            case .progress(let progress): .progress(progress)
            case .timings: .timings
            default: nil
            }
        if let seen { scene.state.update { $0.trace.events.append(seen) } }
    }
}
