import Errand
import ErrandEssentials
import ErrandTesting

extension FilterDraft {
    /// Makes calls that contain secrets and end in different ways.
    private static func reports(_ bench: FilterBench) async throws -> (notes: [String], errors: [String]) {
        let recording = RecordingAccessory()
        var errors: [String] = []
        for kind in 0..<4 {
            let transport = BenchTransport { request, _ in
                let cookie: HTTPHeaders = [.setCookie: "session=\(BenchRequest.secrets[2])"]
                if kind == 1 { return HTTPResponse(to: request, status: 500, headers: cookie) }
                if kind == 2 { throw ErrandError(.connectionLost, "cut") }
                if kind == 3 { return HTTPResponse(to: request, status: 403, headers: cookie) }
                return HTTPResponse(
                    to: request, status: 200, headers: cookie, body: HTTPBody(Data("ok".utf8)))
            }
            for method in [HTTPMethod.get, .post] {
                do {
                    _ = try await bench.send(.secret(method), accessories: [recording], over: transport)
                } catch {
                    errors += [
                        "\(error)", String(reflecting: error), (error as? any LocalizedError)?.errorDescription ?? "",
                    ]
                    if let underlying = (error as? ErrandError)?.underlying { errors.append("\(underlying)") }
                }
            }
        }
        let notes = recording.records().compactMap { record -> String? in
            guard case .note(let note) = record.event else { return nil }
            return "\(note.name) \(note.message) \(note.details.map { String(reflecting: $0) } ?? "")"
        }
        return (notes, errors)
    }

    /// Checks that texts don't contain secrets. The text of the failure masks the secret.
    private static func check(_ bench: FilterBench, _ texts: [String], _ what: String) throws {
        for secret in BenchRequest.secrets + bench.secrets {
            guard let text = texts.first(where: { $0.contains(secret) }) else { continue }
            throw ConformanceFailure(
                expected: "\(what) without a secret",
                came: text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "<secret>"))
        }
    }

    static let secrets: [FilterDraft] = [
        FilterDraft("the filter's notes contain no secret") { bench in
            try check(bench, try await reports(bench).notes, "a note")
        },
        FilterDraft("the filter's errors contain no secret") { bench in
            try check(bench, try await reports(bench).errors, "an error")
        },
        FilterDraft("the filter's description contains no secret") { bench in
            let filter = try bench.make()
            var dumped = ""
            dump(filter, to: &dumped)
            let agent = bench.agent(BenchTransport(), filter: filter)
            let texts = [
                filter.explanation, "\(filter)", String(reflecting: filter), dumped,
                "\(agent.explain(BenchRequest()))",
            ]
            try check(bench, texts, "a description")
        },
    ]

    static let descriptions: [FilterDraft] = [
        FilterDraft("the filter has a stage and a one-line explanation") { bench in
            let filter = try bench.make()
            let known: FilterStages = [.call, .hop, .wire]
            try bench.expect(
                filter is any FilterGroup || !filter.stages.isDisjoint(with: known), "a stage",
                came: "stages \(filter.stages.rawValue)")
            let text = filter.explanation
            try bench.expect(
                !text.isEmpty && !text.contains { $0.isNewline }, "a one-line explanation",
                came: String(reflecting: text))
        },
        FilterDraft("a filter that repeats requests has the trait .retries") { bench in
            let transport = BenchTransport { request, index in
                if index == 1 { throw ErrandError(.connectionLost, "cut") }
                return .text("second", for: request)
            }
            let filter = try bench.make()
            let agent = bench.agent(transport, filter: filter)
            _ = try? await agent.send(BenchRequest(), options: CallOptions()).value.status
            let isRepeated = transport.ownArrivals.count > 1
            try bench.expect(
                !isRepeated || traits(of: filter).contains(.retries),
                "the trait .retries on a filter that repeats requests",
                came: "no such trait: add it to the filter's traits")
        },
        FilterDraft("a filter that changes the request declares it in its traits") { bench in
            let request = BenchRequest(method: .post, body: .text("conformance"))
            let (plain, transport) = (BenchTransport(), BenchTransport())
            _ = try await bench.control(request, over: plain)
            let filter = try bench.make()
            _ = try await bench.agent(transport, filter: filter).send(request, options: CallOptions()).value.status
            let change: FilterTraits = [.changesRequest, .signs, .authenticates, .outsideCacheKey]
            let (sent, expected) = (transport.ownArrivals.first, plain.arrivals.first)
            let isChanged =
                sent?.request.url != expected?.request.url || sent?.request.headers != expected?.request.headers
                || sent?.body != expected?.body
            try bench.expect(
                !isChanged || sent == nil || !traits(of: filter).isDisjoint(with: change),
                "the trait .changesRequest, .signs or .authenticates on a filter that changes requests",
                came: "no such trait: add it to the filter's traits")
        },
    ]

    private static func traits(of filter: any Filter) -> FilterTraits {
        guard let group = filter as? any FilterGroup else { return filter.traits }
        return group.filters.reduce(filter.traits) { $0.union(traits(of: $1)) }
    }
}
