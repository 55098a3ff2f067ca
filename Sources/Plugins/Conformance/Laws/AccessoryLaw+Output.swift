import Errand
import ErrandEssentials
import ErrandTesting

/// Laws that compare an accessory's output with its own output in other circumstances, because the suite can't know
/// what it means.
extension AccessoryLaw {
    /// An indicator that a plain call switches on and off must be off after every call.
    static let rest = AccessoryLaw(
        name: "law: an output that a plain call changes and changes back is the same after every kind of call",
        advice: """
            Count calls, not requests: up in `willStart`, down in `didStop`. A call can send several requests, or none, \
            for example because of redirects, retries and stored responses.
            """, share: 1
    ) { bench, _, patience in
        if try await !isIndicator(bench) { return nil }
        for scene in BenchScene.allCases where !plain.contains(scene) {
            let (accessory, output) = try bench.make()
            let before = try await output()
            _ = await scene.play(on: bench.agent(accessory))
            // Detached work, and the end of a call that is cancelled, can take a moment.
            let looks = Int(patience / .milliseconds(1)) * 40
            if try await bench.filters.becomes(within: looks, { try await output() == before }) { continue }
            let (off, now) = (before.prefix(100).debugDescription, try await output().prefix(100).debugDescription)
            return LawViolation(expected: "the output \(off) after a call (\(scene.rawValue)), as before it", came: now)
        }
        return nil
    }

    /// Calls that are sent and end with a response, and calls that fail or are cancelled before they are sent. An
    /// output that names failures or cancellations differs after these, so it isn't an indicator.
    private static let plain: [BenchScene] = [.good, .refused, .undecodable, .cancelledWhileWaiting]

    static func isIndicator(_ bench: AccessoryBench) async throws -> Bool {
        let (accessory, output) = try bench.make()
        let (before, gate) = (try await output(), Gate())
        let transport = BenchTransport { request, _ in
            try await gate.wait()
            return .text("ok", for: request)
        }
        let agent = bench.agent(transport, accessory)
        let task = Task { try? await agent.send(BenchRequest(), options: CallOptions()).value.status }
        try await gate.reached()
        let isOn = try await bench.filters.becomes(within: 20) { try await output() != before }
        gate.open()
        _ = await task.value
        if !isOn { return false }
        if try await !bench.filters.becomes(within: 50, { try await output() == before }) { return false }
        for scene in plain {
            let (accessory, output) = try bench.make()
            let before = try await output()
            _ = await scene.play(on: bench.agent(accessory))
            if try await !bench.filters.becomes(within: 50, { try await output() == before }) { return false }
        }
        return true
    }

    /// Equal calls at the same time must leave the same words as one after the other.
    static let crowd = AccessoryLaw(
        name: "law: equal calls at the same time leave the same words in the output as one after the other",
        advice: """
            Find what you keep for a call by `activity.id`. Label, method and URL are the same for many calls, so a \
            second call replaces the first.
            """, share: 1
    ) { bench, _, _ in
        let row = try await words(bench, isTogether: false)
        let again = try await words(bench, isTogether: false)
        let crowd = try await words(bench, isTogether: true)
        if row != again || row == crowd { return nil }
        let names = Set(row.keys).union(crowd.keys).filter { row[$0] != crowd[$0] }.sorted()
        func text(_ counts: [Substring: Int]) -> String {
            names.prefix(8).map { "\($0): \(counts[$0] ?? 0)" }.joined(separator: ", ")
        }
        return LawViolation(
            expected: "the words of three calls one after the other (\(text(row)))", came: text(crowd))
    }

    private static func words(_ bench: AccessoryBench, isTogether: Bool) async throws -> [Substring: Int] {
        let (accessory, output) = try bench.make()
        let gate = Gate()
        let transport = BenchTransport { request, _ in
            if isTogether { try await gate.wait() }
            return .text("ok", for: request)
        }
        let agent = bench.agent(transport, accessory)
        if isTogether {
            let tasks = (0..<3).map { _ in
                Task { try? await agent.send(BenchRequest(), options: CallOptions()).value.status }
            }
            try await transport.arrived(3)
            gate.open()
            for task in tasks { _ = await task.value }
        } else {
            for _ in 0..<3 { _ = try? await agent.send(BenchRequest(), options: CallOptions()).value.status }
        }
        try await bench.filters.pause()
        return words(of: try await output())
    }

