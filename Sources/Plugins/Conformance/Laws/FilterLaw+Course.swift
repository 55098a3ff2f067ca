import Errand
import ErrandEssentials
import ErrandTesting

/// Laws about a filter's later calls: after its own responses, on live streams, after a new date, and after many calls.
extension FilterLaw {
    /// The law that a filter doesn't send requests of a call after it has returned the call's response.
    public static let ending = FilterLaw(
        "ending", "law: after the filter returns, it doesn't call next, even if it responded itself",
        advice: """
            Once the call is over, `next` throws. To refresh a stored response after you return it, call \
            `exchange.detach`, and use the exchange that its closure receives.
            """,
        share: 10,
        exchanges: { random in
            var exchange = LawExchange(.get, LawExchange.randomURL(&random))
            let fields: [HTTPHeaders] = [
                [:], [.cacheControl: "max-age=60"], [.entityTag: "\"law\""],
                [.entityTag: "\"law\"", .cacheControl: "max-age=60, stale-while-revalidate=600"],
            ]
            exchange.replies = [LawReply(headers: random.pick(fields))]
            if random.isTrue(0.3) {
                exchange.replies.append(random.pick([LawReply(503), LawReply(failure: .connectionLost)]))
            }
            return [exchange]
        }
    ) { bench, exchanges in
        for exchange in exchanges {
            let (run, _) = try bench.subject(outside: [LawHold()])
            // After some time, a stored response is stale, and a failure makes a filter return one.
            let pauses: [(Duration, Bool)] = [
                (.zero, false), (.zero, false), (.seconds(70), false), (.zero, true), (.seconds(7_200), false),
                (.seconds(100), true),
            ]
            for (index, (pause, isFailing)) in pauses.enumerated() {
                run.clock.pass(pause)
                var each = exchange
                each.replies = [isFailing ? exchange.replies[exchange.replies.count - 1] : exchange.replies[0]]
                let trace = await run.play(each)
                if trace.lateSends == 0 { continue }
                let source = trace.outcome.response.map { "a response from \($0.source)" } ?? "\(trace.outcome)"
                return LawViolation(
                    expected: "no request of call \(index + 1) after the filter returned",
                    came: "a request, after \(source)")
            }
        }
        return nil
    }

    /// The law that a live stream isn't stored or shared.
    public static let live = FilterLaw(
        "live", "law: a call with the tag LiveStream is sent, and doesn't get a stored or shared response",
        advice: """
            An endless stream has no copy. Before you store or share a response, check \
            `exchange.tags[LiveStream.self]`.
            """,
        share: 10,
        exchanges: { random in
            var exchange = LawExchange(.get, LawExchange.randomURL(&random), isStreamed: true)
            exchange.tags = [LawTag(LiveStream.self, true)]
            exchange.replies = [LawReply(headers: [.cacheControl: "max-age=60"], body: .stream(["law", "b"]))]
            if random.isTrue() { exchange.replies[0].headers[.contentType] = "text/event-stream" }
            return [exchange]
        }
    ) { bench, exchanges in
        for exchange in exchanges where exchange.isStreamed && !exchange.tags.isEmpty {
            let (run, permissions) = try bench.subject()
            if !permissions.mayRespond || permissions.isResponder { return nil }
            let gate = Gate()
            let calls = (0..<2).map { _ in LawCall(exchange, isShared: true, heldBy: gate) }
            var traces = [await run.play(exchange), await run.play(exchange)]
            async let one = run.begin(calls[0])
            async let two = run.begin(calls[1])
            try await poll(10) { calls.allSatisfy(\.trace.isReached) }
            gate.open()
            traces += [await one.trace, await two.trace]
            guard traces.contains(where: { $0.sends.isEmpty && $0.outcome.response != nil }) else { continue }
            return LawViolation(
                expected: "a request for each of four calls to a live stream", came: "a stored or shared response")
        }
        return nil
    }

