import Errand
import ErrandEssentials
import Synchronization

/// Sends a request again after a 503 and after a lost connection, if that can't do harm.
struct CarefulRetry: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var wait = Duration.milliseconds(20)
        for _ in 0..<2 {
            let staged = exchange.stagedWorkCount
            let final = exchange.finalFailureCount
            do {
                let response = try await next(exchange)
                guard response.status == 503, mayRepeat(exchange, after: wait) else { return response }
                await exchange.discard(response)
            } catch let error as ErrandError where error.isRetryable && !error.isCancelled {
                guard exchange.finalFailureCount == final, mayRepeat(exchange, after: wait) else { throw error }
            }
            await exchange.discardStagedWork(after: staged)
            try await exchange.time.sleep(until: exchange.time.now.advanced(by: wait))
            wait *= 2
        }
        return try await next(exchange)
    }

    private func mayRepeat(_ exchange: Exchange, after wait: Duration) -> Bool {
        guard exchange.http.method.isIdempotent, exchange.http.body.isReplayable else { return false }
        return exchange.deadline.map { exchange.time.now.advanced(by: wait) < $0 } ?? true
    }
}

/// Sends a request once more after a lost connection.
///
/// Mistake: repeats any request, so an order can be placed twice.
struct EagerRetry: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        do { return try await next(exchange) } catch let error as ErrandError
            where error.code == .connectionLost || error.code == .timedOut
        {
            return try await next(exchange)
        }
    }
}

/// Asks again while the server is working on a result.
struct Polling: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        for _ in 0..<10 {
            let staged = exchange.stagedWorkCount
            let response = try await next(exchange)
            guard response.status == 202, exchange.http.method == .get,
                let seconds = response.headers["Retry-After"].flatMap({ Int($0) }), (0...60).contains(seconds)
            else { return response }
            let wake = exchange.time.now.advanced(by: .seconds(seconds))
            if let deadline = exchange.deadline, deadline <= wake { return response }
            await exchange.discard(response)
            await exchange.discardStagedWork(after: staged)
            try await exchange.time.sleep(until: wake)
        }
        return try await next(exchange)
    }
}

/// Waits as long as a busy server asks, then sends again.
///
/// Mistake: waits without regard to the deadline, as long as the server wants.
struct BusyServer: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        guard response.status == 429 || response.status == 503, exchange.http.method.isIdempotent,
            exchange.http.body.isReplayable, let seconds = response.headers["Retry-After"].flatMap({ Int($0) })
        else { return response }
        let staged = exchange.stagedWorkCount
        await exchange.discard(response)
        await exchange.discardStagedWork(after: staged)
        try await exchange.time.sleep(until: exchange.time.now.advanced(by: .seconds(max(0, seconds))))
        return try await next(exchange)
    }
}

/// Sends a second request if the first takes long, and uses the faster response.
struct SecondTry: Filter {
    let delay: Duration
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method.isSafe, exchange.http.body.isNone, exchange.delivery == .data else {
            return try await next(exchange)
        }
        return try await withThrowingTaskGroup(of: HTTPResponse?.self) { group in
            group.addTask { try await next(exchange) }
            group.addTask {
                try await exchange.time.sleep(until: exchange.time.now.advanced(by: delay))
                return nil
            }
            defer { group.cancelAll() }
            var (failure, isSecondSent): ((any Error)?, Bool) = (nil, false)
            while let result = await group.nextResult() {
                switch result {
                case .success(let response?): return response
                case .success:
                    isSecondSent = true
                    group.addTask { try await next(exchange) }
                case .failure(let error):
                    // The other attempt may still succeed. Before it is sent, a failure is the end.
                    if !isSecondSent || failure != nil { throw error }
                    failure = error
                }
            }
            throw failure ?? CancellationError()
        }
    }
}

/// Sends two requests at once, and uses the faster response.
///
/// Mistake: the tasks belong to nobody: cancelling the call doesn't cancel them, nor does the faster response.
struct TwoAtOnce: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get else { return try await next(exchange) }
        let (results, continuation) = AsyncThrowingStream<HTTPResponse, any Error>.makeStream()
        for _ in 0..<2 {
            Task {
                do { continuation.yield(try await next(exchange)) } catch { continuation.finish(throwing: error) }
            }
        }
        for try await response in results { return response }
        throw CancellationError()
    }
}