    /// Returns how often each word occurs. Numbers, short units and plurals differ between equal calls.
    static func words(of text: String) -> [Substring: Int] {
        text.split { !$0.isLetter }.filter { $0.count > 2 }.reduce(into: [:]) { counts, word in
            counts[word.last == "s" ? word.dropLast() : word, default: 0] += 1
        }
    }

    /// An output that shows the bytes of a transfer must show as many if progress is reported more often.
    static let totals = AccessoryLaw(
        name: "law: an output that shows the bytes of a transfer doesn't depend on how often progress is reported",
        advice: """
            The numbers of a progress report are totals of the transfer so far. Keep the last report of each transfer, \
            and add the difference.
            """, share: 1
    ) { bench, _, _ in
        for isSent in [false, true] {
            let length = ProgressTransport.length
            let once = try await output(bench, ProgressTransport(reports: 1, isSent: isSent))
            let plain = try bench.make()
            let nothing = try await plain.output()
            guard shows(once, length), !shows(nothing, length) else { continue }
            let often = try await output(bench, ProgressTransport(reports: 8, isSent: isSent))
            if shows(often, length) { continue }
            return LawViolation(
                expected: "an output with the \(length) bytes of a transfer with eight reports",
                came: "\(often.prefix(200).debugDescription), and \(once.prefix(200).debugDescription) with one report")
        }
        return nil
    }

    /// An output that adds up the bytes of two transfers must show the same sum if they run at the same time.
    static let transfers = AccessoryLaw(
        name: "law: an output that adds up bytes shows the same sum for transfers at the same time",
        advice: """
            Keep the last report of each transfer by its `activity.id`, not in one variable for all.
            """, share: 1
    ) { bench, _, _ in
        let sum = 2 * ProgressTransport.length
        for isSent in [false, true] {
            let row = try await output(bench, ProgressTransport(reports: 8, isSent: isSent), calls: 2)
            if !shows(row, sum) { continue }
            let turns = ProgressTurns()
            let crowd = try await output(
                bench, ProgressTransport(reports: 8, isSent: isSent, turns: turns), calls: 2, isTogether: true)
            if shows(crowd, sum) { continue }
            return LawViolation(
                expected: "an output with the \(sum) bytes of two transfers at the same time",
                came:
                    "\(crowd.prefix(200).debugDescription), and \(row.prefix(200).debugDescription) one after the other"
            )
        }
        return nil
    }

    private static func output(
        _ bench: AccessoryBench, _ transport: ProgressTransport, calls: Int = 1, isTogether: Bool = false
    ) async throws -> String {
        let (accessory, output) = try bench.make()
        let agent = NetworkAgent(baseURL: FilterBench.origin, transport: transport, accessories: [accessory])
        await withTaskGroup { group in
            for _ in 0..<calls {
                group.addTask { _ = try? await agent.send(BenchRequest(), options: CallOptions()).value.status }
                if !isTogether { await group.waitForAll() }
            }
        }
        try await bench.filters.pause()
        return try await output()
    }

    /// Whether a text contains a number, with or without separators.
    static func shows(_ text: String, _ number: Int) -> Bool {
        let digits = "\(number)"
        let parts = [digits] + [",", ".", "'", " ", "_"].map { "\(digits.dropLast(3))\($0)\(digits.suffix(3))" }
        return parts.contains { part in
            text.ranges(of: part).contains { range in
                let before = text[..<range.lowerBound].last?.isNumber ?? false
                let after = text[range.upperBound...].first?.isNumber ?? false
                return !before && !after
            }
        }
    }

    /// What an accessory does because of the end of a call must not depend on the attempts before it.
    static let outcome = AccessoryLaw(
        name: "law: what depends on the end of a call doesn't depend on its attempts",
        advice: """
            A refused or lost attempt isn't the end of a call: a filter may renew a token, or try again. Act in \
            `didStop`, on its outcome, instead of in `received`. A cancellation is the caller's decision, not a failure.
            """, share: 1
    ) { bench, _, _ in
        if try await bench.outcomes(bench.make().0).isEmpty { return nil }
        var ends: [String] = []
        for scene in [BenchScene.good, .lost, .cancelledOnTheWire] {
            let (accessory, _) = try bench.make()
            _ = await scene.play(on: bench.agent(accessory))
            try await bench.filters.pause()
            ends.append(try await bench.outcomes(accessory))
        }
        if ends[0] != ends[1], ends[1] == ends[2] {
            return LawViolation(
                expected: "\(ends[0].prefix(100).debugDescription) after a call that its caller cancelled",
                came: "\(ends[2].prefix(100).debugDescription), as after a lost connection")
        }
        for end in [200, 401, 404, 503] {
            let plain = try await outcomes(bench, after: nil, end: end)
            for first in [302, 401, 403, 404, 429, 500, 503, 0] {
                let came = try await outcomes(bench, after: first, end: end)
                if came == plain { continue }
                let attempt = first == 0 ? "a lost connection" : "status \(first)"
                return LawViolation(
                    expected: "\(plain.prefix(100).debugDescription) after a call that ends with \(end)",
                    came: "\(came.prefix(100).debugDescription), if its first attempt ends with \(attempt)")
            }
        }
        return nil
    }