    /// The law that a new date of the device, set by its user, doesn't delay or end calls.
    public static let setback = FilterLaw(
        "setback", "law: a call is the same after the device's date is set back or forward",
        advice: """
            A user can set the date, and a server corrects it. Measure waits with `exchange.time.now`, which can't jump, \
            and compare dates only with dates of the server.
            """,
        share: 10,
        exchanges: { random in
            var exchange = LawExchange(random.pick([.get, .get, .post]), LawExchange.randomURL(&random))
            if exchange.method == .post { exchange.body = .text("law") }
            if random.isTrue(0.3) {
                exchange.replies = [LawReply(503, headers: [.retryAfter: "1"]), LawReply()]
            } else if random.isTrue(0.3) {
                exchange.replies[0].headers[.cacheControl] = "max-age=60"
            }
            return [exchange]
        }
    ) { bench, exchanges in
        for exchange in exchanges {
            for jump in [TimeInterval(-90_000), 90_000] {
                let (steady, permissions) = try bench.subject()
                let (moved, _) = try bench.subject()
                for index in 0..<6 {
                    let expected = await steady.play(exchange)
                    let came = await moved.play(exchange)
                    let direction = jump < 0 ? "back" : "forward"
                    if came.outcome.kind != expected.outcome.kind {
                        return LawViolation(
                            expected: "\(expected.outcome), although the date was set \(direction)",
                            came: "\(came.outcome)")
                    }
                    if came.elapsed > expected.elapsed + .seconds(5) {
                        return LawViolation(
                            expected: "the call to take \(expected.elapsed), although the date was set \(direction)",
                            came: "it took \(came.elapsed)")
                    }
                    if came.sends.isEmpty, !expected.sends.isEmpty, !permissions.mayRespond {
                        return LawViolation(
                            expected: "a request, although the date was set \(direction)", came: "no request")
                    }
                    for run in [steady, moved] { run.clock.pass(.milliseconds(500)) }
                    if index == 2 { moved.clock.setDate(by: jump) }
                }
            }
        }
        return nil
    }

    /// The law that a filter has the same effect after many calls as at first.
    public static let endurance = FilterLaw(
        "endurance", "law: after two thousand successful calls, the filter has the same effect as at first",
        advice: """
            If a table or a counter is full, forget the oldest entry instead of ignoring the newest. An app makes more \
            calls than a test.
            """,
        share: 1,
        exchanges: { random in [LawExchange(random.pick([.get, .post]))] }
    ) { bench, exchanges in
        for exchange in exchanges {
            let (run, permissions) = try bench.subject()
            let early = await names(run, exchange, "early")
            await withTaskGroup { group in
                for lane in 0..<8 {
                    group.addTask {
                        for index in 0..<250 {
                            var each = exchange
                            each.url += "/\(lane)/\(index)"
                            _ = await run.play(each)
                        }
                    }
                }
            }
            // A week later, a budget of calls has room again.
            run.clock.pass(.seconds(604_800))
            let late = await names(run, exchange, "late")
            // Compares only the parts that all early calls have and no late call has, because a filter can choose at
            // random.
            let steady = early.dropFirst().reduce(early[0]) { $0.intersection($1) }
            let lost = steady.subtracting(late.reduce(into: []) { $0.formUnion($1) })
            guard let name = lost.sorted().first(where: { !permissions.mayRespond || !$0.hasPrefix("request") }) else {
                continue
            }
            return LawViolation(
                expected: "\(name), as in the first calls", came: "calls without it, after 2,000 others")
        }
        return nil
    }

    /// Returns the parts of each of several calls: its requests, their fields, its end, and the response's fields.
    private static func names(_ run: LawRun, _ exchange: LawExchange, _ path: String) async -> [Set<String>] {
        var all: [Set<String>] = []
        for index in 0..<6 {
            var each = exchange
            each.url += "/\(path)/\(index)"
            let trace = await run.play(each)
            var names: Set = ["the end of the call: \(trace.outcome.kind)"]
            for (number, send) in trace.sends.enumerated() {
                names.insert("request \(number + 1)")
                for field in send.http.headers {
                    names.insert("the field \(field.name.rawName.lowercased()) of a request")
                }
            }
            for field in trace.outcome.response?.headers ?? [:] {
                names.insert("the field \(field.name.rawName.lowercased()) of the response")
            }
            all.append(names)
        }
        return all
    }
}

/// Waits after the filter has returned, and notes whether it still sends requests of the call.
private struct LawHold: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let call = (exchange.request as? LawRequest)?.call else { return try await next(exchange) }
        func count() -> Int { call.trace.sends.count { !$0.isDetached } }
        let result: Result<HTTPResponse, any Error>
        do { result = .success(try await next(exchange)) } catch { result = .failure(error) }
        let before = count()
        for _ in 0..<8 {
            await Task.yield()
            try? await Task.sleep(for: .milliseconds(1))
        }
        let late = count() - before
        call.note { $0.lateSends = late }
        return try result.get()
    }
}
