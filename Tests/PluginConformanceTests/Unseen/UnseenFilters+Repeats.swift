import Errand
import Foundation
import Synchronization

/// Adds an idempotency key for each attempt instead of each call, so the server can't recognize a repeated payment.
struct KeyPerAttempt: Filter {
    var stages: FilterStages { .hop }
    var traits: FilterTraits { .changesRequest }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        if !exchange.http.method.isSafe { exchange.http.headers[.idempotencyKey] = UUID().uuidString }
        return try await next(exchange)
    }
}

/// Opens its breaker after three failures and lets a single probe through after a second. Forgets that a probe can be
/// cancelled, and then refuses the host forever.
final class StuckBreaker: Filter {
    enum State { case closed(failures: Int), open(until: ContinuousClock.Instant), probing }
    private let hosts = Mutex<[String: State]>([:])

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let host = exchange.http.host ?? ""
        let now = exchange.time.now
        let isRefused = hosts.withLock { hosts in
            switch hosts[host] ?? .closed(failures: 0) {
            case .closed: return false
            case .open(let end) where end > now: return true
            case .open:
                hosts[host] = .probing
                return false
            case .probing: return true
            }
        }
        if isRefused { throw ErrandError(.cannotConnect, "the breaker of the host is open") }
        do {
            let response = try await next(exchange)
            hosts.withLock { $0[host] = nil }
            return response
        } catch let error where !error.isCancellation {
            hosts.withLock { hosts in
                var count = 3
                if case .closed(let failures) = hosts[host] ?? .closed(failures: 0) { count = failures + 1 }
                hosts[host] = count < 3 ? .closed(failures: count) : .open(until: now.advanced(by: .seconds(1)))
            }
            throw error
        }
    }
}

/// Counts retries in the filter instead of the call: after three retries it never retries again.
final class SharedBudget: Filter {
    private let retries = Mutex(0)
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let first = try await next(exchange)
        guard first.status == 503, exchange.http.method.isIdempotent, exchange.http.body.isReplayable,
            retries.withLock({ count in
                count += 1
                return count <= 3
            })
        else { return first }
        await exchange.discard(first)
        return try await next(exchange)
    }
}

/// Waits with `Task.sleep`, so tests can't move its clock, and it waits past the deadline.
struct WallClockBackoff: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let first = try await next(exchange)
        guard first.status == 503, exchange.http.method.isIdempotent, exchange.http.body.isReplayable else {
            return first
        }
        await exchange.discard(first)
        try await Task.sleep(for: .milliseconds(20))
        return try await next(exchange)
    }
}

/// Repeats any request if the last host wasn't reached. Forgets that a server before the redirect received it.
struct RedirectBlindRetry: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        do { return try await next(exchange) } catch  where error.reachedNoServer && exchange.http.body.isReplayable {
            return try await next(exchange)
        }
    }
}

/// Allows two hundred requests at once, and starts at most one per millisecond. Takes a permit, waits, and loses the
/// permit if the call is cancelled during the wait.
final class LostPermit: Filter {
    private let free: Mutex<Int>
    private let pause: Duration

    init(permits: Int = 200, pause: Duration = .milliseconds(1)) {
        free = Mutex(permits)
        self.pause = pause
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        while !take() { try await exchange.time.sleep(until: exchange.time.now.advanced(by: .milliseconds(1))) }
        try await exchange.time.sleep(until: exchange.time.now.advanced(by: pause))
        defer { free.withLock { $0 += 1 } }
        return try await next(exchange)
    }

    private func take() -> Bool {
        free.withLock { free in
            guard free > 0 else { return false }
            free -= 1
            return true
        }
    }
}
