import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// Runs calls through an agent, with or without the tested filter. The agent's transport acts as the server.
final class LawRun: Sendable {
    let clock: LawClock
    private let agent: NetworkAgent
    private let server: LawServer
    let patience: Duration

    init(
        _ filter: (any Filter)?, outside: [any Filter] = [], inside: [any Filter] = [],
        accessories: [any Accessory] = [], patience: Duration, bench: FilterBench, date: Date? = nil
    ) {
        self.patience = patience
        clock = LawClock(date: date)
        server = LawServer(clock)
        var configuration = AgentConfiguration(baseURL: FilterBench.origin + "/v1")
        configuration.timeout = .seconds(1_000_000)
        configuration.filters =
            [LawProbe(.call)] + outside + (filter.map { [$0] } ?? []) + inside + [LawProbe(.wire)]
        configuration.accessories = [LawEvents(clock)] + accessories
        agent = NetworkAgent(configuration: configuration, transport: server, time: clock)
    }

    var running: Int { server.running.load(ordering: .acquiring) }
    /// The most requests that have run at the same time.
    var peak: Int { server.peak.load(ordering: .acquiring) }

    /// The number of requests that the filter created itself, such as requests for a token.
    var ownRequests: Int { server.ownRequests.load(ordering: .relaxed) }
    func holdOwnRequests(by gate: Gate?) { server.ownRequestGate.withLock { $0 = gate } }

    func play(_ exchange: LawExchange) async -> LawTrace { await begin(LawCall(exchange)).trace }

    func begin(_ call: LawCall) async -> LawCall {
        let start = clock.now
        let end = OneShot()
        let task = Task { [agent, clock] in
            let outcome = await Self.outcome(of: call, on: agent)
            let elapsed = start.duration(to: clock.now)
            call.note { ($0.outcome, $0.elapsed) = (outcome, elapsed) }
            clock.noteActivity()
            end.fire()
        }
        call.canBeCancelled { [weak call, weak clock] in
            if let elapsed = clock.map({ start.duration(to: $0.now) }) {
                call?.note { $0.cancelled = $0.cancelled ?? elapsed }
            }
            task.cancel()
        }
        let driver = Task { [clock, server, patience] in
            try? await clock.drive(patience: patience) { server.delayed.load(ordering: .relaxed) > 0 }
            end.fire()
        }
        await end.wait()
        driver.cancel()
        task.cancel()
        return call
    }

    func report(_ messages: [String]) async {
        let handle = agent.start(ActivityKind.stream, options: CallOptions(), completion: nil) { activity in
            for (index, text) in messages.enumerated() {
                let data = Data(text.utf8)
                activity.report { limit in
                    StreamMessage(
                        index.isMultiple(of: 2) ? .received : .sent, isText: true, Data(data.prefix(limit)),
                        length: data.count)
                }
            }
        }
        _ = await handle.result
    }

    /// Doesn't advance the clock.
    func launch(_ call: LawCall) -> Task<Void, Never> {
        let start = Gate(isOpen: call.cancelledBefore == nil)
        let task = Task { [agent] in
            if !start.isOpen { try? await start.wait() }
            let outcome = await Self.outcome(of: call, on: agent)
            call.note { $0.outcome = outcome }
        }
        call.canBeCancelled { task.cancel() }
        start.open()
        return task
    }

    /// Runs calls at the same time, and advances the clock until all have ended.
    func finish(_ calls: [LawCall]) async { await finish(calls.map { launch($0) }) }

    /// Advances the clock until all tasks have ended. Cancels tasks that don't end, and returns even if a wrong filter
    /// ignores the cancellation.
    ///
    /// - Parameter wakes: How often to advance the clock. A limit ends a filter that checks again and again.
    func finish(_ tasks: [Task<Void, Never>], wakes: Int = .max) async {
        let end = OneShot()
        Task {
            for task in tasks { await task.value }
            end.fire()
        }
        let driver = Task { [clock, server, patience] in
            try? await clock.drive(patience: patience, wakes: wakes) { server.delayed.load(ordering: .relaxed) > 0 }
            for task in tasks { task.cancel() }
            for _ in 0..<1_000 where !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
            end.fire()
        }
        await end.wait()
        driver.cancel()
    }

