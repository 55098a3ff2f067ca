import Errand
import ErrandEssentials
import ErrandTesting

extension FilterDraft {
    static let surroundings: [FilterDraft] = [
        FilterDraft("a redirect is followed") { bench in
            let transport = BenchTransport { request, _ in
                if request.url.path.hasSuffix("target") { return .text("there", for: request) }
                return HTTPResponse(
                    to: request, status: 302, headers: [.location: "\(FilterBench.origin)/v1/target"])
            }
            let request = BenchRequest(headers: ["X-Conformance-Plain": "plain"])
            let response = try await bench.send(request, over: transport)
            let text = String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
            try bench.equal(text, "there", "the body after a redirect")
            let last = transport.ownArrivals.last?.request.headers["X-Conformance-Plain"]
            try bench.equal(last, "plain", "an unknown field after a redirect")
        },
        FilterDraft("secrets aren't sent to another origin") { bench in
            let transport = BenchTransport { request, _ in
                if request.url.host != "conformance.example" { return .text("there", for: request) }
                return HTTPResponse(to: request, status: 302, headers: [.location: "https://other.example/x"])
            }
            _ = try? await bench.send(.secret(), over: transport)
            _ = try? await bench.send(BenchRequest(path: "https://other.example/link"), over: transport)
            let secrets = BenchRequest.secrets + bench.secrets
            for arrival in transport.arrivals where arrival.request.url.host == "other.example" {
                let request = arrival.request
                let texts = request.headers.map { "\($0.name): \($0.value)" } + [request.url.absoluteString]
                let found = texts.filter { text in secrets.contains { text.contains($0) } }
                try bench.expect(
                    found.isEmpty, "no secret in a request to another origin",
                    came: found.map { $0.split(separator: ":")[0] }.joined(separator: ", "))
            }
        },
        FilterDraft("every attempt of an outer retry is treated like the first") { bench in
            let twice = ClosureFilter(.call) { exchange, next in
                let first = try await next(exchange)
                first.body.cancel()
                return try await next(exchange)
            }
            let transport = BenchTransport()
            let body = RequestBody.text("conformance")
            let response = try await bench.send(
                BenchRequest(method: .put, body: body), outside: [twice], over: transport)
            try bench.equal(response.status, 200, "the status of the second attempt")
            let arrivals = transport.ownArrivals.map { arrival in
                arrival.request.headers.map(\.name.rawName).sorted() + ["\(arrival.body.count) bytes"]
            }
            if arrivals.count > 1 { try bench.equal(arrivals[1], arrivals[0], "the fields of the second attempt") }
        },
        FilterDraft(
            "a response that an inner filter creates, such as a cache, is returned unchanged", assuming: [.response]
        ) {
            bench in
            let cache = ClosureFilter(.wire) { exchange, _ in
                HTTPResponse(
                    to: exchange.http, status: 203, headers: ["X-Conformance": "kept"],
                    body: HTTPBody(Data("kept".utf8)), source: ResponseSource("conformance"))
            }
            let transport = BenchTransport()
            let response = try await bench.send(inside: [cache], over: transport)
            let text = String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
            try bench.equal(text, "kept", "the body from the inner filter")
            try bench.equal(response.headers["X-Conformance"], "kept", "a field from the inner filter")
            let own = transport.arrivals.filter { $0.tags[BenchOwnTag.self] }
            try bench.equal(own.count, 0, "the requests at the transport")
        },
        FilterDraft("a response that a check rejected isn't returned to a later call") { bench in
            let transport = BenchTransport { request, index in .text(index == 1 ? "bad" : "good", for: request) }
            let agent = try bench.agent(transport, filter: bench.make())
            let refusal = ClosureFilter(.call) { exchange, next in
                exchange.checks.add(
                    ResponseCheck("conformance") { if $0.data == Data("bad".utf8) { throw BenchError() } })
                return try await next(exchange)
            }
            let options = CallOptions(filters: [refusal])
            _ = try? await agent.send(BenchRequest(), options: options).value.status
            try await bench.pause()
            let text: String
            do { text = try await agent.send(BenchRequest(), options: options).value.text() } catch is BenchError {
                text = "bad"
            }
            try bench.equal(text, "good", "the response to the call after the rejected one")
        },
        FilterDraft("a response for one user or request body isn't returned for another", assuming: [.body]) { bench in
            let transport = BenchTransport { request, _ in
                let body = String(decoding: request.body.data ?? Data(), as: UTF8.self)
                return .text((request.headers[.authorization] ?? "anonymous") + " " + body, for: request)
            }
            let agent = try bench.agent(transport, filter: bench.make())
            for user in ["Bearer one", "Bearer two"] {
                let request = BenchRequest(headers: [.authorization: user])
                let text = try await agent.send(request, options: CallOptions()).value.text()
                let sent = transport.ownArrivals.last?.request.headers[.authorization] ?? "none"
                // The filter may replace the user's credentials with its own credentials.
                try bench.equal(text, (sent.hasPrefix("Bearer one") ? user : sent) + " ", "the response for \(user)")
                try await bench.pause()
            }
            for body in ["first", "second"] {
                let request = BenchRequest(method: .post, body: .text(body))
                let text = try await agent.send(request, options: CallOptions()).value.text()
                try bench.expect(text.hasSuffix(" " + body), "the response to the body \(body)", came: text)
                try await bench.pause()
            }
        },
        FilterDraft("the requests of a batch get their own responses", assuming: [.url]) { bench in
            let agent = try bench.agent(BenchTransport(echoing: ""), filter: bench.make())
            let paths = try await agent.start(
                ActivityKind(rawValue: "conformance"), options: CallOptions(), completion: nil
            ) { activity in
                let scoped = activity.agent(on: agent)
                return try await texts(of: 8) { try await scoped.send($0, options: CallOptions()).value }
            }.value
            try bench.equal(paths, (0..<8).map { "/v1/items/\($0)" }, "the responses of the members")
        },
    ]

