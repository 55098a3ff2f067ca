import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

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

struct WireRequest: Request {
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

final class WireProbe: Transport {
    private let scene: WireScene
    private let subject: any Transport

    init(_ scene: WireScene, _ subject: any Transport) { (self.scene, self.subject) = (scene, subject) }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let mayCollect = options.collectsBody(ofStatus: scene.exchange.reply.status)
        let sent = WireTrace.Sent(
            target: Self.target(of: request.urlText), authority: Self.authority(of: request.urlText), url: request.url,
            headers: request.headers, length: request.body.length)
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

    /// Acts as a slow reader: after the server has sent all bytes, allows the timeout to pass before it asks for a
    /// chunk.
    private func pause(_ options: TransportOptions) async {
        let isServed = try? await scene.state.wait(for: "the response", within: .milliseconds(500)) { state in
            state.isServed ? true : nil
        }
        guard isServed == true else { return }
        try? await Task.sleep(for: .milliseconds(10))
        (options.time as? ManualTimeSource)?.advance(by: options.timeout * 2)
    }

    private static func target(of url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        return String(url[start...].drop { $0 != "/" })
    }

    private static func authority(of url: String) -> String {
        guard let start = url.firstRange(of: "://")?.upperBound else { return url }
        return url[start...].prefix { $0 != "/" }.lowercased()
    }

    private func read(_ request: HTTPRequest, _ options: TransportOptions) async throws {
        let response = try await subject.send(request, options: options)
        scene.state.update {
            $0.trace.head = WireTrace.Head(
                status: response.status, headers: response.headers, length: response.body.length, url: response.url)
        }
        scene.received(0)
        if let data = response.body.data {
            scene.state.update { ($0.trace.body, $0.trace.isComplete) = (data, true) }
            return
        }
        var pauses = scene.exchange.isReadSlowly ? 3 : 0
        if pauses > 0 { await pause(options) }
        var iterator = response.body.makeAsyncIterator()
        while let chunk = try await iterator.next() {
            let count = scene.state.update { state in
                state.trace.body.append(chunk)
                return state.trace.body.count
            }
            scene.received(count)
            pauses -= 1
            if pauses > 0 { await pause(options) }
            if scene.exchange.isDropped && !chunk.isEmpty { return }
        }
        scene.state.update { $0.trace.isComplete = true }
    }
}

final class WireEvents: Accessory {
    private let scene: WireScene

    init(_ scene: WireScene) { self.scene = scene }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .transport(let event) = event else { return }
        let seen: WireTrace.Event? =
            switch event {
            case .informational(let status, let headers): .informational(status, headers)
            case .trailers(let fields): .trailers(fields)
            case .progress(let progress): .progress(progress)
            case .timings(let timings): .timings(isNegative: timings.hasNegativeTime)
            default: nil
            }
        if let seen { scene.state.update { $0.trace.events.append(seen) } }
    }
}

extension TransferTimings {
    fileprivate var hasNegativeTime: Bool {
        [queued, nameLookup, connected, secured, requestSent, firstByte, total].contains { ($0 ?? .zero) < .zero }
    }
}