    private static func outcome(of call: LawCall, on agent: NetworkAgent) async -> LawTrace.Outcome {
        defer { if call.exchange.isSaved { try? FileManager.default.removeItem(at: call.file) } }
        do {
            let response = try await agent.send(LawRequest(call), options: CallOptions()).value
            var result = LawTrace.Response(
                status: response.status, url: response.url.absoluteString, version: response.version,
                source: "\(response.source)", headers: response.headers, body: response.body.data,
                length: response.body.length)
            if call.exchange.isStreamed, !call.exchange.isDropped {
                result.body = try await call.read(response.body)
            }
            if let file = response.body.file { result.body = try Data(contentsOf: file) }
            return .response(result)
        } catch { return .failure(error) }
    }
}

private final class OneShot: Sendable {
    private let state = Mutex<(isFired: Bool, waiter: CheckedContinuation<Void, Never>?)>((false, nil))

    func fire() {
        let waiter = state.withLock { state in
            defer { state = (true, nil) }
            return state.waiter
        }
        waiter?.resume()
    }

    func wait() async {
        await withCheckedContinuation { waiter in
            let isFired = state.withLock { state in
                if !state.isFired { state.waiter = waiter }
                return state.isFired
            }
            if isFired { waiter.resume() }
        }
    }
}

final class LawCall: Sendable {
    struct State {
        var trace = LawTrace()
        var cancel: (@Sendable () -> Void)?
        var isCancelling = false
    }

    struct References {
        weak var request: BenchMark?
        /// A tag of the request.
        weak var mark: BenchMark?
        var bodies: [WeakSource] = []
    }

    let exchange: LawExchange
    /// The file for a response that is saved.
    let file = FileManager.default.temporaryDirectory.appending(path: "errand-law-\(UUID().uuidString)")
    let state = Mutex(State())
    let references = Mutex(References())
    /// Opens when the caller has received the first chunk.
    let isReading = Gate()

    /// Whether an equal call runs at the same time.
    let isShared: Bool
    /// The users that an outer filter assigns to the call.
    let users: [UserMark]
    let notices: HTTPHeaders
    /// Holds back the server's response.
    let gate: Gate?
    /// The stage before which the call's task is cancelled.
    let cancelledBefore: FilterStages?
    let arrival: Arrival
    /// An error that an inner filter throws instead of sending a request.
    let refusal: (any Error)?

    enum Arrival {
        /// As the exchange and the delivery determine.
        case asDelivered
        /// In one piece, along with the head if it isn't streamed.
        case atOnce
        /// In many pieces, and later than the head if the transport doesn't have to collect it.
        case inPieces
    }

    init(
        _ exchange: LawExchange, isShared: Bool = false, users: [UserMark] = [], notices: HTTPHeaders = [:],
        heldBy gate: Gate? = nil, cancelledBefore stage: FilterStages? = nil, arrival: Arrival = .asDelivered,
        refusedWith refusal: (any Error)? = nil
    ) {
        (self.arrival, self.refusal) = (arrival, refusal)
        (self.exchange, self.isShared, self.users, self.notices) = (exchange, isShared, users, notices)
        (self.gate, cancelledBefore) = (gate, stage)
    }

    /// A call with more requests counts as endless.
    static let most = 200

    var trace: LawTrace {
        var trace = state.withLock { $0.trace }
        if trace.isEndless { trace.outcome = .endless }
        return trace
    }

    var isCancelled: Bool { state.withLock { $0.isCancelling } }
    var isOver: Bool { trace.outcome.kind != "endless" }

