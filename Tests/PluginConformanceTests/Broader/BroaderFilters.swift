import Errand
import Foundation
import Synchronization

// Filters with a mistake that depends on the state, the users or the arrival of a call. The property that a comment
// names makes each of them right.

struct ServerReason: Error {}

/// Throws the reason that a server's failure contains.
struct ReasonErrors: Filter {
    /// Right: waits for the body. Wrong: reads `data`, which is empty until the body has arrived.
    let isPatient: Bool

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        guard response.status >= 400 else { return response }
        if isPatient { try await exchange.gatherEvidence(of: response) }
        if response.data.isEmpty { return response }
        throw ServerReason()
    }
}

/// Counts the bytes of a streamed body when it's sent.
struct UploadCount: Filter {
    /// Right: counts each time the body is opened. Wrong: opens it once.
    let reopens: Bool

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let body = exchange.http.body
        guard body.data == nil, !body.isNone, body.isReplayable else { return try await next(exchange) }
        var exchange = exchange
        if reopens {
            exchange.http.body = .stream(length: body.length, contentType: body.contentType) {
                HTTPBody(source: Counted(try body.open()))
            }
        } else {
            exchange.http.body = .stream(HTTPBody(source: Counted(try body.open())), contentType: body.contentType)
        }
        return try await next(exchange)
    }

    private final class Counted: HTTPBodySource {
        private let chunks: BodyChunks
        private let count = Atomic(0)

        init(_ body: HTTPBody) { chunks = BodyChunks(body) }

        func nextChunk() async throws -> Data? {
            let chunk = try await chunks.next()
            count.add(chunk?.count ?? 0, ordering: .relaxed)
            return chunk
        }

        func cancel() { chunks.cancel() }
    }
}

struct Paused: Error {}

/// Refuses calls to a host for a minute after six failures in a row.
final class Pause: Filter {
    /// Right: a cancellation doesn't count. Wrong: it counts as the host's failure.
    private let looksAtCancellation: Bool
    private let state = Mutex<[String: (failures: Int, end: ContinuousClock.Instant?)]>([:])

    init(looksAtCancellation: Bool) { self.looksAtCancellation = looksAtCancellation }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let (host, now) = (exchange.http.host ?? "", exchange.time.now)
        let isPaused = state.withLock { state in
            guard let end = state[host]?.end else { return false }
            if now < end { return true }
            state[host] = nil
            return false
        }
        if isPaused { throw Paused() }
        do {
            let response = try await next(exchange)
            state.withLock { $0[host] = nil }
            return response
        } catch {
            if looksAtCancellation, error.isCancellation { throw error }
            state.withLock { state in
                if state.count > 200 { state = [:] }
                let failures = (state[host]?.failures ?? 0) + 1
                state[host] = (failures, failures < 6 ? nil : now.advanced(by: .seconds(60)))
            }
            throw error
        }
    }
}

/// Responds with an earlier response if a connection is lost.
final class Fallback: Filter {
    /// Right: stores a response after it's accepted. Wrong: stores it at once.
    private let waitsForAcceptance: Bool
    private let kept = Mutex<[String: HTTPResponse]>([:])

    init(waitsForAcceptance: Bool) { self.waitsForAcceptance = waitsForAcceptance }

    var traits: FilterTraits { [.caches, .cachesCalls] }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.userMarks.isEmpty else { return try await next(exchange) }
        let url = exchange.http.urlText
        do {
            let response = try await next(exchange)
            guard let data = response.body.data, response.status == 200 else { return response }
            var copy = response
            copy.body = HTTPBody(data)
            if waitsForAcceptance { exchange.whenAccepted { [self, copy] in keep(copy, url) } } else { keep(copy, url) }
            return response
        } catch let error as ErrandError where error.code == .connectionLost {
            guard let response = kept.withLock({ $0[url] }) else { throw error }
            exchange.reportUsers()
            return response
        }
    }

    private func keep(_ response: HTTPResponse, _ url: String) {
        kept.withLock { kept in
            if kept.count > 100 { kept = [:] }
            kept[url] = response
        }
    }
}

/// Repeats a request that a server refused, with a new token.
struct Renewal: Filter {
    /// Right: one attempt. Wrong: any number.
    let attempts: Int

    var traits: FilterTraits { [.authenticates, .retries] }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.body.isReplayable else { return try await next(exchange) }
        let staged = exchange.stagedWorkCount
        var response = try await next(exchange)
        var rest = attempts
        while response.status == 401, rest > 0 {
            rest -= 1
            await exchange.discard(response)
            await exchange.discardStagedWork(after: staged)
            response = try await next(exchange)
        }
        return response
    }
}

/// Sends a detached copy of each second read to another host, and ignores its response.
final class ReadCopies: Filter {
    private let count = Atomic(0)

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        if exchange.http.method == .get, exchange.http.body.isNone, exchange.delivery == .data,
            count.add(1, ordering: .relaxed).newValue.isMultiple(of: 2), let host = exchange.http.host,
            let url = URL(string: exchange.http.urlText.replacing("://\(host)", with: "://mirror.example"))
        {
            exchange.detach("mirror") { copy in
                var copy = copy
                copy.http.url = url
                await copy.discard(try await next(copy))
            }
        }
        return try await next(exchange)
    }
}

struct WrongSum: Error {}

/// Compares the sum of a body's bytes with a field.
struct SumField: Filter {
    /// Right: only examines bodies in memory. Wrong: reads streams, too.
    let leavesStreams: Bool

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        guard response.status == 200, exchange.http.method != .head,
            let sum = response.headers["X-Sum"].flatMap({ Int($0) })
        else { return response }
        if leavesStreams, response.body.data == nil { return response }
        var came = 0
        for try await chunk in response.body { came += chunk.reduce(0) { $0 + Int($1) } }
        if came != sum { throw WrongSum() }
        return response
    }
}

/// Holds requests back until it's opened.
final class SignInGate: Filter {
    /// Right: a cancellation ends the wait. Wrong: only the sign-in ends it.
    private let isCancellable: Bool
    private let waiters = Mutex<[Int: CheckedContinuation<Void, any Error>]>([:])
    private let count = Atomic(0)

    init(isCancellable: Bool) { self.isCancellable = isCancellable }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let id = count.add(1, ordering: .relaxed).newValue
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let isEnded = waiters.withLock { waiters in
                    if isCancellable, Task.isCancelled { return true }
                    waiters[id] = waiter
                    return false
                }
                if isEnded { waiter.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            if isCancellable {
                waiters.withLock { $0.removeValue(forKey: id) }?.resume(throwing: CancellationError())
            }
        }
        return try await next(exchange)
    }

    func open() {
        let all = waiters.withLock { waiters in
            defer { waiters = [:] }
            return Array(waiters.values)
        }
        for waiter in all { waiter.resume() }
    }
}
