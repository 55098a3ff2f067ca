import Errand
import ErrandConformance
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

/// Correct filters that look wrong.
extension HouseFilter {
    static let tricky: [HouseFilter] = [
        HouseFilter("repeats a GET after 503") { RepeatsGet() },
        HouseFilter("repeats a GET after 503, later") { RepeatsLater() },
        HouseFilter("waits before each request") {
            .closure { exchange, next in
                try await exchange.time.sleep(until: exchange.time.now.advanced(by: .microseconds(100)))
                return try await next(exchange)
            }
        },
        HouseFilter("limits what runs at the same time", effects: [.limits(3)]) { Limits() },
        HouseFilter("remembers the hosts of the last thousand calls") { RemembersHosts() },
        HouseFilter("stores for a user what the user may see") {
            CarefulCache(separatesUsers: true) { http in
                // Writes are sent each time. The bytes of a stream aren't known, so nothing is kept under them.
                if !http.method.isSafe || http.body.data == nil && !http.body.isNone { return UUID().uuidString }
                let fields = http.headers.map { "\($0.name.rawName.lowercased()): \($0.value)" }.joined(separator: "\n")
                let body = http.body.data.map { String(decoding: $0, as: UTF8.self) } ?? ""
                return "\(http.method) \(http.urlText)\n\(fields)\n\n\(body)"
            }
        },
        HouseFilter("trusts an origin that it knows") {
            .closure { exchange, next in
                var exchange = exchange
                if exchange.http.url.host == "cdn.other.example", exchange.http.url.scheme == "https" {
                    exchange.trustOrigin()
                }
                return try await next(exchange)
            }
        },
        HouseFilter("counts the bytes of streams") { CountsBytes() },
        HouseFilter("works by a task of its own, and passes a cancellation on") {
            .closure { exchange, next in
                let task = Task { try await next(exchange) }
                return try await withTaskCancellationHandler {
                    try await task.value
                } onCancel: {
                    task.cancel()
                }
            }
        },
    ]
}

@Suite("Filters that look wrong but are right", .endsInTime, .leakChecked)
struct TrickyFilterTests {
    @Test("a right filter passes every case", arguments: HouseFilter.tricky)
    func kept(filter: HouseFilter) async throws {
        for each in filter.cases {
            do { try await each.run() } catch { Issue.record("\(error)") }
        }
    }
}

private struct RepeatsGet: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let first = try await next(exchange)
        guard first.status == 503, exchange.http.method == .get else { return first }
        return try await next(exchange)
    }
}

/// The version from the documentation.
private struct RepeatsLater: Filter {
    var traits: FilterTraits { .retries }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let first = try await next(exchange)
        guard first.status == 503, exchange.http.method.isIdempotent, exchange.http.body.isReplayable else {
            return first
        }
        let wake = exchange.time.now.advanced(by: .milliseconds(5))
        if let deadline = exchange.deadline, deadline <= wake { return first }
        first.body.cancel()
        try await exchange.time.sleep(until: wake)
        return try await next(exchange)
    }
}

private final class Limits: Filter {
    private let permits = Permits(3)

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        try await permits.take()
        defer { permits.release() }
        return try await next(exchange)
    }
}

private final class RemembersHosts: Filter {
    private let hosts = Mutex<[String]>([])
    var stages: FilterStages { .wire }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let host = exchange.http.url.host ?? ""
        hosts.withLock { hosts in
            if hosts.count >= 1_000 { hosts.removeFirst() }
            hosts.append(host)
        }
        return try await next(exchange)
    }
}

/// Wraps streams and keeps all of their properties.
private struct CountsBytes: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        if response.body.data == nil, response.body.file == nil {
            response.body = HTTPBody(length: response.body.length, source: Pieces(response.body))
        }
        return response
    }
}
