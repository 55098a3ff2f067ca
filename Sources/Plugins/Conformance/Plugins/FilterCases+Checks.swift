import Errand
import ErrandEssentials
import ErrandTesting

extension FilterDraft {
    static let checks: [FilterDraft] = [
        FilterDraft("checks of other filters and of the request run, and can reject the response") { bench in
            for refusing in ["none", "request", "outside", "inside"] {
                let ran = Watched<[String]>([])
                func check(_ name: String) -> ResponseCheck {
                    ResponseCheck("conformance \(name)") { response in
                        ran.update { $0.append(name) }
                        if name == refusing { throw BenchError() }
                        if response.data != Data("ok".utf8) { throw BenchFault() }
                    }
                }
                let others = ["outside", "inside"].map { name in
                    let check = check(name)
                    return ClosureFilter(name == "outside" ? .call : .wire) { exchange, next in
                        exchange.checks.add(check)
                        return try await next(exchange)
                    }
                }
                let transport = BenchTransport()
                let agent = try bench.agent(
                    transport, outside: [others[0]], filter: bench.make(), inside: [others[1]])
                var request = BenchRequest(method: .post)
                request.checks = [check("request")]
                let end = await end(of: request, on: agent)
                try bench.equal(
                    end, refusing == "none" ? "200" : "BenchError", "the outcome when \(refusing) rejects the response")
                if refusing != "none" { continue }
                for name in ["request", "outside", "inside"] {
                    try bench.expect(
                        ran.read { $0.contains(name) }, "the check of \(name)",
                        came: "no such check: it was lost or replaced")
                }
            }
        },
        FilterDraft("work that other filters stage is committed or discarded, once") { bench in
            for isAccepted in [true, false] {
                let work = Watched<[String]>([])
                let others = [FilterStages.call, .wire].map { stage in
                    ClosureFilter(stage) { exchange, next in
                        let name = stage == .call ? "outside" : "inside"
                        exchange.whenAccepted {
                            work.update { $0.append("\(name) committed") }
                        } otherwise: {
                            work.update { $0.append("\(name) discarded") }
                        }
                        return try await next(exchange)
                    }
                }
                let agent = try bench.agent(
                    BenchTransport(), outside: [others[0]], filter: bench.make(), inside: [others[1]])
                var request = BenchRequest(method: .post)
                request.checks = [ResponseCheck("conformance") { _ in if !isAccepted { throw BenchError() } }]
                _ = await end(of: request, on: agent)
                let word = isAccepted ? "committed" : "discarded"
                let expected = ["inside \(word)", "outside \(word)"]
                try await bench.pause()
                try bench.equal(work.read { $0.sorted() }, expected, "the staged work")
            }
        },
        FilterDraft("a response that the request rejected isn't returned to a later call") { bench in
            for kind in ["status", "check", "decoding"] {
                let transport = BenchTransport { request, index in
                    let headers: HTTPHeaders = [.contentType: "text/plain"]
                    let isBad = index == 1
                    return HTTPResponse(
                        to: request, status: isBad && kind == "status" ? 418 : 200, headers: headers,
                        body: HTTPBody(Data((isBad ? "bad" : "7").utf8)))
                }
                let agent = try bench.agent(transport, filter: bench.make())
                let request = Demanding(isChecked: kind == "check")
                _ = try? await agent.send(request, options: CallOptions()).value
                try await bench.pause()
                let came: String
                do { came = "\(try await agent.send(request, options: CallOptions()).value)" } catch {
                    came = "\(error)"
                }
                try bench.equal(came, "7", "the second call, after the \(kind) of the first was rejected")
            }
        },
    ]

    private struct Demanding: Request {
        typealias Output = Int
        let isChecked: Bool
        var path: String { "items" }
        var acceptableContentTypes: ContentTypes { .any }
        var checks: [ResponseCheck] {
            guard isChecked else { return [] }
            return [ResponseCheck("conformance") { if $0.data == Data("bad".utf8) { throw BenchError() } }]
        }
    }
}