/// Limits the time of each attempt.
struct AttemptLimit: Filter {
    let limit: Duration
    var stages: FilterStages { .wire }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            group.addTask { try await next(exchange) }
            group.addTask {
                try await exchange.time.sleep(until: exchange.time.now.advanced(by: limit))
                var error = ErrandError(.timedOut, "the attempt took longer than \(limit)")
                error.request = exchange.http
                throw error
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() else { throw CancellationError() }
            return response
        }
    }
}

/// Limits the time of a call.
///
/// Mistake: the call waits for a task that isn't cancelled with it.
struct CallLimit: Filter {
    let limit: Duration

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let work = Task { try await next(exchange) }
        let timer = Task {
            try await exchange.time.sleep(until: exchange.time.now.advanced(by: limit))
            work.cancel()
        }
        defer { timer.cancel() }
        return try await work.value
    }
}

/// Allows a number of requests at once.
final class RequestGate: Filter {
    private struct State {
        var free: Int
        var waiting: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var nextID = 0
        var cancelled: Set<Int> = []
    }
    private let state: Mutex<State>
    var stages: FilterStages { .wire }

    init(limit: Int) { state = Mutex(State(free: limit)) }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        try await enter()
        defer { leave() }
        return try await next(exchange)
    }

    private func enter() async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.waiting.remove(at: index).continuation
            }
            waiter?.resume(returning: false)
        }
        // A cancellation that came after the admission may have left the request's ID here.
        state.withLock { _ = $0.cancelled.remove(id) }
        if !isAdmitted { throw CancellationError() }
    }

    private func leave() {
        let waiter = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        waiter?.resume(returning: true)
    }
}

/// Allows a number of requests at once, and refuses more.
///
/// Mistake: a failed request never leaves.
final class BusyLimit: Filter {
    private let running = Mutex(0)
    let limit: Int
    init(limit: Int) { self.limit = limit }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let isAdmitted = running.withLock { running in
            if running >= limit { return false }
            running += 1
            return true
        }
        if !isAdmitted { throw ErrandError(.transportUnavailable, "too many requests at once") }
        let response = try await next(exchange)
        running.withLock { $0 -= 1 }
        return response
    }
}

/// Refuses requests to a host for a while, after it has failed five times in a row.
final class HostBreaker: Filter {
    private struct Host {
        var failures = 0
        var opens: ContinuousClock.Instant?
    }
    private let hosts = Mutex<[String: Host]>([:])
    var stages: FilterStages { .wire }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let host = exchange.http.host ?? ""
        let now = exchange.time.now
        if let opens = hosts.withLock({ $0[host]?.opens }), now < opens {
            throw ErrandError(.cannotConnect, "the host has failed five times in a row")
        }
        do {
            let response = try await next(exchange)
            record(host, isFailure: response.status >= 500, at: now)
            return response
        } catch {
            if !error.isCancellation { record(host, isFailure: true, at: now) }
            throw error
        }
    }

    private func record(_ host: String, isFailure: Bool, at now: ContinuousClock.Instant) {
        hosts.withLock { hosts in
            if !isFailure {
                hosts[host] = nil
                return
            }
            if hosts.count >= 200, hosts[host] == nil { hosts.removeAll() }
            let failures = (hosts[host]?.failures ?? 0) + 1
            let isOpen = failures >= 5
            hosts[host] = Host(failures: min(failures, 4), opens: isOpen ? now.advanced(by: .seconds(10)) : nil)
        }
    }
}

/// Refuses requests for a while, after five failures in a row.
///
/// Mistake: counts all hosts together.
final class ServiceBreaker: Filter {
    private let state = Mutex((failures: 0, opens: ContinuousClock.Instant?.none))

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let now = exchange.time.now
        if let opens = state.withLock({ $0.opens }), now < opens {
            throw ErrandError(.cannotConnect, "the service has failed five times in a row")
        }
        do {
            let response = try await next(exchange)
            state.withLock { $0 = (0, nil) }
            return response
        } catch {
            if error.isCancellation { throw error }
            state.withLock { state in
                state.failures += 1
                if state.failures >= 5 { state = (0, now.advanced(by: .seconds(30))) }
            }
            throw error
        }
    }
}

