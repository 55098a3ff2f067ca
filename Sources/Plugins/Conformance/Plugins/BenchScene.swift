import Errand
import ErrandEssentials
import ErrandTesting

/// A kind of call. It's named by the last component of the call's path.
enum BenchScene: String, Sendable, CaseIterable {
    case good, refused, lost, redirected, away, endless, repeated, hedged, cached, noted, uploaded, streamed, checked
    case undecodable, detached, composite, cancelledAtStart, cancelledOnTheWire, cancelledWhileWaiting, overdue

    /// The scenes that report the same events each time.
    static let steady = allCases.filter {
        ![.hedged, .detached, .composite, .cancelledAtStart, .overdue].contains($0)
    }

    /// Makes a call. Returns its result as a word. If there are bytes, they follow the word.
    func play(on agent: NetworkAgent, _ request: BenchRequest = BenchRequest()) async -> String {
        var request = request
        request.path = request.path.replacing("items", with: rawValue)
        switch self {
        case .uploaded:
            request.method = .put
            request.body = .stream {
                let pulled = Counter()
                return HTTPBody { pulled.increment() <= 3 ? Data("{\"a\":1}".utf8) : nil }
            }
        case .streamed: request.delivery = .stream
        case .checked: request.checks = [ResponseCheck("conformance") { _ in throw BenchError() }]
        case .composite:
            return await Self.word {
                try await agent.start(
                    ActivityKind(rawValue: "conformance"), options: CallOptions(), completion: nil
                ) { activity in
                    let scoped = activity.agent(on: agent)
                    async let one = BenchScene.good.play(on: agent)
                    let two = try await scoped.send(BenchRequest(path: "redirected"), options: CallOptions()).value
                    return "\(await one) \(two.status)"
                }.value
            }
        case .cancelledAtStart:
            let task = Task { [request] in
                while !Task.isCancelled { await Task.yield() }
                return await Self.end(of: request, on: agent)
            }
            task.cancel()
            return await task.value
        case .cancelledOnTheWire, .cancelledWhileWaiting:
            let gate = Gate()
            if self == .cancelledOnTheWire { request.tags[BenchTransport.Hold.self] = gate }
            if self == .cancelledWhileWaiting { request.tags[BenchGate.self] = gate }
            let task = Task { [request] in await Self.end(of: request, on: agent) }
            try? await gate.reached(within: .seconds(20))
            task.cancel()
            return await task.value
        case .overdue:
            request.deadline = .milliseconds(5)
            request.tags[BenchTransport.Hold.self] = Gate()
        default: break
        }
        return await Self.end(of: request, on: agent)
    }

    private static func end(of request: BenchRequest, on agent: NetworkAgent) async -> String {
        await word {
            let response = try await agent.send(request, options: CallOptions()).value
            return "\(response.status) \(try await response.body.collect(upTo: 1 << 20).count)"
        }
    }

    private static func word(_ body: () async throws -> String) async -> String {
        do { return try await body() } catch {
            return (error as? ErrandError)?.code.description ?? "\(type(of: error))"
        }
    }
}

private enum BenchGate: TagKey {
    static var defaultValue: Gate? { nil }
}

extension BenchScene {
    /// Returns a transport that acts as the server of all scenes. Its responses contain secrets.
    static func transport() -> BenchTransport {
        BenchTransport(keepsArrivals: false, reports: true) { request, _ in
            let scene = BenchScene(rawValue: request.url.lastPathComponent)
            let headers: HTTPHeaders = [
                .contentType: "application/json", .setCookie: "session=\(BenchRequest.secrets[2])",
            ]
            let body = HTTPBody(Data("{\"a\":[1,2],\"access_token\":\"\(BenchRequest.secrets[4])\"}".utf8))
            switch scene {
            case .refused: return HTTPResponse(to: request, status: 403, headers: headers, body: body)
            case .lost: throw ErrandError(.connectionLost, "cut")
            case .redirected, .away, .endless:
                let target = scene == .away ? "https://other.example/x" : scene == .endless ? "endless" : "good"
                let location = "\(target)?access_token=\(BenchRequest.secrets[5])#id_token=\(BenchRequest.secrets[6])"
                return HTTPResponse(to: request, status: 302, headers: [.location: location])
            case .repeated where request.headers["X-Conformance-Attempt"] == "1":
                return HTTPResponse(to: request, status: 503, headers: headers)
            case .streamed:
                let pulled = Counter()
                return HTTPResponse(
                    to: request, status: 200, headers: headers,
                    body: HTTPBody { pulled.increment() <= 5 ? Data("{\"a\":1}".utf8) : nil })
            default: return HTTPResponse(to: request, status: 200, headers: headers, body: body)
            }
        }
    }

    static let filters: [any Filter] = [
        ClosureFilter(.call) { exchange, next in
            var exchange = exchange
            switch BenchScene(rawValue: exchange.http.url.lastPathComponent) {
            case .repeated:
                exchange.http.headers["X-Conformance-Attempt"] = "1"
                _ = try await next(exchange)
                exchange.note("retry", "attempt 2")
                exchange.http.headers["X-Conformance-Attempt"] = "2"
            case .hedged:
                return try await withThrowingTaskGroup { [exchange] group in
                    for _ in 0..<2 { group.addTask { try await next(exchange) } }
                    defer { group.cancelAll() }
                    return try await group.next() ?? HTTPResponse(to: exchange.http, status: 500)
                }
            case .noted: for number in 1...3 { exchange.note("conformance", "note \(number)", details: number) }
            case .detached:
                exchange.detach("background") { exchange in
                    exchange.note("conformance", "detached")
                    _ = try? await next(exchange)
                }
            case .undecodable: throw ErrandError(.decodingFailed, "conformance", underlying: BenchError())
            case .cancelledWhileWaiting: try await exchange.tags[BenchGate.self]?.wait()
            default: break
            }
            return try await next(exchange)
        },
        ClosureFilter(.wire) { exchange, next in
            guard BenchScene(rawValue: exchange.http.url.lastPathComponent) == .cached else {
                return try await next(exchange)
            }
            return HTTPResponse(
                to: exchange.http, status: 203, body: HTTPBody(Data("kept".utf8)),
                source: .stored("conformance", age: .seconds(1), reason: "it is fresh"))
        },
    ]
}
