import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

final class WireStage: Sendable {
    private let scenes = Mutex<[WireScene]>([])

    func add(_ scene: WireScene) { scenes.withLock { $0.append(scene) } }
    func remove(_ scene: WireScene) { scenes.withLock { $0.removeAll { $0 === scene } } }

    /// Finds the scene by the request's target if there are several. Returns `nil` if the request reached the wrong
    /// origin.
    func scene(for request: RecordedRequest, _ isElsewhere: Bool) -> WireScene? {
        scenes.withLock { scenes in
            let scene = scenes.count < 2 ? scenes.first : scenes.first { $0.exchange.target == request.target }
            return scene?.exchange.isElsewhere == isElsewhere ? scene : nil
        }
    }
}

final class WireScene: Sendable {
    struct State: Sendable {
        var trace = WireTrace()
        var requests: [RecordedRequest] = []
        var interrupted = 0
        /// Whether the server has sent its last byte.
        var isServed = false
        /// Whether the client has closed its connection while the server still used it.
        var isLeft = false
        /// Whether the transport has returned a response and the caller has read its body.
        var isEnded = false
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
    /// A paced server waits for these. The first gate opens when the caller has received the head, and the others when
    /// it has received the parts of the body.
    private let gates: [Gate]
    private let references = Mutex(References())

    /// Called when the first request arrives at the server.
    private let onArrival: @Sendable () -> Void

    init(_ exchange: WireExchange, isHeld: Bool = false, onArrival: @escaping @Sendable () -> Void = {}) {
        (self.exchange, self.onArrival) = (exchange, onArrival)
        mayBeCancelled = Gate(isOpen: !isHeld)
        image = WireImage(exchange)
        gates = (0...image.parts.count).map { _ in Gate() }
    }

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

    var uploadLimit: Int64 {
        if case .resetUpload(let count) = exchange.reply.fault { Int64(count) } else { .max }
    }

    func noteInterrupted() { state.update { $0.interrupted += 1 } }

    func reply(to request: RecordedRequest) -> TestResponse {
        let number = state.update { state in
            state.requests.append(request)
            return state.requests.count - 1
        }
        if number == 0 { onArrival() }
        if number > 0, !exchange.furtherReplies.isEmpty { return exchange.furtherReply(number, to: request) }
        let reply = exchange.reply
        let isWatched = reply.isPaced || exchange.isReadSlowly || exchange.isDropped || exchange.isCancelled
        if reply.fault?.position == nil, !isWatched {
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
    var isSilent: Bool { if case .stall = reply.fault { true } else { false } }
}
