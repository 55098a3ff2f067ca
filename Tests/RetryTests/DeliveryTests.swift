import Errand
import ErrandCoalescing
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import Testing

@Suite("A request that reached a server isn't sent again", .endsInTime, .leakChecked) struct DeliveryTests {
    private static let unreachable: [ErrandError.Code] = [.cannotConnect, .nameLookupFailed]

    private func eager(_ attempts: Int) -> RetryPolicy { policy(attempts) { $0.backoff = .none } }

    @Test(
        "a POST isn't repeated after a redirect to an unreachable target",
        arguments: [301, 302, 303, 307, 308], unreachable)
    func redirected(status: Int, code: ErrandError.Code) async throws {
        for attempts in [3, 5] {
            let stub = StubTransport { request in
                request.url.host == "gone.example"
                    ? .failure(ErrandError(code, "")) : .redirect(to: "https://gone.example/y", status: status)
            }
            for request in [Get { $0.method = .post }, Get { ($0.method, $0.body) = (.patch, .text("x")) }] {
                let before = stub.received.count
                let agent = NetworkAgent(stub, [.retry(eager(attempts))])
                #expect(await failure { try await agent.send(request) } == "\(code)")
                #expect(stub.received.count == before + 2)
                // The same with a policy in the call's options.
                let bare = NetworkAgent(stub, [])
                _ = try? await bare.send(request, options: .retry(eager(attempts)))
                #expect(stub.received.count == before + 4)
            }
            // A PUT may be received twice.
            let before = stub.received.count
            _ = try? await NetworkAgent(stub, [.retry(eager(attempts))]).send(Get { $0.method = .put })
            #expect(stub.received.count == before + 2 * attempts)
        }
    }

    @Test("a POST is repeated only while no server was reached")
    func firstHop() async throws {
        let stub = StubTransport()
        let refused = StubResponse.failure(ErrandError(.cannotConnect, ""))
        stub.on("/x", response: refused, .redirect(to: "/y", status: 307), .text("never"))
        stub.on("/y", response: refused)
        let agent = NetworkAgent(stub, [.retry(eager(5))])
        #expect(await failure { try await agent.send(Get { $0.method = .post }) } == "cannotConnect")
        #expect(stub.received.map(\.url.path) == ["/x", "/x", "/y"])
    }

    @Test(
        "an inner filter that sends twice, its own request, or two concurrent requests counts as reaching a server",
        arguments: FilterStages.inner)
    func innerFilters(stage: FilterStages) async throws {
        // The second of two requests is refused.
        let twice = ClosureFilter(stage) { exchange, next in
            _ = try await next(exchange)
            return try await next(exchange)
        }
        // The server that this filter contacts afterwards can't be reached.
        let elsewhere = ClosureFilter(stage) { exchange, next in
            _ = try await next(exchange)
            throw ErrandError(.cannotConnect, "")
        }
        let both = ClosureFilter(stage) { exchange, next in
            async let first = next(exchange)
            async let second = next(exchange)
            return try await [first, second][1]
        }
        for (filter, count) in [(twice, 2), (elsewhere, 1), (both, 2)] {
            let wire = Wire { number, request, _ in
                if number == 1 { return response(request) }
                throw ErrandError(.cannotConnect, "")
            }
            let agent = NetworkAgent(wire, [.retry(eager(4)), filter])
            #expect(await failure { try await agent.send(Get { $0.method = .post }) } == "cannotConnect")
            #expect(wire.sent == count)
        }
    }

    @Test("with standardResilience and an outer coalescing filter, a received POST is sent once")
    func combined() async throws {
        let stub = StubTransport { request in
            request.method == .post
                ? .redirect(to: "https://gone.example/y", status: 303) : .failure(ErrandError(.nameLookupFailed, ""))
        }
        for filters in [
            [.coalescing(in: .call), .standardResilience], [.standardResilience, .coalescing],
            [.standardResilience, .hedge],
        ] as [[any Filter]] {
            let before = stub.received.count
            let agent = NetworkAgent(baseURL: base, transport: stub, filters: filters)
            _ = try? await agent.send(Get { $0.method = .post })
            #expect(stub.received[before...].count { $0.method == .post } == 1)
        }
    }
}

extension FilterStages {
    fileprivate static let inner: [FilterStages] = [.call, .hop, .wire]
}
