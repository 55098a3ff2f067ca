import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

extension WrongFilter {
    private static let key = "filter-key-9f2e"

    /// Filters that disturb their surroundings.
    static let company: [WrongFilter] = [
        WrongFilter(
            "sends its key wherever a redirect leads", caughtBy: "secrets aren't sent to another origin",
            saying: "X-Api-Key", secrets: [key]
        ) {
            ClosureFilter(.hop) { exchange, next in
                var exchange = exchange
                exchange.http.headers.set("X-Api-Key", key, sensitive: true)
                return try await next(exchange)
            }
        },
        WrongFilter(
            "adds again what a redirect has removed", caughtBy: "secrets aren't sent to another origin",
            saying: "Authorization"
        ) { RemembersFields() },
        WrongFilter(
            "does its work for the first attempt only",
            caughtBy: "every attempt of an outer retry is treated like the first",
            saying: "the fields of the second attempt"
        ) { WorksOnce() },
        WrongFilter(
            "refuses a response without a Date",
            caughtBy: "a response that an inner filter creates, such as a cache, is returned unchanged",
            saying: "SomethingWentWrong"
        ) { exchange, next in
            let response = try await next(exchange)
            guard response.source == .network else { throw SomethingWentWrong() }
            return response
        },
        WrongFilter(
            "stores what was not judged", caughtBy: "a response that a check rejected isn't returned to a later call",
            saying: "got bad"
        ) { NaiveCache() },
        WrongFilter(
            "serves one user what is another's",
            caughtBy: "a response for one user or request body isn't returned for another",
            saying: "the response for Bearer two"
        ) { NaiveCache() },
        WrongFilter(
            "confuses calls that run at the same time",
            caughtBy: "two hundred concurrent calls each get their own response", saying: "the response of call"
        ) { RemembersLast() },
        WrongFilter(
            "holds a lock over next", caughtBy: "a call that waits for its response doesn't delay another call",
            saying: "a second call that waits for the first one", endless: true
        ) { HoldsLock() },
        WrongFilter(
            "sends by the way of the first agent", caughtBy: "two agents can share the filter",
            saying: "the responses of the"
        ) { UsesFirstNext() },
    ]

    /// Filters that reveal secrets, or don't report their actions.
    static let talk: [WrongFilter] = [
        WrongFilter(
            "writes the fields into a note", caughtBy: "the filter's notes contain no secret", saying: "<secret>"
        ) { exchange, next in
            let fields = exchange.http.headers.map { "\($0.name): \($0.value)" }
            exchange.note("debug", fields.joined(separator: ", "))
            return try await next(exchange)
        },
        WrongFilter(
            "writes the whole URL into a note", caughtBy: "the filter's notes contain no secret",
            saying: "access_token=<secret>"
        ) { exchange, next in
            exchange.note("debug", "sends \(exchange.http.url)")
            return try await next(exchange)
        },
        WrongFilter(
            "adds the key that it used to an error", caughtBy: "the filter's errors contain no secret",
            saying: "<secret>",
            secrets: [key]
        ) {
            ClosureFilter(.call) { exchange, next in
                let response = try await next(exchange)
                if response.status == 403 { throw Refused(key: key) }
                return response
            }
        },
        WrongFilter(
            "shows its key in its description", caughtBy: "the filter's description contains no secret",
            saying: "<secret>",
            secrets: [key]
        ) { ShowsKey(key: key) },
        WrongFilter(
            "stands nowhere", caughtBy: "the filter has a stage and a one-line explanation", saying: "stages 0"
        ) { ClosureFilter([]) { exchange, next in try await next(exchange) } },
        WrongFilter(
            "repeats without saying so", caughtBy: "a filter that repeats requests has the trait .retries",
            saying: "the trait .retries"
        ) { exchange, next in
            do { return try await next(exchange) } catch { return try await next(exchange) }
        },
        WrongFilter(
            "adds a parameter without saying so",
            caughtBy: "a filter that changes the request declares it in its traits",
            saying: "the trait .changesRequest"
        ) { exchange, next in
            var exchange = exchange
            exchange.http.headers["X-App"] = "7"
            return try await next(exchange)
        },
    ]

    static let all = messages + bodies + endings + company + talk + fidelity + conduct + resources
}

private struct Refused: Error { let key: String }

private struct ShowsKey: Filter {
    let key: String
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

/// Stores responses immediately, with only the URL as the key.
private final class NaiveCache: Filter {
    private let stored = Mutex<[URL: HTTPResponse]>([:])
    var traits: FilterTraits { .caches }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let url = exchange.http.url
        if let response = stored.withLock({ $0[url] }) { return response }
        let response = try await next(exchange)
        stored.withLock { $0[url] = response }
        return response
    }
}

/// Adds the first hop's fields to each later hop.
private final class RemembersFields: Filter {
    private let fields = Mutex<[Activity.ID: HTTPHeaders]>([:])
    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let first = fields.withLock { fields in
            let first = fields[exchange.activity.id] ?? exchange.http.headers
            fields[exchange.activity.id] = first
            return first
        }
        exchange.http.headers.merge(first)
        return try await next(exchange)
    }
}

private final class WorksOnce: Filter {
    private let seen = Mutex<Set<Activity.ID>>([])

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        let isFirst = seen.withLock { $0.insert(exchange.activity.id).inserted }
        if isFirst { exchange.http.headers["X-App"] = "7" }
        return try await next(exchange)
    }
}

/// Has only one variable for the current request.
private final class RemembersLast: Filter {
    private let last = Mutex<URL?>(nil)

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        last.withLock { $0 = exchange.http.url }
        await Task.yield()
        var exchange = exchange
        exchange.http.url = last.withLock { $0 } ?? exchange.http.url
        return try await next(exchange)
    }
}

private final class HoldsLock: Filter {
    private actor Turn {
        private var isTaken = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func take() async {
            if isTaken { return await withCheckedContinuation { waiting.append($0) } }
            isTaken = true
        }

        func release() {
            if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
        }
    }

    private let turn = Turn()

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        await turn.take()
        let result: Result<HTTPResponse, any Error>
        do { result = .success(try await next(exchange)) } catch { result = .failure(error) }
        await turn.release()
        return try result.get()
    }
}

private final class UsesFirstNext: Filter {
    private let first = Mutex<Next?>(nil)

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let first = first.withLock { first in
            first = first ?? next
            return first
        }
        return try await (first ?? next)(exchange)
    }
}
