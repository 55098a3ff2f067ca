import Errand
import ErrandTesting
import Foundation

/// Runs the remaining filters `count` times. The scheduler's noise hides the difference between two sends, so a
/// filter's cost is measured within one send: with this filter before it and ``Respond`` after it.
struct Again: Filter {
    let count: Int
    var stages: FilterStages = .call

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        for _ in 1..<count { _ = try await next(exchange) }
        return try await next(exchange)
    }
}

struct Respond: Filter {
    var stages: FilterStages = .call
    var headers: HTTPHeaders = ["Content-Type": "application/json"]

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        HTTPResponse(url: exchange.http.url, status: 200, headers: headers)
    }
}

extension NetworkAgent {
    static func benched(_ filters: [any Filter]) -> NetworkAgent {
        NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: StubTransport(.text("ok"), maximumRecordedRequests: 0),
            filters: filters)
    }
}

/// Microseconds of CPU time for each of the body's `count` parts.
func cpuMicroseconds(_ count: Int, _ body: () async throws -> Void) async rethrows -> Double {
    let start = clock()
    try await body()
    return Double(clock() - start) / Double(CLOCKS_PER_SEC) * 1_000_000 / Double(count)
}
