import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

extension FilterDraft {
    private static let chunk = Data(repeating: 0x61, count: 1_000)

    private static func stream(
        of count: Int, length: Int64? = nil, pulled: Counter, failure: (any Error)? = nil,
        cancel: @escaping @Sendable () -> Void = {}
    ) -> HTTPBody {
        HTTPBody(length: length, cancel: cancel) {
            let number = pulled.increment()
            if number <= count { return chunk }
            if let failure { throw failure }
            return nil
        }
    }

    static let bodies: [FilterDraft] = [
        FilterDraft("a streamed response can be read by the caller") { bench in
            let transport = BenchTransport { request, _ in
                HTTPResponse(to: request, status: 200, body: stream(of: 50, pulled: Counter()))
            }
            let response = try await bench.send(BenchRequest(delivery: .stream), over: transport)
            let data: Data
            do { data = try await response.body.collect(upTo: 1 << 20) } catch {
                throw ConformanceFailure(expected: "a body that its reader can read", came: "\(error)")
            }
            try bench.equal(data.count, 50_000, "the bytes of the stream")
        },
        FilterDraft("a streamed body isn't read before the caller reads it") { bench in
            let pulled = Counter()
            let transport = BenchTransport { request, _ in
                HTTPResponse(to: request, status: 200, body: stream(of: 4_000, pulled: pulled))
            }
            let response = try await bench.send(BenchRequest(delivery: .stream), over: transport)
            try await bench.pause()
            let count = pulled.value
            try bench.expect(
                count <= 100, "at most 100 of 4,000 chunks before the reader asks for one", came: "\(count) chunks")
            response.body.cancel()
        },
        FilterDraft("an error in the middle of a stream reaches the caller") { bench in
            let transport = BenchTransport { request, _ in
                HTTPResponse(
                    to: request, status: 200,
                    body: stream(of: 3, pulled: Counter(), failure: ErrandError(.connectionLost, "cut")))
            }
            _ = try await bench.error(of: "a stream that breaks") {
                let response = try await bench.send(
                    BenchRequest(method: .post, delivery: .stream), over: transport)
                _ = try await response.body.collect(upTo: 1 << 20)
                return response
            }
        },
        FilterDraft("a stream that the caller drops is cancelled") { bench in
            let cancelled = Counter()
            let transport = BenchTransport { request, _ in
                HTTPResponse(
                    to: request, status: 200,
                    body: stream(of: 4_000, pulled: Counter(), cancel: { cancelled.increment() }))
            }
            let agent = try bench.agent(transport, filter: bench.make())
            _ = try await agent.send(BenchRequest(delivery: .stream), options: CallOptions()).value.status
            let isCancelled = try await bench.becomes { cancelled.value > 0 }
            try bench.expect(isCancelled, "the transfer to end", came: "a body still in memory")
            withExtendedLifetime(agent) {}
        },
        FilterDraft("cancelling the task that reads a stream ends the transfer") { bench in
            let (gate, ended, pulled) = (Gate(), Counter(), Counter())
            let transport = BenchTransport { request, _ in
                let body = HTTPBody(cancel: { ended.increment() }) {
                    if pulled.increment() == 1 { return chunk }
                    do { try await gate.wait() } catch { ended.increment(); throw error }
                    return nil
                }
                return HTTPResponse(to: request, status: 200, body: body)
            }
            let agent = try bench.agent(transport, filter: bench.make())
            let reader = Task {
                let body = try await agent.send(BenchRequest(delivery: .stream), options: CallOptions()).value.body
                return try await body.collect(upTo: 1 << 20).count
            }
            try await gate.reached()
            reader.cancel()
            let isEnded = try await bench.becomes { ended.value > 0 }
            gate.open()
            try bench.expect(isEnded, "the transfer to end", came: "a transfer that keeps running")
            _ = await reader.result
        },
        FilterDraft("a request body that can be read only once is sent completely", assuming: [.body]) { bench in
            for length in [nil, 20_000] as [Int64?] {
                let transport = BenchTransport()
                let body = RequestBody.stream(stream(of: 20, length: length, pulled: Counter()))
                do {
                    _ = try await bench.send(BenchRequest(method: .post, body: body), over: transport)
                } catch {
                    throw ConformanceFailure(expected: "a body that the transport can read", came: "\(error)")
                }
                try bench.equal(transport.ownArrivals.map(\.body.count), [20_000], "the bytes that were sent")
            }
        },
        FilterDraft("a request body that can be read only once isn't sent again as an empty body", assuming: [.body]) {
            bench in
            for (isError, length) in [(true, nil), (false, nil), (true, 20_000), (false, 20_000)] as [(Bool, Int64?)] {
                let transport = BenchTransport { request, index in
                    if index > 1 { return .text("second", for: request) }
                    if isError { throw ErrandError(.connectionLost, "cut") }
                    return HTTPResponse(to: request, status: 503)
                }
                let body = RequestBody.stream(stream(of: 20, length: length, pulled: Counter()))
                _ = try? await bench.send(BenchRequest(method: .put, body: body), over: transport)
                try bench.expect(
                    transport.ownArrivals.allSatisfy { $0.body.count == 20_000 }, "20,000 bytes each time",
                    came: "\(transport.ownArrivals.map(\.body.count)) bytes")
            }
        },
    ]
}

final class Counter: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .acquiring) }
    @discardableResult func increment() -> Int { count.add(1, ordering: .acquiringAndReleasing).newValue }
}
