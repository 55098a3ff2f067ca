import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

extension WrongFilter {
    private static let failed = "a call that fails, is rejected or is dropped releases its slot"
    private static let cancelled = "a cancelled call releases its slot"
    private static let blocks = "the filter doesn't block the thread that it runs on"
    private static let kept = "the filter's memory doesn't grow with finished calls"
    private static let bounded = "the filter's memory for URLs, hosts, users and bodies is bounded"

    /// Filters that exhaust shared resources.
    static let resources: [WrongFilter] = [
        WrongFilter(
            "keeps the permit of a call that fails", caughtBy: failed, saying: "(lost), got calls that never end",
            endless: true
        ) {
            let permits = Permits(4)
            return ClosureFilter(.call) { exchange, next in
                try await permits.take()
                let response = try await next(exchange)
                permits.release()
                return response
            }
        },
        WrongFilter(
            "keeps the permit of a call that is refused", caughtBy: failed, saying: "(client), got calls that",
            endless: true
        ) {
            let permits = Permits(200)
            return ClosureFilter(.call) { exchange, next in
                try await permits.take()
                do {
                    let response = try await next(exchange)
                    if response.status != 404 { permits.release() }
                    return response
                } catch {
                    permits.release()
                    throw error
                }
            }
        },
        WrongFilter(
            "refuses for good once it has seen refusals", caughtBy: failed, saying: "200, got SomethingWentWrong"
        ) {
            let count = Count()
            return ClosureFilter(.call) { exchange, next in
                if count.value >= 50 { throw SomethingWentWrong() }
                exchange.whenAccepted {
                } otherwise: {
                    count.add()
                }
                return try await next(exchange)
            }
        },
        WrongFilter(
            "gives a permit to those who no longer wait", caughtBy: cancelled, saying: "never end", endless: true
        ) {
            let permits = Permits(2, forgetsNone: true)
            return ClosureFilter(.call) { exchange, next in
                try await permits.take()
                defer { permits.release() }
                return try await next(exchange)
            }
        },
        WrongFilter(
            "takes a cancellation for a failure of the server", caughtBy: cancelled,
            saying: "200, got SomethingWentWrong"
        ) {
            let count = Count()
            return ClosureFilter(.call) { exchange, next in
                if count.value >= 20 { throw SomethingWentWrong() }
                do { return try await next(exchange) } catch {
                    count.add()
                    throw error
                }
            }
        },
        WrongFilter("blocks a thread in each call", caughtBy: blocks, saying: "less than 0.8 ms of blocking") {
            exchange, next in
            usleep(10_000)
            return try await next(exchange)
        },
        WrongFilter("blocks a thread after failures", caughtBy: blocks, saying: "less than 0.8 ms of blocking") {
            exchange, next in
            do { return try await next(exchange) } catch {
                usleep(3_000)
                throw error
            }
        },
        WrongFilter(
            "spins in each call", caughtBy: "the filter doesn't keep the processor busy",
            saying: "less than 5 ms of work"
        ) { exchange, next in
            spin(.milliseconds(12))
            return try await next(exchange)
        },
    ]

    /// Filters that leak memory. Their tests need a dedicated process.
    static let growing: [WrongFilter] = [
        WrongFilter("keeps the number of each call", caughtBy: kept, saying: "each call that succeeds") {
            let kept = Notes()
            return ClosureFilter(.call) { exchange, next in
                kept.add("\(exchange.activity.id)")
                return try await next(exchange)
            }
        },
        WrongFilter("keeps what has failed", caughtBy: kept, saying: "each call that fails") {
            let kept = Notes()
            return ClosureFilter(.call) { exchange, next in
                do { return try await next(exchange) } catch {
                    kept.add("\(error)")
                    throw error
                }
            }
        },
        WrongFilter("remembers each URL", caughtBy: bounded, saying: "more with each call") {
            let kept = Notes()
            return ClosureFilter(.call) { exchange, next in
                kept.insert(exchange.http.urlText)
                return try await next(exchange)
            }
        },
        WrongFilter("counts for each host", caughtBy: bounded, saying: "more with each call") {
            let kept = Notes()
            return ClosureFilter(.wire) { exchange, next in
                kept.insert(exchange.http.url.host ?? "")
                return try await next(exchange)
            }
        },
        WrongFilter("knows each user", caughtBy: bounded, saying: "more with each call") {
            let kept = Notes()
            return ClosureFilter(.hop) { exchange, next in
                kept.insert(exchange.http.headers[.authorization] ?? "")
                return try await next(exchange)
            }
        },
    ]
}

final class Count: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .acquiring) }
    func add() { count.add(1, ordering: .acquiringAndReleasing) }
}

final class Notes: Sendable {
    private let state = Mutex((list: [String](), set: Set<String>()))
    func add(_ text: String) { state.withLock { $0.list.append(text) } }
    func insert(_ text: String) { state.withLock { _ = $0.set.insert(text) } }
}

final class Permits: Sendable {
    private struct State {
        var free: Int
        var waiting: [(id: Int, continuation: CheckedContinuation<Void, any Error>?)] = []
        var last = 0
    }

    private let state: Mutex<State>
    /// Whether a permit can go to a task that was cancelled while it waited, and is lost.
    private let forgetsNone: Bool

    init(_ count: Int, forgetsNone: Bool = false) {
        state = Mutex(State(free: count))
        self.forgetsNone = forgetsNone
    }

    func take() async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isFree = state.withLock { state in
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((id, continuation))
                    return false
                }
                if isFree { continuation.resume() } else if Task.isCancelled { drop(id) }
            }
        } onCancel: {
            drop(id)
        }
    }

    func release() {
        let next = state.withLock { state in
            if state.waiting.isEmpty {
                state.free += 1
                return nil as CheckedContinuation<Void, any Error>?
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }

    private func drop(_ id: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard let place = state.waiting.firstIndex(where: { $0.id == id }) else { return nil }
            let waiter = state.waiting[place].continuation
            if forgetsNone { state.waiting[place].continuation = nil } else { state.waiting.remove(at: place) }
            return waiter
        }
        waiter?.resume(throwing: CancellationError())
    }
}

/// Uses this much processor time, however busy the processor is.
func spin(_ duration: Duration) {
    func worked() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
    let end = worked() + duration
    while worked() < end {}
}
