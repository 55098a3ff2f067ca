import Errand
import ErrandEssentials
import Synchronization

/// Lets a few requests pass at once, and then one at a time at a fixed rate.
final class Pace: Filter {
    private let next = Mutex<ContinuousClock.Instant?>(nil)
    let step: Duration
    let burst: Int
    var stages: FilterStages { .wire }

    init(step: Duration = .milliseconds(10), burst: Int = 50) { (self.step, self.burst) = (step, burst) }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let now = exchange.time.now
        let turn = self.next.withLock { next in
            let earliest = now.advanced(by: step * -burst)
            let turn = max(next ?? earliest, earliest)
            next = turn.advanced(by: step)
            return turn
        }
        if turn > now {
            if let deadline = exchange.deadline, deadline <= turn {
                throw ErrandError(.deadlineExceeded, "the turn comes after the deadline")
            }
            try await exchange.time.sleep(until: turn)
        }
        return try await next(exchange)
    }
}

/// At most two requests to each host at a time.
///
/// Mistake: a request that is cancelled while it waits for its turn keeps waiting.
final class TwoPerHost: Filter {
    private struct Host {
        var running = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }
    private let hosts = Mutex<[String: Host]>([:])
    let limit: Int
    var stages: FilterStages { .wire }

    init(limit: Int = 2) { self.limit = limit }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let host = exchange.http.host ?? ""
        await withCheckedContinuation { continuation in
            let isFree = hosts.withLock { hosts in
                if hosts[host, default: Host()].running < limit {
                    hosts[host, default: Host()].running += 1
                    return true
                }
                hosts[host, default: Host()].waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        defer { leave(host) }
        try Task.checkCancellation()
        return try await next(exchange)
    }

    private func leave(_ host: String) {
        let following: CheckedContinuation<Void, Never>? = hosts.withLock { hosts in
            guard var entry = hosts[host] else { return nil }
            defer { hosts[host] = entry.running == 0 ? nil : entry }
            if !entry.waiting.isEmpty { return entry.waiting.removeFirst() }
            entry.running -= 1
            return nil
        }
        following?.resume()
    }
}

/// Asks a busy server again after the time that it names.
///
/// Mistake: compares a date with the system's clock, although the agent may use another one.
struct BusyDate: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let staged = exchange.stagedWorkCount
        let response = try await next(exchange)
        guard response.status == 503 || response.status == 429, exchange.http.method.isIdempotent,
            exchange.http.body.isReplayable, let wait = response.headers.retryAfter(from: Date()),
            wait <= .seconds(20)
        else { return response }
        let wake = exchange.time.now.advanced(by: wait)
        if let deadline = exchange.deadline, deadline <= wake { return response }
        await exchange.discard(response)
        await exchange.discardStagedWork(after: staged)
        try await exchange.time.sleep(until: wake)
        return try await next(exchange)
    }
}

/// Notes requests that take long, while they do.
///
/// Mistake: the task that waits is only cancelled after a response.
struct SlowNote: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let activity = exchange.activity
        let time = exchange.time
        let watch = Task {
            try await time.sleep(until: time.now.advanced(by: .seconds(30)))
            activity.note("slow", "no response for half a minute")
        }
        let response = try await next(exchange)
        watch.cancel()
        return response
    }
}

/// Notes requests that take long, while they do, in a group that ends with the request.
struct PatientNote: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let activity = exchange.activity
        let time = exchange.time
        return try await withThrowingTaskGroup(of: HTTPResponse?.self) { group in
            group.addTask {
                do { try await time.sleep(until: time.now.advanced(by: .seconds(30))) } catch { return nil }
                activity.note("slow", "no response for half a minute")
                return nil
            }
            group.addTask { try await next(exchange) }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw ErrandError(.cancelled, "no response")
        }
    }
}
