import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

extension WrongFilter {
    /// Filters that end a call wrongly, or never let it end.
    static let endings: [WrongFilter] = [
        WrongFilter(
            "replaces each error by its own",
            caughtBy: "an error from an inner filter or the transport is rethrown unchanged",
            saying: "SomethingWentWrong"
        ) { exchange, next in
            do { return try await next(exchange) } catch { throw SomethingWentWrong() }
        },
        WrongFilter(
            "makes a response of each error",
            caughtBy: "an error from an inner filter or the transport is rethrown unchanged",
            saying: "an error, got the status 503"
        ) { exchange, next in
            do { return try await next(exchange) } catch { return .madeUp(for: exchange, status: 503) }
        },
        WrongFilter(
            "repeats a POST that may have arrived",
            caughtBy: "a request that isn't idempotent is sent once, even if it fails",
            saying: "the number of times a failed POST was sent (connectionLost): 1, got 2"
        ) { exchange, next in
            do { return try await next(exchange) } catch { return try await next(exchange) }
        },
        WrongFilter(
            "swallows a cancellation",
            caughtBy: "a cancellation reaches the transport and the caller, and no request follows",
            saying: "a response with the status 499"
        ) { exchange, next in
            do { return try await next(exchange) } catch  where error.isCancellation {
                return .madeUp(for: exchange, status: 499)
            }
        },
        WrongFilter(
            "turns a cancellation into an error of its own",
            caughtBy: "a cancellation reaches the transport and the caller, and no request follows",
            saying: "a cancellation, got SomethingWentWrong"
        ) { exchange, next in
            do { return try await next(exchange) } catch { throw SomethingWentWrong() }
        },
        WrongFilter(
            "sends by a task that no cancellation reaches",
            caughtBy: "a cancellation reaches the transport and the caller, and no request follows",
            saying: "a transfer that keeps running", endless: true
        ) { exchange, next in
            try await Task { try await next(exchange) }.value
        },
        WrongFilter(
            "sends again after a cancellation",
            caughtBy: "a cancellation reaches the transport and the caller, and no request follows",
            saying: "the requests at the transport: 1, got 2"
        ) { exchange, next in
            do { return try await next(exchange) } catch { return try await next(exchange) }
        },
        WrongFilter(
            "repeats what was cancelled further in",
            caughtBy: "a cancellation that the transport throws is rethrown, and the request isn't repeated",
            saying: "a transport that was cancelled: an error, got the status 200"
        ) { exchange, next in
            do { return try await next(exchange) } catch { return try await next(exchange) }
        },
        WrongFilter(
            "cancels those who share a response with the first",
            caughtBy: "cancelling a call doesn't affect an equal call", saying: "the response of the second call"
        ) { SharesResponses() },
        WrongFilter(
            "sends once more after it has returned",
            caughtBy: "after the filter returns, it doesn't send requests for the call",
            saying: "2 requests, 1 of them before the response"
        ) { exchange, next in
            let response = try await next(exchange)
            Task { try await next(exchange) }
            return response
        },
        WrongFilter(
            "leaves the loser of a race running",
            caughtBy: "the filter's requests have ended when it returns",
            saying: "a request still running", endless: true
        ) { exchange, next in
            let loser = Task { try await next(exchange) }
            let winner = Task { try await next(exchange) }
            // The first to arrive wins; the other one is abandoned.
            guard let first = try await First.of(loser, winner) else { throw CancellationError() }
            return first
        },
        WrongFilter(
            "leaks a task that calls next after the end",
            caughtBy: "the filter calls next only during the call, and releases the call's objects",
            saying: "a task that still runs or calls next", endless: true
        ) { exchange, next in
            Task {
                try await Task.sleep(for: .seconds(600))
                _ = try await next(exchange)
            }
            return try await next(exchange)
        },
        WrongFilter(
            "leaks a task that holds nothing", caughtBy: "a task that the filter starts ends after the call",
            saying: "a task that keeps running", endless: true
        ) { exchange, next in
            Task { try await Task.sleep(for: .seconds(600)) }
            return try await next(exchange)
        },
        WrongFilter(
            "repeats for ever", caughtBy: "if every attempt fails, the call ends",
            saying: "attempts, and the call hasn't ended"
        ) { exchange, next in
            while true {
                do { return try await next(exchange) } catch  where !error.isCancellation {}
            }
        },
        WrongFilter(
            "keeps its exchanges",
            caughtBy: "the filter calls next only during the call, and releases the call's objects",
            saying: "a retained exchange", endless: true
        ) { KeepsExchanges() },
        WrongFilter(
            "keeps the requests that it has seen",
            caughtBy: "the filter calls next only during the call, and releases the call's objects",
            saying: "the request and its tags to be released", endless: true
        ) { KeepsRequests() },
        WrongFilter(
            "has a timer that keeps it", caughtBy: "the filter doesn't keep itself or its agent alive",
            saying: "to be released", endless: true
        ) { HasTimer() },
        WrongFilter(
            "keeps the rest of the way", caughtBy: "the filter doesn't keep itself or its agent alive",
            saying: "a part of the agent still in memory", endless: true
        ) { KeepsNext.shared },
    ]
}

struct SomethingWentWrong: Error {}

enum First {
    static func of(
        _ one: Task<HTTPResponse, any Error>, _ two: Task<HTTPResponse, any Error>
    ) async throws -> HTTPResponse? {
        let results = AsyncStream<HTTPResponse> { continuation in
            for task in [one, two] {
                Task { if let response = try? await task.value { continuation.yield(response) } }
            }
        }
        for await response in results { return response }
        return nil
    }
}

/// Shares one request among equal requests. It ends along with the first of them.
private final class SharesResponses: Filter {
    private let running = Mutex<[URL: Task<HTTPResponse, any Error>]>([:])

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let url = exchange.http.url
        let (task, isFirst) = running.withLock { running in
            if let task = running[url] { return (task, false) }
            let task = Task { try await next(exchange) }
            running[url] = task
            return (task, true)
        }
        guard isFirst else { return try await task.value }
        defer { running.withLock { $0[url] = nil } }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}

private final class KeepsExchanges: Filter {
    private let exchanges = Mutex<[Exchange]>([])

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        exchanges.withLock { $0.append(exchange) }
        return try await next(exchange)
    }
}

private final class KeepsRequests: Filter {
    private let requests = Mutex<[any Request]>([])

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        requests.withLock { $0.append(exchange.request) }
        return try await next(exchange)
    }
}

/// Its task retains it for 600 seconds, even after a short use.
private final class HasTimer: Filter {
    private let ticks = Atomic(0)

    init() {
        Task {
            try await Task.sleep(for: .seconds(600))
            self.ticks.add(1, ordering: .relaxed)
        }
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

private final class KeepsNext: Filter {
    static let shared = KeepsNext()
    private let kept = Mutex<[Next]>([])

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        kept.withLock { $0.append(next) }
        return try await next(exchange)
    }
}
