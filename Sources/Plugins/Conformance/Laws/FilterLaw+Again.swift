import Errand
import ErrandEssentials
import ErrandTesting

/// Laws about a request that is sent again: after its failure, and after a redirect.
extension FilterLaw {
    /// The law that the failure of a call doesn't prevent the same call later.
    public static let resending = FilterLaw(
        "resending", "law: a call works after the same call has failed",
        advice: """
            Forget a running call in a `defer`, so it's also forgotten if `next` throws. Don't keep the failure itself, \
            such as a failed task, for later calls.
            """,
        share: 10,
        exchanges: { [LawExchange.random([.get, .post, .put, .patch, .delete], &$0)] }
    ) { bench, exchanges in
        for exchange in exchanges {
            var expected: [LawTrace] = []
            for _ in 0..<2 { expected.append(try await bench.subjectAfterHours().play(exchange)) }
            let isSteady = expected[0].outcome.kind == expected[1].outcome.kind
            guard isSteady, expected[0].outcome.isSuccess else { return nil }
            for failure in CallFailure.allCases {
                let (run, permissions) = try bench.subject(outside: [LawCanceller(stages: .call)])
                // Twice, because a filter may act on the second failure.
                for _ in 0..<2 { _ = await run.begin(failure.call(like: exchange)) }
                // A filter may spare a failing server for some time.
                run.clock.pass(.seconds(7_200))
                let came = await run.play(exchange)
                let past = "as without the same call two hours before (\(failure.rawValue))"
                if came.outcome.kind != expected[0].outcome.kind {
                    return LawViolation(expected: "\(expected[0].outcome), \(past)", came: "\(came.outcome)")
                }
                if came.sends.isEmpty, !expected[0].sends.isEmpty, !permissions.mayRespond {
                    return LawViolation(expected: "a request, \(past)", came: "no request")
                }
            }
        }
        return nil
    }

    private enum CallFailure: String, CaseIterable {
        case lost = "its connection was lost", unreachable = "its server couldn't be reached"
        case late = "it timed out", failed = "its server failed", conflicting = "its server refused it"
        case rejected = "a check rejected its response", broken = "a later filter failed"
        case cancelled = "its caller cancelled it", cancelledEarly = "its task was cancelled at first"
        case dropped = "its caller dropped the body"

        func call(like exchange: LawExchange) -> LawCall {
            var copy = exchange
            switch self {
            case .lost: copy.replies = [LawReply(failure: .connectionLost)]
            case .unreachable: copy.replies = [LawReply(failure: .cannotConnect)]
            case .late: copy.replies = [LawReply(failure: .timedOut)]
            case .failed: (copy.isStrict, copy.replies) = (true, [LawReply(500)])
            case .conflicting: (copy.isStrict, copy.replies) = (true, [LawReply(409)])
            case .rejected: copy.isRefused = true
            case .broken: return LawCall(copy, refusedWith: BenchError())
            case .cancelled: copy.cancellation = .onTheWire
            case .cancelledEarly: return LawCall(copy, cancelledBefore: .call)
            case .dropped:
                (copy.isStreamed, copy.isDropped) = (true, true)
                copy.replies = [LawReply(body: .stream(["a", "b"]))]
            }
            return LawCall(copy)
        }
    }

    /// The law that a filter doesn't rewrite a URL that it has already rewritten.
    public static let redirects = FilterLaw(
        "redirects", "law: a redirect to a URL as the filter sends it leads to this URL",
        advice: """
            A server redirects to the URLs that it knows, which the filter has already changed. Change the URL in the \
            stage `.call`, which runs before redirects, or check whether the URL is already changed.
            """,
        share: 10,
        exchanges: { [LawExchange.random([.get, .get, .post], &$0)] }
    ) { bench, exchanges in
        for exchange in exchanges {
            var home = exchange
            home.replies = [LawReply()]
            guard let plain = await bench.control().play(home).sends.first,
                let sent = try await bench.subject().run.play(home).sends.first
            else { return nil }
            let (before, after) = (LawAddress(plain.http.urlText), LawAddress(sent.http.urlText))
            if before == after { return nil }
            for target in [after, after.below("law")] {
                home.replies = [LawReply(307, headers: [.location: target.text]), LawReply()]
                let sends = try await bench.subject().run.play(home).sends
                for send in sends.dropFirst() {
                    let address = LawAddress(send.http.urlText)
                    // The filter can have repeated the first request.
                    if target != after, address.path == after.path { continue }
                    if let part = address.difference(from: target, added: after.names(notIn: before)) {
                        return LawViolation(expected: "a request to \(target.text), as in Location", came: part)
                    }
                }
            }
        }
        return nil
    }
}

extension LawBench {
    fileprivate func subjectAfterHours() throws -> LawRun {
        let (run, _) = try subject()
        run.clock.pass(.seconds(7_200))
        return run
    }
}

/// The parts of a URL, without a fragment.
private struct LawAddress: Equatable {
    let begin: String
    let path: String
    let query: String

    init(_ url: String) {
        let (address, query) = LawTarget.parts(String(url.prefix { $0 != "#" }))
        let parts = address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        begin = parts.prefix(3).joined(separator: "/")
        path = parts.count > 3 ? "/\(parts[3])" : ""
        self.query = query
    }

    private init(_ begin: String, _ path: String, _ query: String) {
        (self.begin, self.path, self.query) = (begin, path, query)
    }

    var text: String { "\(begin)\(path)\(query)" }

    func below(_ segment: String) -> LawAddress {
        LawAddress(begin, path.hasSuffix("/") ? "\(path)\(segment)" : "\(path)/\(segment)", query)
    }

    private var names: [Substring] {
        query.dropFirst().split(separator: "&").map { $0.prefix { $0 != "=" } }
    }

    func names(notIn other: LawAddress) -> Set<Substring> {
        Set(names.filter { name in names.count { $0 == name } > other.names.count { $0 == name } })
    }

    /// Returns the part in which the filter has changed the URL again. The values of its query items may differ.
    func difference(from target: LawAddress, added: Set<Substring>) -> String? {
        if path != target.path { return "a request to \(text)" }
        if begin != target.begin, begin.hasSuffix(String(target.begin.drop { $0 != "/" }.dropFirst(2))) {
            return "a request to \(text)"
        }
        let doubled = added.filter { name in names.count { $0 == name } > target.names.count { $0 == name } }
        return doubled.min().map { "the query item \($0) more than once" }
    }
}
