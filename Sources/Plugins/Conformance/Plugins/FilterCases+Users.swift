import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

extension FilterDraft {
    private enum Mark: String, CaseIterable {
        case authorization, field = "a sensitive field", cookie, agent = "the agent's authorization"
        case agentField = "a sensitive field of the agent"

        var name: HTTPHeaderName {
            switch self {
            case .authorization, .agent: .authorization
            case .field, .agentField: BenchRequest.key
            case .cookie: .cookie
            }
        }

        func value(of user: String) -> String {
            switch self {
            case .authorization, .agent: "Bearer \(user)"
            case .field, .agentField: user
            case .cookie: "session=\(user)"
            }
        }

        /// Returns a request that belongs to a user. The user is identified by the request itself, or by the agent's
        /// configuration.
        func request(of user: String, _ path: String, on agent: NetworkAgent) -> BenchRequest {
            var request = BenchRequest(path: path)
            switch self {
            case .authorization, .field, .cookie:
                request.headers.set(name, value(of: user), sensitive: true)
            case .agent: agent.configure { $0.authorization = .bearer(user) }
            case .agentField: agent.configure { $0.headers.set(name, value(of: user), sensitive: true) }
            }
            return request
        }
    }

    private static func transport(for mark: Mark, _ headers: HTTPHeaders, _ gate: Gate? = nil) -> BenchTransport {
        BenchTransport { request, _ in
            try await gate?.wait()
            var response = HTTPResponse.text("for \(request.headers[mark.name] ?? "none")", for: request)
            response.headers.merge(headers)
            return response
        }
    }

    /// Returns whether the filter keeps the user's credentials. If it replaces all credentials with its own, all users
    /// share them.
    private static func isKept(_ mark: Mark, _ bench: FilterBench) async throws -> Bool {
        let transport = transport(for: mark, [:])
        let agent = try bench.agent(transport, filter: bench.make())
        _ = await end(of: mark.request(of: "probe", "items", on: agent), on: agent)
        let sent = transport.ownArrivals.first?.request.headers[mark.name] ?? ""
        return sent.contains(mark.value(of: "probe"))
    }

