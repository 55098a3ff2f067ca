#if os(Linux) || os(Android)
import Errand
import Foundation
import Synchronization

/// Requests the rest of a body that breaks off. It's correct except for one mistake.
struct ResumingTransport: Transport {
    enum Mistake: CaseIterable {
        /// Sends no If-Range and compares no ETag, so the rest can be of another version.
        case ignoresVersions
        /// Takes a 200 for the rest.
        case appendsWhole
        /// Doesn't compare Content-Range with the bytes that it has.
        case ignoresContentRange
        /// Continues a response with a weak ETag, or without one.
        case trustsWeakTags
        /// Takes the end of a shorter part for the end of the body.
        case endsWithPart
        /// Never gives up.
        case neverEnds
        /// Starts over from the first byte after its caller has received bytes.
        case startsOver
    }

    private let base = Wire.strict[0].transport
    let mistake: Mistake?

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        var streaming = options
        // A body that the base collects would be lost if it breaks off.
        streaming.delivery = .stream
        var request = request
        if request.method == .get, !request.headers.contains(.range), !request.headers.contains(.acceptEncoding) {
            // The number of received bytes must be that of the sent bytes.
            request.headers.add(.acceptEncoding, "identity")
        }
        let response = try await base.send(request, options: mayResume(request) ? streaming : options)
        guard mayResume(request), response.status == 200, response.body.data == nil,
            !response.headers.contains(.contentEncoding), let tag = tag(of: response)
        else { return response }
        let rest = Rest(self, base, request, streaming, response, tag)
        var result = response
        result.body = HTTPBody(length: response.body.length, cancel: { rest.cancel() }) { try await rest.next() }
        return result
    }

    private func mayResume(_ request: HTTPRequest) -> Bool {
        request.method == .get && !request.headers.contains(.range)
    }

    private func tag(of response: HTTPResponse) -> String? {
        let tag = response.headers[.entityTag]
        if mistake == .trustsWeakTags { return tag ?? "" }
        return tag.flatMap { $0.hasPrefix("\"") ? $0 : nil }
    }

    private final class Rest: Sendable {
        private let owner: ResumingTransport
        private let base: any Transport
        private let request: HTTPRequest
        private let options: TransportOptions
        private let tag: String
        private let state: Mutex<State>

        private struct State {
            var chunks: BodyChunks
            /// The length of the whole body, if it's known.
            var total: Int64?
            var count: Int64 = 0
            var attempts = 0
            var isCancelled = false
        }

        init(
            _ owner: ResumingTransport, _ base: any Transport, _ request: HTTPRequest, _ options: TransportOptions,
            _ response: HTTPResponse, _ tag: String
        ) {
            (self.owner, self.base, self.request, self.options, self.tag) = (owner, base, request, options, tag)
            state = Mutex(State(chunks: BodyChunks(response.body), total: response.body.length))
        }

        func cancel() {
            let chunks = state.withLock { state in
                state.isCancelled = true
                return state.chunks
            }
            chunks.cancel()
        }

        func next() async throws -> Data? {
            while true {
                let (chunks, isCancelled) = state.withLock { ($0.chunks, $0.isCancelled) }
                do {
                    if let chunk = try await chunks.next() {
                        state.withLock { $0.count += Int64(chunk.count) }
                        return chunk
                    }
                    let (count, total) = state.withLock { ($0.count, $0.total) }
                    guard let total, count < total, owner.mistake != .endsWithPart, !isCancelled else { return nil }
                    if try await !resume(from: count) {
                        throw ErrandError(.truncated, "the body ended before its length")
                    }
                } catch let error as ErrandError where error.code == .connectionLost || error.code == .truncated {
                    let count = state.withLock { $0.count }
                    if isCancelled || Task.isCancelled { throw error }
                    if try await !resume(from: count) { throw error }
                }
            }
        }

        /// Returns whether the server sends the rest.
        private func resume(from count: Int64) async throws -> Bool {
            let attempts = state.withLock { state in
                state.attempts += 1
                return state.attempts
            }
            if attempts > (owner.mistake == .neverEnds ? 50 : 3) { return false }
            var again = request
            let isRestart = owner.mistake == .startsOver
            if !isRestart {
                again.headers.add(.range, "bytes=\(count)-")
                if owner.mistake != .ignoresVersions, !tag.isEmpty { again.headers.add(.ifRange, tag) }
            }
            guard let response = try? await base.send(again, options: options) else { return false }
            let isPart = response.status == 206
            let range = response.headers[.contentRange] ?? ""
            let isWhole = response.status == 200 && (owner.mistake == .appendsWhole || isRestart)
            let hasVersion = owner.mistake == .ignoresVersions || response.headers[.entityTag] == tag
            let isNext = owner.mistake == .ignoresContentRange || range.hasPrefix("bytes \(count)-")
            guard isWhole || isPart && (hasVersion || tag.isEmpty) && isNext else {
                BodyChunks(response.body).cancel()
                return false
            }
            let total = range.split(separator: "/").last.flatMap { Int64($0) }
            state.withLock { state in
                state.chunks = BodyChunks(response.body)
                if isPart { state.total = state.total ?? total }
            }
            return true
        }
    }
}

/// Mistakes with the calendar date, which users and time servers set back.
extension AlteredTransport {
    static let pacesByDate = AlteredTransport(
        "sends no more than one request in two seconds, by the date",
        stateful: {
            let last = Mutex<Date?>(nil)
            return { request, options, base in
                let date = options.time.date
                let wait = last.withLock { last in
                    let wait = last.map { max(0, $0.addingTimeInterval(2).timeIntervalSince(date)) } ?? 0
                    last = date
                    return wait
                }
                if wait > 0 {
                    try await options.time.sleep(until: options.time.instant(after: .seconds(wait)))
                }
                return try await base.send(request, options: options)
            }
        })

    static let pacesByInstant = AlteredTransport(
        "sends no more than one request in two seconds, by the clock that never jumps",
        stateful: {
            let next = Mutex<ContinuousClock.Instant?>(nil)
            return { request, options, base in
                let now = options.time.now
                let start = next.withLock { next in
                    let start = max(next ?? now, now)
                    next = start.advanced(by: .seconds(2))
                    return start
                }
                if start > now { try await options.time.sleep(until: start) }
                return try await base.send(request, options: options)
            }
        })

    static let timesByDate = AlteredTransport("reports its own timings, by the date") { request, options, base in
        let start = options.time.date
        var response = try await base.send(
            request,
            options: TransportOptions(
                timeout: options.timeout, delivery: options.delivery, maximumBodyBytes: options.maximumBodyBytes,
                tags: options.tags, time: options.time))
        @Sendable func report() {
            var timings = TransferTimings()
            timings.total = .seconds(options.time.date.timeIntervalSince(start))
            options.report(.timings(timings))
        }
        guard response.body.data == nil else {
            report()
            return response
        }
        response.body = response.body.mapped(length: response.body.length) { iterator in
            let chunk = try await iterator.next()
            if chunk == nil { report() }
            return chunk
        }
        return response
    }

    static let timesOutByDate = AlteredTransport("times out by the date") { request, options, base in
        var patient = options
        patient.timeout = .seconds(100_000_000)
        let end = options.time.date.addingTimeInterval(options.timeout / .seconds(1))
        let inner = patient
        return try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            group.addTask { try await base.send(request, options: inner) }
            group.addTask {
                while options.time.date < end {
                    let wait = end.timeIntervalSince(options.time.date)
                    try await options.time.sleep(until: options.time.instant(after: .seconds(wait)))
                }
                throw ErrandError(.timedOut, "the date of the end has passed")
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
    }
}
#endif