    func canBeCancelled(by cancel: @escaping @Sendable () -> Void) {
        let isCancelling = state.withLock { state in
            state.cancel = cancel
            return state.isCancelling
        }
        if isCancelling { cancel() }
    }

    func cancel() {
        let cancel = state.withLock { state in
            state.isCancelling = true
            return state.cancel
        }
        cancel?()
    }

    func note(_ change: (inout LawTrace) -> Void) { state.withLock { change(&$0.trace) } }

    /// Changes the record of a send. A late send may find that its record is gone, because a law clears the trace after
    /// the call's end.
    func noteSend(_ number: Int, _ change: (inout LawTrace.Send) -> Void) {
        note { if $0.sends.count >= number { change(&$0.sends[number - 1]) } }
    }

    /// Removes everything that the call has recorded.
    func clearTrace() { note { $0 = LawTrace() } }

    func keep(_ source: LawSource) -> LawSource {
        references.withLock { $0.bodies.append(WeakSource(source: source)) }
        return source
    }

    var remains: [String] {
        references.withLock { references in
            (references.request == nil ? [] : ["the request"]) + (references.mark == nil ? [] : ["the tags"])
                + (references.bodies.contains { $0.source != nil } ? ["a body"] : [])
        }
    }

    func read(_ body: HTTPBody) async throws -> Data {
        var (data, iterator) = (Data(), body.makeAsyncIterator())
        while let chunk = try await iterator.next() {
            data.append(chunk)
            isReading.open()
            if data.count > 1 << 20 { break }
        }
        return data
    }
}

struct WeakSource: Sendable { weak let source: LawSource? }

enum LawCallTag: TagKey {
    static var defaultValue: LawSendTag? { nil }
}

struct LawSendTag: Sendable {
    let call: LawCall
    let number: Int
}

struct LawRequest: Request {
    typealias Output = HTTPResponse
    let call: LawCall
    let tags: Tags
    let body: RequestBody
    /// Stays in memory as long as the request.
    private let mark = BenchMark()

    init(_ call: LawCall) {
        self.call = call
        var tags = Tags()
        if call.exchange.isTagged {
            let mark = BenchMark()
            call.references.withLock { $0.mark = mark }
            tags[BenchTag.self] = mark
        }
        for tag in call.exchange.tags { tag.add(to: &tags) }
        self.tags = tags
        body = Self.body(of: call)
        call.references.withLock { [mark] in $0.request = mark }
    }

    private static func body(of call: LawCall) -> RequestBody {
        let type = call.exchange.headers[.contentType]
        switch call.exchange.body {
        case .none: return .none
        case .text, .bytes: return .data(call.exchange.body.data, contentType: type)
        case .stream(let chunks, true, let hasLength):
            let length = hasLength ? Int64(call.exchange.body.data.count) : nil
            return .stream(length: length, contentType: type) {
                HTTPBody(length: length, source: call.keep(LawSource(chunks, of: call)))
            }
        case .stream(let chunks, false, let hasLength):
            let length = hasLength ? Int64(call.exchange.body.data.count) : nil
            return .stream(
                HTTPBody(length: length, source: call.keep(LawSource(chunks, of: call))), contentType: type)
        case .awaitedStream(let chunks):
            return .stream(HTTPBody(source: call.keep(LawSource(chunks, of: call))), contentType: type)
        }
    }

    var method: HTTPMethod { call.exchange.method }
    var path: String { call.exchange.url }
    var headers: HTTPHeaders { call.exchange.headers }
    var delivery: BodyDelivery {
        call.exchange.isStreamed ? .stream : call.exchange.isSaved ? .file(call.file) : .data
    }
    var timeout: Duration? { call.exchange.timeout }
    var deadline: Duration? { call.exchange.deadline }
    var priority: RequestPriority? { call.exchange.priority }
    var acceptableStatuses: StatusCodes { call.exchange.isStrict ? .successful : .any }
    var acceptableContentTypes: ContentTypes { .any }
    var checks: [ResponseCheck] {
        call.exchange.isRefused ? [ResponseCheck("conformance") { _ in throw BenchError() }] : []
    }
}