/// Averages the time until the head arrives, over the last hundred calls.
final class HeadTimes: Filter {
    private let times = Mutex<[Duration]>([])

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let start = exchange.time.now
        let response = try await next(exchange)
        times.withLock { times in
            if times.count == 100 { times.removeFirst() }
            times.append(start.duration(to: exchange.time.now))
        }
        return response
    }
}

/// Counts calls for each URL.
///
/// Mistake: URLs with IDs and queries are never equal, so the table grows.
final class URLCounts: Filter {
    private let counts = Mutex<[String: Int]>([:])
    var size: Int { counts.withLock { $0.count } }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        counts.withLock { $0[exchange.http.urlText, default: 0] += 1 }
        return try await next(exchange)
    }
}

/// Keeps responses to GET for a minute, for each user.
final class ShortMemory: Filter {
    private struct Entry {
        let response: HTTPResponse
        let end: ContinuousClock.Instant
    }
    private let entries = Mutex<[String: Entry]>([:])
    var stages: FilterStages { .hop }
    var traits: FilterTraits { .caches }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.http.body.isNone, exchange.request.delivery == .data else {
            return try await next(exchange)
        }
        let fields = exchange.http.headers.map { "\($0.name.rawName.lowercased()):\($0.value)" }.joined(separator: "\n")
        let users = exchange.userMarks.map { "\($0.source)=\($0.identity)" }.sorted().joined(separator: "\n")
        let key = "\(exchange.http.urlText)\n\n\(fields)\n\n\(users)"
        let now = exchange.time.now
        if let entry = entries.withLock({ $0[key] }), now < entry.end {
            exchange.reportUsers()
            var response = entry.response
            response.source = .stored("memory", age: .seconds(0), reason: "kept for a minute")
            return response
        }
        let (recorded, record) = exchange.recordingUsers()
        let response = try await next(recorded)
        record.commit()
        guard response.status == 200, response.body.data != nil, !response.headers.contains(.setCookie),
            response.headers[.cacheControl] == nil, record.marks ?? exchange.userMarks == exchange.userMarks
        else { return response }
        exchange.whenAccepted { [self] in
            entries.withLock { entries in
                if entries.count >= 50 { entries.removeAll() }
                entries[key] = Entry(response: response, end: now.advanced(by: .seconds(60)))
            }
        }
        return response
    }
}

/// Keeps responses to GET.
///
/// Mistake: the key is the URL, whoever asks.
final class URLMemory: Filter {
    private let entries = Mutex<[URL: HTTPResponse]>([:])
    var traits: FilterTraits { .caches }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get else { return try await next(exchange) }
        let url = exchange.http.url
        if let response = entries.withLock({ $0[url] }) { return response }
        let response = try await next(exchange)
        if response.status == 200, response.body.data != nil {
            exchange.whenAccepted { [self] in
                entries.withLock { entries in
                    if entries.count >= 100 { entries.removeAll() }
                    entries[url] = response
                }
            }
        }
        return response
    }
}

/// Sends one request for several equal ones that run at once.
///
/// Mistake: the first caller's cancellation fails the others.
final class Joining: Filter {
    private let running = Mutex<[String: Task<HTTPResponse, any Error>]>([:])
    var traits: FilterTraits { .shares }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard exchange.http.method == .get, exchange.delivery == .data else { return try await next(exchange) }
        let users = exchange.userMarks.map { "\($0.source)=\($0.identity)" }.sorted().joined(separator: "\n")
        let fields = exchange.http.headers.map { "\($0.name.rawName):\($0.value)" }.joined(separator: "\n")
        let key = "\(exchange.http.urlText)\n\(users)\n\n\(fields)"
        let (task, isMine) = running.withLock { running in
            if let task = running[key] { return (task, false) }
            let task = Task { try await next(exchange) }
            running[key] = task
            return (task, true)
        }
        defer { if isMine { running.withLock { $0[key] = nil } } }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
