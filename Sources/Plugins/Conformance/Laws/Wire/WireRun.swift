import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// Runs exchanges of one transport with its own server.
final class WireRun: Sendable {
    private let stage = WireStage()
    private let origin: WireOrigin
    private let elsewhere = Mutex<WireOrigin?>(nil)
    private let relay: WireBench.Relay?
    private let clock = ManualTimeSource()
    private let transport: Mutex<(any Transport)?>
    /// The time after which an exchange counts as hanging.
    let patience: Duration

    init(_ transport: any Transport, patience: Duration, relay: WireBench.Relay?) throws {
        self.transport = Mutex(transport)
        self.patience = patience
        self.relay = relay
        origin = try WireOrigin(Self.server(stage, isElsewhere: false), relay)
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

    private static let uploads = "/interrupted"

    private func address(of exchange: WireExchange) throws -> String {
        var origin = origin
        if exchange.isElsewhere {
            origin = try elsewhere.withLock { [stage, relay] other in
                let known = try other ?? WireOrigin(Self.server(stage, isElsewhere: true), relay)
                other = known
                return known
            }
        }
        if case .resetUpload = exchange.reply.fault { return origin.url + Self.uploads + exchange.target }
        return origin.url + exchange.target
    }

    /// Returns `false` if the transport's connections stay open.
    func releaseTransport() async -> Bool {
        transport.withLock { $0 = nil }
        let other = elsewhere.withLock { $0 }
        return await isMet(within: patience) { slice in
            try await origin.server.waitUntilNoConnections(within: slice)
            try await other?.server.waitUntilNoConnections(within: slice)
        }
    }

    /// Sets the date, as a user can. The time that passes isn't affected.
    func setDate(by jump: TimeInterval) { clock.date += jump }

    /// - Parameter jump: When the request arrives at the server, the date is set by this many seconds.
    func play(_ exchange: WireExchange, settingDateBy jump: TimeInterval = 0) async throws -> WireTrace {
        let scene = WireScene(exchange) { [clock] in clock.date += jump }
        stage.add(scene)
        defer { stage.remove(scene) }
        return try await play(scene)
    }

    /// The server doesn't respond to `silent`. The targets must differ.
    func play(together exchanges: [WireExchange], beside silent: WireExchange) async throws -> [WireTrace] {
        let held = WireScene(silent, isHeld: true)
        let scenes = exchanges.map { WireScene($0) }
        for scene in scenes + [held] { stage.add(scene) }
        defer { for scene in scenes + [held] { stage.remove(scene) } }
        async let end = play(held)
        await isMet(within: patience) { slice in
            _ = try await held.state.wait(for: "the silent exchange", within: slice) { $0.isServed ? true : nil }
        }
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
        let isTimed = scene.exchange.isSilent || scene.exchange.isReadSlowly
        configuration.timeout = isTimed ? WireRun.silence : .seconds(1_000_000)
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

    /// The timeout of an exchange whose server stops sending.
    static let silence = Duration.seconds(1_000)

    /// The longest time for which a transport may wait before it sends or receives. It's shorter than the timeouts that
    /// clients set by themselves, such as 60 seconds.
    static let longestWait = Duration.seconds(40)

    private func finish(_ scene: WireScene, _ task: Task<Void, Never>) async -> WireTrace {
        let begin = clock.now
        let driver = Task { [clock] in
            // Waits of the transport may pass at any time. Its timeout passes only after the server stopped sending.
            var start = clock.now
            let exchange = scene.exchange
            var isAwaitingTimeout = exchange.isSilent && !exchange.isCancelled && !exchange.isDropped
            if case .response = scene.image.outcome { isAwaitingTimeout = false }
            while !Task.isCancelled {
                let isSilent = isAwaitingTimeout && scene.state.read { $0.isServed }
                // Start over after a slow reader has advanced the clock by several timeouts.
                if exchange.isReadSlowly, start.duration(to: clock.now) > Self.longestWait { start = clock.now }
                if let wake = clock.nextWake, isSilent || start.duration(to: wake) < Self.longestWait {
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
        let elapsed = begin.duration(to: clock.now)
        let isHanging = scene.state.update { state in
            state.trace.elapsed = elapsed
            return state.trace.isHanging
        }
        driver.cancel()
        if isHanging {
            // Skip further waits: each could also last until the limit.
            scene.finished.open()
            return scene.state.read { $0.trace }
        }
        if scene.exchange.isCancelled || scene.exchange.isDropped {
            let isClosed = await isMet(within: patience) { slice in
                _ = try await scene.state.wait(for: "a closed connection", within: slice) { $0.isLeft ? true : nil }
            }
            scene.state.update { $0.trace.isClosed = isClosed }
        }
        scene.finished.open()
        scene.openAll()
        await isMet(within: patience) { slice in
            _ = try await scene.state.wait(for: "the end", within: slice) { $0.isOver ? true : nil }
        }
        for _ in 0..<Int(patience / .milliseconds(2)) where !scene.remains.isEmpty {
            try? await Task.sleep(for: .milliseconds(2))
        }
        return scene.state.read { state in
            state.trace.remains = scene.remains
            state.trace.requests = state.requests
            state.trace.arrivals = state.requests.count + state.interrupted
            return state.trace
        }
    }

    private func ended(_ scene: WireScene, within limit: Duration) async -> Bool {
        await isMet(within: limit) { slice in
            _ = try await scene.state.wait(for: "the end", within: slice) { state in
                state.isEnded || state.isOver && state.trace.sent == nil ? true : nil
            }
        }
    }

    /// Waits in short slices until `wait` succeeds, and returns `false` after the limit. On a busy machine, each slice
    /// ends late, so a transport that waits as long for its turns isn't taken for one that hangs.
    @discardableResult
    private func isMet(within limit: Duration, _ wait: (_ slice: Duration) async throws -> Void) async -> Bool {
        let slice = min(limit, .milliseconds(100))
        for _ in 0..<Int(limit / slice) {
            do {
                try await wait(slice)
                return true
            } catch {}
        }
        return false
    }
}