    private static func texts(
        of count: Int, _ send: @escaping @Sendable (BenchRequest) async throws -> HTTPResponse
    ) async throws -> [String] {
        try await withThrowingTaskGroup { group in
            for index in 0..<count {
                group.addTask {
                    let body = try await send(BenchRequest(path: "items/\(index)")).body
                    return (index, String(decoding: try await body.collect(upTo: 1 << 20), as: UTF8.self))
                }
            }
            var texts = [String](repeating: "", count: count)
            for try await (index, text) in group { texts[index] = text }
            return texts
        }
    }

    /// Uses the filter in two agents. The first agent is released at the end.
    private static func share(_ filter: any Filter, with second: NetworkAgent, _ bench: FilterBench) async throws {
        let first = bench.agent(BenchTransport(echoing: "first "), filter: filter)
        let task = Task { try await texts(of: 8) { try await first.send($0, options: CallOptions()).value } }
        let twos = try await texts(of: 8) { try await second.send($0, options: CallOptions()).value }
        let ones = try await task.value
        try bench.equal(ones, (0..<8).map { "first /v1/items/\($0)" }, "the responses of the first agent")
        try bench.equal(twos, (0..<8).map { "second /v1/items/\($0)" }, "the responses of the second agent")
    }

    static let crowds: [FilterDraft] = [
        FilterDraft("two hundred concurrent calls each get their own response", assuming: [.url]) { bench in
            let agent = try bench.agent(BenchTransport(echoing: ""), filter: bench.make())
            let texts = try await texts(of: 200) { try await agent.send($0, options: CallOptions()).value }
            for (index, text) in texts.enumerated() {
                try bench.equal(text, "/v1/items/\(index)", "the response of call \(index)")
            }
        },
        FilterDraft("a call that waits for its response doesn't delay another call") { bench in
            let gate = Gate()
            let transport = BenchTransport { request, _ in
                if request.url.path.hasSuffix("slow") { try await gate.wait() }
                return .text("ok", for: request)
            }
            let agent = try bench.agent(transport, filter: bench.make())
            let slow = Task { try await agent.send(BenchRequest(path: "slow"), options: CallOptions()).value.status }
            try await gate.reached()
            let done = Counter()
            let fast = Task {
                _ = try await agent.send(BenchRequest(path: "fast"), options: CallOptions()).value.status
                done.increment()
            }
            let isDone = try await bench.becomes { done.value > 0 }
            gate.open()
            _ = await (slow.result, fast.result)
            try bench.expect(
                isDone, "the response of a second call", came: "a second call that waits for the first one")
        },
        FilterDraft("two agents can share the filter", assuming: [.url]) { bench in
            let filter = try bench.make()
            let second = bench.agent(
                BenchTransport(echoing: "second "), filter: filter, origin: "https://second.example")
            try await share(filter, with: second, bench)
            let later = try await second.send(BenchRequest(path: "later"), options: CallOptions()).value
            let text = String(decoding: try await later.body.collect(upTo: 1 << 20), as: UTF8.self)
            try bench.equal(text, "second /v1/later", "the response after the first agent was released")
        },
    ]
}

extension BenchTransport {
    convenience init(echoing prefix: String) {
        self.init { request, _ in .text(prefix + request.url.path, for: request) }
    }
}
