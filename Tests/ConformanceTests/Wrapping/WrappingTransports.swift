#if os(Linux) || os(Android)
import Errand
import Foundation
import Synchronization

/// Mistakes in transports that wrap another client: waits, limits, copied options, retries, and shared state.
extension AlteredTransport {
    // MARK: Waits

    static let totalTimeout = AlteredTransport("takes the timeout for the limit of the whole transfer") {
        request, options, base in
        try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            let timeout = options.timeout
            group.addTask { try await base.send(request, options: options) }
            group.addTask {
                try await Task.sleep(for: timeout)
                throw ErrandError(.timedOut, "the transfer took too long")
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
    }

    static let readerTimeout = AlteredTransport("limits the age of a stream") { request, options, base in
        var response = try await base.send(request, options: options)
        guard response.body.data == nil else { return response }
        let end = ContinuousClock.now.advanced(by: min(options.timeout, .seconds(1_000_000)))
        response.body = response.body.mapped(length: response.body.length) { iterator in
            if ContinuousClock.now > end { throw ErrandError(.timedOut, "the stream took too long") }
            return try await iterator.next()
        }
        return response
    }

    /// Right: a slow network, for demonstrations.
    static let waitsFirst = AlteredTransport("waits by the clock of its options, before it sends") {
        request, options, base in
        try await options.time.sleep(until: options.time.instant(after: .milliseconds(400)))
        try options.checkBeforeSending(request)
        return try await base.send(request, options: options)
    }

    static let wholeMilliseconds = AlteredTransport("rounds the timeout to milliseconds, and 0 means none") {
        request, options, base in
        var options = options
        let parts = options.timeout.components
        let milliseconds = min(parts.seconds, 1_000_000) * 1000 + parts.attoseconds / 1_000_000_000_000_000
        options.timeout = milliseconds == 0 ? .seconds(3600) : .milliseconds(milliseconds)
        return try await base.send(request, options: options)
    }

    static let sharedTimeout = AlteredTransport(
        "uses the shortest timeout of all requests",
        stateful: {
            let shortest = Mutex<Duration>(.seconds(1_000_000_000))
            return { request, options, base in
                var options = options
                let own = options.timeout
                options.timeout = shortest.withLock { shortest in
                    shortest = min(shortest, own)
                    return shortest
                }
                return try await base.send(request, options: options)
            }
        })

    static let keepsConnection = AlteredTransport("ends a silent stream without closing its connection") {
        request, options, base in
        var patient = options
        patient.timeout = .seconds(1_000_000)
        var response = try await base.send(request, options: patient)
        guard response.body.data == nil else { return response }
        let chunks = BodyChunks(response.body)
        response.body = HTTPBody(cancel: {}) {
            let end = options.time.instant(after: options.timeout)
            let timer = Task { try await options.time.sleep(until: end) }
            defer { timer.cancel() }
            let result = Arrived<Data?>()
            Task { result.set(await Result { () async throws -> Data? in try await chunks.next() }) }
            while options.time.now < end {
                if let result = result.value { return try result.get() }
                try await Task.sleep(for: .milliseconds(1))
            }
            throw ErrandError(.timedOut, "no chunk for too long")
        }
        return response
    }

    static let pollsCancellation = AlteredTransport("looks for a cancellation every half second") {
        request, options, base in
        let result = Arrived<HTTPResponse>()
        let task = Task {
            result.set(await Result { () async throws in try await base.send(request, options: options) })
        }
        var turns = 0
        while true {
            if let result = result.value { return try result.get() }
            if turns % 100 == 99, Task.isCancelled { task.cancel() }
            turns += 1
            await Task { try? await Task.sleep(for: .milliseconds(5)) }.value
        }
    }

    // MARK: Bodies

    static func collects(_ description: String, _ limit: @escaping @Sendable (Int) -> Int) -> AlteredTransport {
        AlteredTransport(description) { request, options, base in
            var streaming = options
            streaming.delivery = .stream
            var response = try await base.send(request, options: streaming)
            guard options.collectsBody(ofStatus: response.status) else { return response }
            var data = Data()
            do {
                for try await chunk in response.body {
                    data.append(chunk)
                    guard data.count <= limit(options.maximumBodyBytes) else {
                        throw ErrandError(.bodyTooLarge, "the body is too long")
                    }
                }
            } catch var error as ErrandError {
                response.body = HTTPBody(data.prefix(options.maximumBodyBytes))
                error.response = response
                throw error
            }
            response.body = HTTPBody(data)
            return response
        }
    }

    static let limitsStreams = AlteredTransport("limits streams like bodies in memory") { request, options, base in
        var response = try await base.send(request, options: options)
        guard response.body.data == nil, options.delivery == .stream else { return response }
        let count = Mutex(0)
        let limit = options.maximumBodyBytes
        response.body = response.body.mapped(length: response.body.length) { iterator in
            guard let chunk = try await iterator.next() else { return nil }
            let total = count.withLock { count in
                count += chunk.count
                return count
            }
            if total > limit { throw ErrandError(.bodyTooLarge, "the stream is too long") }
            return chunk
        }
        return response
    }

    static let decodesNothing = AlteredTransport.response("rejects an empty body that is said to be compressed") {
        response in
        if response.headers.contains(.contentEncoding), response.body.data?.isEmpty == true {
            throw ErrandError(.invalidResponse, "the body can't be decoded")
        }
    }

    static let namesNoCoding = AlteredTransport.response("removes a Content-Encoding that it doesn't know") {
        $0.headers.remove(.contentEncoding)
    }

    static let firstMember = AlteredTransport.response("decodes the first member of a gzip body") { response in
        let isTwice = response.body.data.map { data in
            data.count > 20 && data.count.isMultiple(of: 2)
                && data.prefix(data.count / 2) == data.suffix(data.count / 2)
        }
        guard isTwice == true, let data = response.body.data else { return }
        response.body = HTTPBody(data.prefix(data.count / 2))
    }

    // MARK: Requests

    static let hostWithoutPort = AlteredTransport.request("sends Host without the port") { request in
        if !request.headers.contains(.host), let host = request.host { request.headers.set(.host, host) }
    }

    static let hostWithoutBrackets = AlteredTransport.request("sends an IPv6 address without brackets") { request in
        let host = request.host?.filter { $0 != "[" && $0 != "]" } ?? ""
        if host.contains(":") { request.headers.set(.host, "\(host):\(request.url.port ?? 80)") }
    }

    static let ownCodings = AlteredTransport.request("replaces Accept-Encoding") {
        $0.headers.set(.acceptEncoding, "gzip")
    }

    static let sendsFragment = AlteredTransport.request("sends the fragment") { request in
        if let url = URL(string: request.urlText.replacing("#", with: "%23")) { request.url = url }
    }

    static let blamesConnection = AlteredTransport("calls every failure a lost connection") { request, options, base in
        do { return try await base.send(request, options: options) } catch let error as ErrandError
            where error.code == .encodingFailed
        { throw ErrandError(.connectionLost, "the request failed", underlying: error) }
    }

    // MARK: Retries

    static func retries(
        _ description: String, if isRetried: @escaping @Sendable (ErrandError) -> Bool
    ) -> AlteredTransport {
        AlteredTransport(description) { request, options, base in
            do { return try await base.send(request, options: options) } catch let error as ErrandError
                where request.method.isIdempotent && request.body.isReplayable && isRetried(error)
            {
                return try await base.send(request, options: options)
            }
        }
    }

    static let retriesGateways = AlteredTransport("sends again after a 502 or 504") { request, options, base in
        let response = try await base.send(request, options: options)
        guard [502, 504].contains(response.status), request.body.isReplayable else { return response }
        response.body.cancel()
        return try await base.send(request, options: options)
    }

    static let followsAbsolute = AlteredTransport("follows a redirect to an absolute URL") { request, options, base in
        let response = try await base.send(request, options: options)
        guard (301...308).contains(response.status), let location = response.headers[.location],
            let url = URL(string: location), url.scheme == "http"
        else { return response }
        response.body.cancel()
        var next = request
        next.url = url
        return try await base.send(next, options: options)
    }

    static let neverConnected = AlteredTransport("says that it couldn't connect, if no head came") {
        request, options, base in
        do { return try await base.send(request, options: options) } catch let error as ErrandError
            where error.code == .connectionLost && error.response == nil
        { throw ErrandError(.cannotConnect, "no response", underlying: error) }
    }

    static let fillsEmpty = AlteredTransport("sends again after an empty body") { request, options, base in
        let response = try await base.send(request, options: options)
        guard response.body.data?.isEmpty == true, request.method == .get else { return response }
        return try await base.send(request, options: options)
    }

    // MARK: Shared state

    static let coalesces = AlteredTransport(
        "sends requests for one URL once that are wanted as data",
        stateful: {
            let running = Mutex<[String: Task<HTTPResponse, any Error>]>([:])
            return { request, options, base in
                guard request.method == .get, options.delivery == .data else {
                    return try await base.send(request, options: options)
                }
                let key = request.urlText
                let task = running.withLock { running in
                    if let task = running[key] { return task }
                    let task = Task { try await base.send(request, options: options) }
                    running[key] = task
                    return task
                }
                defer { running.withLock { $0[key] = nil } }
                return try await withTaskCancellationHandler {
                    try await task.value
                } onCancel: {
                    task.cancel()
                }
            }
        })

    static let breaksCircuit = AlteredTransport(
        "doesn't send to a host for a while that failed ten times",
        stateful: {
            let failures = Mutex(0)
            return { request, options, base in
                if failures.withLock({ $0 >= 10 }) { throw ErrandError(.cannotConnect, "the host rests") }
                let response = try await base.send(request, options: options)
                failures.withLock { $0 = response.status >= 500 ? $0 + 1 : 0 }
                return response
            }
        })

    /// - Parameter returnsAlways: Whether a stream that is dropped unread returns its slot.
    static func slots(returnsAlways: Bool) -> AlteredTransport {
        AlteredTransport(
            returnsAlways ? "sends 50 requests at a time" : "counts a stream until its end, also if it is dropped",
            stateful: {
                let used = Atomic(0)
                return { request, options, base in
                    while used.load(ordering: .relaxed) >= 50 { try await Task.sleep(for: .milliseconds(2)) }
                    used.add(1, ordering: .relaxed)
                    let slot = Slot { used.subtract(1, ordering: .relaxed) }
                    if !returnsAlways { slot.isKept = true }
                    var response: HTTPResponse
                    do { response = try await base.send(request, options: options) } catch {
                        slot.leave()
                        throw error
                    }
                    guard response.body.data == nil else {
                        slot.leave()
                        return response
                    }
                    response.body = response.body.mapped(length: response.body.length) { iterator in
                        do {
                            let chunk = try await iterator.next()
                            if chunk == nil { slot.leave() }
                            return chunk
                        } catch {
                            slot.leave()
                            throw error
                        }
                    }
                    return response
                }
            })
    }

    static let mixesEvents = AlteredTransport(
        "reports events to the first of the requests that are running",
        stateful: {
            let first = Mutex<TransportOptions?>(nil)
            return { request, options, base in
                let known = first.withLock { first in
                    defer { first = first ?? options }
                    return first
                }
                defer { if known == nil { first.withLock { $0 = nil } } }
                var reporting = known ?? options
                (reporting.timeout, reporting.delivery) = (options.timeout, options.delivery)
                return try await base.send(request, options: reporting)
            }
        })
}

/// The result of a task, once it's known.
private final class Arrived<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)

    var value: Result<Value, any Error>? { result.withLock { $0 } }

    func set(_ value: Result<Value, any Error>) { result.withLock { $0 = value } }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}

/// A place among the requests that are sent at a time.
private final class Slot: Sendable {
    private let left = Atomic(false)
    private let kept = Atomic(false)
    private let onLeave: @Sendable () -> Void

    init(_ onLeave: @escaping @Sendable () -> Void) { self.onLeave = onLeave }

    var isKept: Bool {
        get { kept.load(ordering: .relaxed) }
        set { kept.store(newValue, ordering: .relaxed) }
    }

    func leave() { if !left.exchange(true, ordering: .relaxed) { onLeave() } }

    deinit { if !isKept { leave() } }
}
#endif
