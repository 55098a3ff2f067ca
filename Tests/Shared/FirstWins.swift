package import Errand
package import ErrandTesting

/// A filter that sends a request twice at the same time, and returns the first request's response.
///
/// `one` holds the first response until both requests are at the transport, and `two` holds the second one forever.
package struct FirstWins: Filter {
    package let one = Gate()
    package let two = Gate()

    package init() {}

    /// A transport whose responses have the texts "one" and "two".
    package var transport: StubTransport {
        let transport = StubTransport(.status(404))
        transport.on("/v1/text", response: .text("one").waiting(for: one), .text("two").waiting(for: two))
        return transport
    }

    package func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            defer { group.cancelAll() }
            for (body, gate) in [("first", one), ("second", two)] {
                var copy = exchange
                copy.http.body = .text(body)
                group.addTask { [copy] in try await next(copy) }
                try await gate.reached()
            }
            one.open()
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }
}