    static let users: [FilterDraft] = [
        FilterDraft("consecutive calls of different users get their own responses") { bench in
            for mark in Mark.allCases where try await isKept(mark, bench) {
                for headers: HTTPHeaders in [[:], [.cacheControl: "max-age=600"], [.cacheControl: "private"]] {
                    let transport = transport(for: mark, headers)
                    let agent = try bench.agent(transport, filter: bench.make())
                    for user in ["one", "two", "one", "three"] {
                        let request = mark.request(of: user, "items", on: agent)
                        let text = try await agent.send(request, options: CallOptions()).value.text()
                        try bench.expect(
                            text.contains(mark.value(of: user)), "the response for user \(user) (\(mark.rawValue))",
                            came: text)
                        try await bench.pause()
                    }
                }
            }
        },
        FilterDraft("concurrent calls of different users get their own responses") { bench in
            for mark in Mark.allCases where try await isKept(mark, bench) {
                let (gate, probe) = (Gate(), BenchProbe(.call))
                let agent = try bench.agent(
                    transport(for: mark, [:], gate), outside: [probe], filter: bench.make())
                var tasks: [(user: String, Task<String, any Error>)] = []
                for (index, user) in ["one", "two", "three"].enumerated() {
                    let request = mark.request(of: user, "items", on: agent)
                    tasks.append(
                        (user, Task { try await agent.send(request, options: CallOptions()).value.text() }))
                    try await probe.entered(index + 1)
                }
                try await bench.pause()
                gate.open()
                for (user, task) in tasks {
                    let text = try await task.value
                    try bench.expect(
                        text.contains(mark.value(of: user)), "the response for user \(user) (\(mark.rawValue))",
                        came: text)
                }
            }
        },
        FilterDraft(
            "calls that differ in URL, method or body get different responses", assuming: [.url, .method, .body]
        ) { bench in
            let requests = [
                BenchRequest(method: .head), BenchRequest(), BenchRequest(path: "items?a=1"),
                BenchRequest(path: "items?a=2"), BenchRequest(path: "ITEMS"), BenchRequest(path: "items/"),
                BenchRequest(path: "https://other.example/v1/items"),
                BenchRequest(path: "https://conformance.example:8443/v1/items"),
                BenchRequest(path: "http://conformance.example/v1/items"), BenchRequest(method: "REPORT"),
                BenchRequest(method: .post, body: .text("a")), BenchRequest(method: .post, body: .text("b")),
                BenchRequest(method: .put, body: .text("a")), BenchRequest(method: .delete),
            ]
            for isFresh in [true, false] {
                let transport = BenchTransport { request, _ in
                    let (url, body) = (request.urlText, String(decoding: request.body.data ?? Data(), as: UTF8.self))
                    var response = HTTPResponse.text("\(request.method) \(url) \(body)", for: request)
                    if isFresh { response.headers[.cacheControl] = "max-age=600" }
                    return response
                }
                let agent = try bench.agent(transport, filter: bench.make())
                for request in requests { try await isOwn(request, agent, transport, bench) }
                try await withThrowingTaskGroup { group in
                    for request in requests.filter({ $0.method == .get || $0.method == .post }) {
                        group.addTask { try await isOwn(request, agent, transport, bench) }
                    }
                    try await group.waitForAll()
                }
            }
        },
        FilterDraft("the agent's credentials for its own origin aren't sent to another") { bench in
            let hosts = [
                "https://other.example", "https://conformance.example.other.example", "https://sub.conformance.example",
                "https://notconformance.example", "http://conformance.example", "https://conformance.example:8443",
                "https://xn--conformance-9d0b.example", "https://[2001:db8::1]", "http://127.0.0.1:8080",
            ]
            let transport = BenchTransport { request, _ in
                if let host = request.url.query().flatMap({ Int($0) }), request.url.path.hasSuffix("away") {
                    return HTTPResponse(to: request, status: 307, headers: [.location: "\(hosts[host])/there"])
                }
                return .text("there", for: request)
            }
            let agent = try bench.agent(transport, filter: bench.make())
            agent.configure { configuration in
                configuration.authorization = .bearer(BenchRequest.secrets[0])
                configuration.headers.set(BenchRequest.key, BenchRequest.secrets[1], sensitive: true)
            }
            _ = await end(of: BenchRequest(), on: agent)
            for (index, host) in hosts.enumerated() {
                _ = await end(of: BenchRequest(path: "\(host)/v1/items"), on: agent)
                _ = await end(of: BenchRequest(method: .post, path: "away?\(index)"), on: agent)
            }
            let secrets = [BenchRequest.secrets[0], BenchRequest.secrets[1]] + bench.secrets
            for arrival in transport.arrivals {
                let request = arrival.request
                if request.urlText.hasPrefix(FilterBench.origin + "/") || bench.isKnown(request.urlText) { continue }
                let parts =
                    request.headers.map { ("\($0.name)", $0.value) } + [
                        ("the URL", request.urlText), ("the body", String(decoding: arrival.body, as: UTF8.self)),
                    ]
                let found = parts.filter { part in secrets.contains { part.1.contains($0) } }.map(\.0)
                try bench.expect(
                    found.isEmpty, "no secret in a request to \(request.url.host ?? "another origin")",
                    came: found.joined(separator: ", "))
            }
        },
    ]

    private static func isOwn(
        _ request: BenchRequest, _ agent: NetworkAgent, _ transport: BenchTransport, _ bench: FilterBench
    ) async throws {
        let url = try agent.httpRequest(for: request).urlText
        let response = try await agent.send(request, options: CallOptions()).value
        if request.method == .head { return try bench.expect(response.data.isEmpty, "no body", came: "a body") }
        let body = String(decoding: request.body.data ?? Data(), as: UTF8.self)
        let text = try response.text()
        // A filter may add to the query, and may send the request to another environment.
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        let isSame =
            parts.count == 3 && parts[0] == request.method.rawValue && parts[2] == body
            && (parts[1] == url || parts[1].hasPrefix(url + "&") || parts[1].hasPrefix(url + "?"))
        try bench.expect(isSame, "the response to \(request.method) \(url)", came: text)
    }
}