final class LawSource: HTTPBodySource {
    /// How long a body that arrives in pieces is late.
    static let arrivalDelay = Duration.milliseconds(400)

    private let pieces: [Data]
    /// The number of pieces that contain the first chunk.
    private let firstCount: Int
    private let failure: ErrandError.Code?
    private let call: LawCall
    private let isAwaiting: Bool
    private let cancelsAfterFirst: Bool
    private let isSlow: Bool
    private let clock: LawClock?
    private let index = Atomic(0)

    init(
        _ chunks: [String], of call: LawCall, failure: ErrandError.Code? = nil, isAwaiting: Bool = false,
        cancelsAfterFirst: Bool = false, arrival: LawCall.Arrival = .asDelivered, clock: LawClock? = nil,
        bytes: Data? = nil
    ) {
        self.clock = clock
        let data = bytes ?? Data(chunks.joined().utf8)
        switch arrival {
        case .asDelivered: pieces = bytes.map { [$0] } ?? chunks.flatMap(Self.cut)
        case .atOnce: pieces = [data]
        case .inPieces: pieces = Self.pieces(of: data)
        }
        isSlow = arrival == .inPieces
        firstCount = Self.count(of: pieces, containing: chunks.first?.utf8.count ?? 0)
        (self.call, self.failure) = (call, failure)
        (self.isAwaiting, self.cancelsAfterFirst) = (isAwaiting, cancelsAfterFirst)
    }

    func nextChunk() async throws -> Data? {
        let index = index.add(1, ordering: .relaxed).oldValue
        if isSlow {
            // Longer than a short body may delay a response, and shorter than the wait for evidence.
            if index == 0, let clock { try await clock.sleep(until: clock.now.advanced(by: Self.arrivalDelay)) }
            for _ in 0..<3 { await Task.yield() }
        }
        if index >= firstCount, isAwaiting { try await call.isReading.wait(within: .seconds(3_600)) }
        if index >= firstCount, cancelsAfterFirst {
            call.cancel()
            try await Gate().wait(within: .seconds(3_600))
        }
        if index < pieces.count { return pieces[index] }
        if let failure { throw ErrandError(failure, "conformance") }
        return nil
    }

    private static func pieces(of data: Data) -> [Data] {
        let size = max(1, data.count / 60)
        return stride(from: 0, to: data.count, by: size).map { Data(data.dropFirst($0).prefix(size)) }
    }

    /// Returns how many pieces contain the first bytes, at least 1.
    private static func count(of pieces: [Data], containing length: Int) -> Int {
        var (count, total) = (0, 0)
        for piece in pieces where count == 0 || total < length {
            count += 1
            total += piece.count
        }
        return max(1, count)
    }

    /// Splits a chunk within its first multibyte character, as a network can.
    private static func cut(_ chunk: String) -> [Data] {
        let bytes = Data(chunk.utf8)
        guard let index = bytes.firstIndex(where: { $0 >= 0x80 }) else { return [bytes] }
        return [Data(bytes[...index]), Data(bytes[(index + 1)...])]
    }

    func cancel() {}
}

private final class LawEvents: Accessory {
    private let clock: LawClock

    init(_ clock: LawClock) { self.clock = clock }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        clock.noteActivity()
        guard case .transport(let event) = event, let call = (activity.request as? LawRequest)?.call else { return }
        let text: String? =
            switch event {
            case .progress(let progress): "progress: \(progress.sent) sent, \(progress.received) received"
            case .informational(let status, _): "a response with status \(status)"
            case .trailers(let fields): "trailers: \(fields.map(\.name.rawName).joined(separator: ", "))"
            default: nil
            }
        if let text { call.note { $0.events.append(text) } }
    }
}
