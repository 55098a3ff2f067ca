import Errand
import ErrandTesting
import Foundation

/// Runs all filters after it again and again. A difference of two sends drowns in what the scheduler does with them, so
/// what a filter adds is measured within one send: this above it, ``Respond`` below.
struct Again: Filter {
    let count: Int
    var stages: FilterStages = .call

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        for _ in 1..<count { _ = try await next(exchange) }
        return try await next(exchange)
    }
}

/// Responds to everything by itself.
struct Respond: Filter {
    var stages: FilterStages = .call
    var headers: HTTPHeaders = ["Content-Type": "application/json"]

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        HTTPResponse(url: exchange.http.url, status: 200, headers: headers)
    }
}

extension NetworkAgent {
    /// One over a stub that responds with a short text.
    static func benched(_ filters: [any Filter]) -> NetworkAgent {
        NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: StubTransport(.text("ok"), maximumRecordedRequests: 0),
            filters: filters)
    }
}

/// Microseconds of CPU time that a body takes, for each of its `count` parts.
func cpuMicroseconds(_ count: Int, _ body: () async throws -> Void) async rethrows -> Double {
    let start = clock()
    try await body()
    return Double(clock() - start) / Double(CLOCKS_PER_SEC) * 1_000_000 / Double(count)
}
