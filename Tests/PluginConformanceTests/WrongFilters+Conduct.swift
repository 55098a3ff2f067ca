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
    private static let once = "a request that isn't idempotent is sent once, even if it fails"
    private static let waits = "the filter limits the wait that a server asks for"

    /// Filters that repeat, wait, store, share or trust too much.
    static let conduct: [WrongFilter] = [
        WrongFilter(
            "repeats whatever 503 refuses", caughtBy: once, saying: "a failed POST was sent (503): 1, got 2"
        ) {
            exchange, next in
            let response = try await next(exchange)
            return response.status == 503 ? try await next(exchange) : response
        },
        WrongFilter("repeats what timed out", caughtBy: once, saying: "(timedOut): 1, got 2") { exchange, next in
            do { return try await next(exchange) } catch let error as ErrandError where error.code == .timedOut {
                return try await next(exchange)
            }
        },
        WrongFilter("repeats PATCH, which is not POST", caughtBy: once, saying: "a failed PATCH") {
            exchange, next in
            do { return try await next(exchange) } catch  where exchange.http.method != .post {
                return try await next(exchange)
            }
        },
        WrongFilter("sends everything twice", caughtBy: once, saying: "got 2") { exchange, next in
            _ = try? await next(exchange)
            return try await next(exchange)
        },
        WrongFilter(
            "sends a second POST where the first is slow",
            caughtBy: "a request that isn't idempotent is sent once, even if its response is late", saying: "1, got 2"
        ) { exchange, next in
            try await withThrowingTaskGroup { group in
                group.addTask { try await next(exchange) }
                group.addTask {
                    try await Task.sleep(for: .milliseconds(50))
                    return try await next(exchange)
                }
                defer { group.cancelAll() }
                guard let first = try await group.next() else { throw CancellationError() }
                return first
            }
        },
        WrongFilter(
            "waits for a minute on 429", caughtBy: "the filter doesn't wait a minute unless the server asks for it",
            saying: "a wait of 60.0",
            endless: true
        ) { exchange, next in
            let response = try await next(exchange)
            guard response.status == 429 else { return response }
            try await exchange.time.sleep(until: exchange.time.now.advanced(by: .seconds(60)))
            return try await next(exchange)
        },
        WrongFilter(
            "waits for a minute on 429 by a clock of its own",
            caughtBy: "the filter doesn't wait a minute unless the server asks for it",
            saying: "a clock other", endless: true
        ) { exchange, next in
            let response = try await next(exchange)
            guard response.status == 429 else { return response }
            try await Task.sleep(for: .seconds(60))
            return try await next(exchange)
        },
        WrongFilter(
            "does not ask when the call has to end",
            caughtBy: "the filter doesn't start a wait that would end after the deadline",
            saying: "a wait of 60.0", endless: true
        ) { exchange, next in
            try await afterRetryAfter(exchange, next) { min($0, 60) }
        },
        WrongFilter(
            "waits as long as it is asked to", caughtBy: waits, saying: "a wait of 86400.0", endless: true
        ) { exchange, next in
            try await afterRetryAfter(exchange, next) { $0 }
        },
        WrongFilter(
            "goes on when its wait is cancelled",
            caughtBy: "a cancellation ends a wait between attempts, and no attempt follows",
            saying: "the requests at the transport: 1, got 2"
        ) { exchange, next in
            let response = try await next(exchange)
            guard response.status == 503, exchange.http.method.isIdempotent else { return response }
            try? await exchange.time.sleep(until: exchange.time.now.advanced(by: .seconds(1)))
            return try await next(exchange)
        },
        WrongFilter(
            "tells an error anew", caughtBy: "an error keeps its message, response and underlying error",
            saying: "the message"
        ) { exchange, next in
            do { return try await next(exchange) } catch let error as ErrandError {
                throw ErrandError(error.code, "the request failed", underlying: error.underlying)
            }
        },
        WrongFilter(
            "stores under the URL and Authorization",
            caughtBy: "consecutive calls of different users get their own responses",
            saying: "user two (a sensitive field), got for one"
        ) { CarefulCache { "\($0.method) \($0.urlText) \($0.headers[.authorization] ?? "")" } },
        WrongFilter(
            "stores under all fields but cookies",
            caughtBy: "consecutive calls of different users get their own responses", saying: "(cookie)"
        ) {
            CarefulCache { http in
                "\(http.method) \(http.urlText)" + http.headers.filter { $0.name != .cookie }.map(\.value).joined()
            }
        },
        WrongFilter(
            "shares what runs for the same URL",
            caughtBy: "concurrent calls of different users get their own responses", saying: "user two"
        ) { SharesRunning { "\($0.method) \($0.urlText)" } },
        WrongFilter(
            "stores under the path", caughtBy: "calls that differ in URL, method or body get different responses",
            saying: "the response to GET"
        ) { CarefulCache { "\($0.method) \($0.url.path) \($0.url.query() ?? "")" } },
        WrongFilter(
            "responds to GET with the response of a HEAD",
            caughtBy: "calls that differ in URL, method or body get different responses", saying: "GET"
        ) { CarefulCache { "\($0.urlText)" } },
        WrongFilter(
            "trusts every origin", caughtBy: "the agent's credentials for its own origin aren't sent to another",
            saying: "Authorization"
        ) { exchange, next in
            var exchange = exchange
            exchange.trustOrigin()
            return try await next(exchange)
        },
        WrongFilter(
            "trusts what begins like its origin",
            caughtBy: "the agent's credentials for its own origin aren't sent to another", saying: "Authorization"
        ) { TrustsPrefix() },
        WrongFilter(
            "replaces the checks of others",
            caughtBy: "checks of other filters and of the request run, and can reject the response",
            saying: "the check of outside, got no such check"
        ) { exchange, next in
            let response = try await next(exchange)
            for name in exchange.checks.names { exchange.checks.add(ResponseCheck(name) { _ in }) }
            return response
        },
        WrongFilter(
            "shares an exchange, and hands over nothing of it",
            caughtBy: "checks of other filters and of the request run, and can reject the response",
            saying: "the check of inside, got no such check"
        ) { exchange, next in try await SharedExchange(for: Alone()).send(exchange, next: next) },
        WrongFilter(
            "shares an exchange, and forgets what was staged",
            caughtBy: "work that other filters stage is committed or discarded, once", saying: "inside committed"
        ) { exchange, next in try await SharedExchange(for: Alone()).send(exchange, next: next) },
        WrongFilter(
            "stores what the request could not read",
            caughtBy: "a response that the request rejected isn't returned to a later call", saying: "7, got"
        ) { StoresAtOnce() },
    ]

    private static func afterRetryAfter(
        _ exchange: Exchange, _ next: Next, _ wait: (Double) -> Double
    ) async throws -> HTTPResponse {
        let response = try await next(exchange)
        guard let text = response.headers["Retry-After"], let asked = Double(text), asked > 0 else { return response }
        let end = exchange.time.now.advanced(by: .seconds(wait(min(asked, 1e9))))
        try await exchange.time.sleep(until: end)
        return try await next(exchange)
    }
}

/// Trusts every URL that begins like the first one it sees.
private final class TrustsPrefix: Filter {
    private let origin = Mutex<String?>(nil)

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let text = exchange.http.urlText
        let first = origin.withLock { origin in
            origin = origin ?? text.split(separator: "/").prefix(2).joined(separator: "//")
            return origin ?? ""
        }
        if text.hasPrefix(first) { exchange.trustOrigin() }
        return try await next(exchange)
    }
}

/// Claims that the exchange belongs to only one call.
private final class Alone: ExchangeSharing {
    var deadline: ContinuousClock.Instant? { nil }
    func report(_ event: TransportEvent) {}
}

/// Stores successful GET responses before they have been checked.
private final class StoresAtOnce: Filter {
    private let stored = Mutex<[String: HTTPResponse]>([:])

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let key = exchange.http.urlText
        if let response = stored.withLock({ $0[key] }) { return response }
        let response = try await next(exchange)
        if response.status == 200 { stored.withLock { $0[key] = response } }
        return response
    }
}