    /// - Parameter first: The status of the first attempt, or zero for a lost connection.
    private static func outcomes(_ bench: AccessoryBench, after first: Int?, end: Int) async throws -> String {
        let (accessory, _) = try bench.make()
        let transport = BenchTransport { request, index in
            guard index == 1, let first else { return .text("ok", status: end, for: request) }
            if first == 0 { throw ErrandError(.connectionLost, "cut") }
            return HTTPResponse(to: request, status: first, headers: first == 302 ? [.location: "there"] : [:])
        }
        let again = ClosureFilter(.call) { exchange, next in
            let staged = exchange.stagedWorkCount
            do {
                let response = try await next(exchange)
                if first == nil || first == 302 { return response }
                await exchange.discard(response)
            } catch {
                if first != 0 { throw error }
            }
            await exchange.discardStagedWork(after: staged)
            return try await next(exchange)
        }
        let agent = bench.filters.agent(transport, outside: [again], filter: nil, accessories: [accessory])
        var request = BenchRequest()
        request.acceptableStatuses = .successful
        _ = try? await agent.send(request, options: CallOptions()).value.status
        try await bench.filters.pause()
        return try await bench.outcomes(accessory)
    }

    /// A call that the accessory sends must not make it send another one, and so on.
    static let echo = AccessoryLaw(
        name: "law: the requests that the accessory sends don't make it send more and more",
        advice: """
            Your own calls cause events, too. Recognize them, for example by a tag, or send them with an agent without \
            the accessory.
            """, share: 1
    ) { bench, _, patience in
        for end in ["a response", "a refusal", "an error"] {
            let (accessory, _) = try bench.make()
            let transport = BenchTransport { request, index in
                // Keeps a flood from growing.
                if index > most { try await Gate().wait() }
                switch end {
                case "an error": throw ErrandError(.connectionLost, "cut")
                case "a refusal": return HTTPResponse(to: request, status: 503)
                default: return .text("ok", for: request)
                }
            }
            let agent = bench.agent(transport, accessory)
            bench.attach(accessory, agent)
            var request = BenchRequest()
            request.acceptableStatuses = .successful
            _ = try? await agent.send(request, options: CallOptions()).value.status
            var (count, idle) = (0, 0)
            while idle < Int(patience / .milliseconds(1)) * 4, count <= most {
                try await Task.sleep(for: .milliseconds(1))
                let now = transport.arrivals.count
                (count, idle) = (now, now == count ? idle + 1 : 0)
            }
            agent.cancelAll()
            if count <= most { continue }
            return LawViolation(
                expected: "a few requests of the accessory after a call that ends with \(end)",
                came: "\(most) requests, and more")
        }
        return nil
    }

    private static let most = 60
}

/// Responds with a body of a recognizable length, and reports its progress in steps.
private struct ProgressTransport: Transport {
    static let length = 40_013

    let reports: Int
    var isSent = false
    /// Makes two transfers report in turns.
    var turns: ProgressTurns?

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        for step in 1...reports {
            try await turns?.wait(for: step)
            let count = Int64(step == reports ? Self.length : Self.length / reports * step)
            let total = Int64(Self.length)
            options.report(
                .progress(
                    isSent
                        ? TransferProgress(sent: count, totalToSend: total)
                        : TransferProgress(received: count, totalToReceive: total)))
        }
        try await turns?.wait(for: reports + 1)
        return HTTPResponse(
            to: request, status: 200, body: isSent ? .empty : HTTPBody(Data(count: Self.length)))
    }
}

/// Opens a step when both transfers have arrived at it.
private final class ProgressTurns: Sendable {
    private let arrivals = Watched<[Int: Int]>([:])

    func wait(for step: Int) async throws {
        arrivals.update { $0[step, default: 0] += 1 }
        try await arrivals.wait(for: "both transfers", within: .seconds(60)) { $0[step, default: 0] >= 2 ? () : nil }
    }
}
