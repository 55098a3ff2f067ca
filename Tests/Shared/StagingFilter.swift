package import Errand

/// Stages work with each response, and logs its outcome: "commit 200", "discard 503".
package struct StagingFilter: Filter {
    private let log: Log<String>

    package init(_ log: Log<String>) { self.log = log }

    package func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let response = try await next(exchange)
        exchange.whenAccepted { [log] in
            log.add("commit \(response.status)")
        } otherwise: { [log] in
            log.add("discard \(response.status)")
        }
        return response
    }
}
