import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// Laws about an accessory that observes different calls in turns, and several transfers of a call.
extension AccessoryLaw {
    /// Two different calls must leave the same output, whether their events alternate or not.
    static let turns = AccessoryLaw(
        name: "law: two different calls leave the same output if their events alternate",
        advice: """
            Find what you keep for a call by `activity.id`. A property, or a table by host, URL or label, mixes up calls \
            that run at the same time.
            """, share: 1
    ) { bench, _, patience in
        let calls = await RecordedCall.all(bench)
        for (first, second) in RecordedCall.pairs {
            guard let one = calls[first]?.0, let other = calls[second]?.0, let oneAgain = calls[first]?.1,
                let otherAgain = calls[second]?.1
            else { continue }
            let alternating = [
                one.alternating(with: other, 1), one.around(other), other.around(one), one.alternating(with: other, 3),
            ]
            // Equal calls show the words that depend on running calls, such as the words of a log of an indicator.
            let rows = [
                one + other, other + one, one + other, one + oneAgain, one.around(oneAgain), other + otherAgain,
                other.around(otherAgain),
            ]
            let counts = try await tokens(bench, rows + alternating, patience)
            for (index, turns) in counts.dropFirst(rows.count).enumerated() {
                let names = Set(counts[0].keys).union(turns.keys).filter { name in
                    func count(_ row: Int) -> Int { counts[row][name] ?? 0 }
                    return count(0) == count(1) && count(0) == count(2) && count(3) == count(4) && count(5) == count(6)
                        && count(0) != turns[name] ?? 0
                }
                if names.isEmpty { continue }
                // A number can be a time by chance, so the same difference must occur again.
                let again = try await tokens(bench, [rows[0], alternating[index]], patience)
                let confirmed = names.filter { again[0][$0] == counts[0][$0] && again[1][$0] == turns[$0] }
                guard let name = confirmed.min() else { continue }
                let moment = index == 0 || index == 3 ? "their events alternate" : "one runs during the other"
                return LawViolation(
                    expected: "\(name.debugDescription) \(counts[0][name] ?? 0) times in the output after a call "
                        + "(\(first.rawValue)) and another (\(second.rawValue))",
                    came: "\(turns[name] ?? 0) times, if \(moment)")
            }
        }
        return nil
    }

    /// Returns how often each word occurs in the outputs after events. Of the numbers, only the statuses of the calls
    /// count, because others can be times.
    private static func tokens(
        _ bench: AccessoryBench, _ rows: [[BenchForwarder.Event]], _ pause: Duration
    ) async throws -> [[Substring: Int]] {
        try await withThrowingTaskGroup { group in
            for (index, events) in rows.enumerated() {
                group.addTask {
                    let (accessory, output) = try bench.make()
                    for each in events { accessory.activity(each.activity, did: each.event) }
                    let text = try await settled(bench, output, pause)
                    let tokens: [Substring] = text.split { !$0.isLetter && !$0.isNumber }.filter { token in
                        statuses.contains(token) || token.count > 2 && token.allSatisfy(\.isLetter)
                    }
                    return (index, tokens.reduce(into: [:]) { $0[$1, default: 0] += 1 })
                }
            }
            var all = [[Substring: Int]](repeating: [:], count: rows.count)
            for try await (index, counts) in group { all[index] = counts }
            return all
        }
    }

    private static let statuses: Set<Substring> = ["302", "404", "503"]

    /// A sum of bytes must contain all transfers of a call.
    static let repeats = AccessoryLaw(
        name: "law: an output that adds up bytes also contains the transfers of a call that is repeated",
        advice: """
            A retry or a redirect begins a new transfer, whose numbers begin at zero. Keep the last report with its \
            `transfer`, and begin again if the number differs.
            """, share: 1
    ) { bench, _, _ in
        for isSent in [false, true] {
            for (first, second) in [(40_013, 20_023), (20_023, 40_013), (30_011, 30_011)] {
                func shown(_ steps: [TransferSteps.Step], _ numbers: Int...) async throws -> (Bool, String) {
                    let text = try await output(bench, TransferSteps(steps, isSent: isSent))
                    return (numbers.contains { shows(text, $0) }, text)
                }
                let (lost, good) = (TransferSteps.Step(first, .lost), TransferSteps.Step(second, .good))
                // Only a sum that contains the bytes of failed calls must contain the bytes of failed attempts.
                guard try await shown([lost], first).0, try await shown([good], second).0,
                    try await shown([lost, .nextCall, good], first + second).0
                else { continue }
                let (isWhole, came) = try await shown([lost, good], first + second)
                if !isWhole {
                    return LawViolation(
                        expected:
                            "an output with the \(first + second) bytes of two attempts of a call, as after two calls",
                        came: came.prefix(200).debugDescription)
                }
                let moved = TransferSteps.Step(first, .redirected)
                let (isSum, text) = try await shown([moved, good], first + second, second)
                if !isSum {
                    return LawViolation(
                        expected: "an output with the \(first + second) bytes of a redirect and its target, or the "
                            + "\(second) bytes of the target",
                        came: text.prefix(200).debugDescription)
                }
            }
        }
        return nil
    }

    private static func output(_ bench: AccessoryBench, _ steps: TransferSteps) async throws -> String {
        let (accessory, output) = try bench.make()
        let again = ClosureFilter(.call) { exchange, next in
            do { return try await next(exchange) } catch {
                if !steps.isRepeating { throw error }
                return try await next(exchange)
            }
        }
        let agent = NetworkAgent(
            baseURL: FilterBench.origin, transport: steps, filters: [again], accessories: [accessory])
        for _ in 0..<steps.calls {
            _ = try? await agent.send(BenchRequest(), options: CallOptions()).value.status
        }
        try await bench.filters.pause()
        return try await output()
    }
}

extension [BenchForwarder.Event] {
    /// Returns these events and others in turns of this many.
    fileprivate func alternating(with others: Self, _ count: Int) -> Self {
        var all: Self = []
        for start in stride(from: 0, to: Swift.max(self.count, others.count), by: count) {
            all += dropFirst(start).prefix(count) + others.dropFirst(start).prefix(count)
        }
        return all
    }

    /// Returns the others before the last third of these events.
    fileprivate func around(_ others: Self) -> Self {
        let count = self.count * 2 / 3
        return prefix(count) + others + dropFirst(count)
    }
}

/// A call whose events are recorded. All calls have the same method and path, except for `posted`.
private enum RecordedCall: String, CaseIterable {
    case good = "a success", refused = "a 404", failed = "a 503", lost = "a lost connection"
    case unreachable = "a host that can't be reached", elsewhere = "a success of another host"
    case repeated = "a success after a 503", redirected = "a success after a redirect", posted = "an upload"

    static let pairs: [(RecordedCall, RecordedCall)] = [
        (.good, .refused), (.refused, .lost), (.refused, .failed), (.unreachable, .refused), (.good, .elsewhere),
        (.elsewhere, .failed), (.repeated, .good), (.redirected, .refused), (.posted, .good), (.repeated, .lost),
        (.redirected, .repeated),
    ]

    /// Returns the events of each call, recorded twice.
    static func all(
        _ bench: AccessoryBench
    ) async -> [RecordedCall: ([BenchForwarder.Event], [BenchForwarder.Event])] {
        var all: [RecordedCall: ([BenchForwarder.Event], [BenchForwarder.Event])] = [:]
        for call in allCases { all[call] = (await call.events(bench), await call.events(bench)) }
        return all
    }

    private func events(_ bench: AccessoryBench) async -> [BenchForwarder.Event] {
        let forwarder = BenchForwarder(BenchWitness(maximumBodyBytes: 1_000), keepsEvents: true)
        let transport = BenchTransport(keepsArrivals: false, reports: true) { request, index in
            switch self {
            case .refused: return .text("nowhere", status: 404, for: request)
            case .failed: return .text("busy", status: 503, for: request)
            case .lost: throw ErrandError(.connectionLost, "cut")
            case .unreachable: throw ErrandError(.cannotConnect, "down")
            case .repeated where index == 1: return .text("busy", status: 503, for: request)
            case .redirected where index == 1:
                return HTTPResponse(to: request, status: 302, headers: [.location: "\(FilterBench.origin)/v1/there"])
            default: return .text("fine", for: request)
            }
        }
        let again = ClosureFilter(.call) { exchange, next in
            let first = try await next(exchange)
            if self != .repeated || first.status != 503 { return first }
            await exchange.discard(first)
            return try await next(exchange)
        }
        let agent = bench.filters.agent(transport, outside: [again], filter: nil, accessories: [forwarder])
        var request = BenchRequest()
        request.acceptableStatuses = .successful
        if self == .elsewhere { request.path = "https://other.example/v1/items" }
        if self == .posted { (request.method, request.body) = (.post, .text("conformance")) }
        _ = try? await agent.send(request, options: CallOptions()).value.status
        return forwarder.events
    }
}

/// A transport that reports the progress of transfers, and then responds or fails.
private final class TransferSteps: Transport {
    enum End { case good, lost, redirected }

    struct Step {
        let length: Int
        let end: End

        init(_ length: Int, _ end: End) { (self.length, self.end) = (length, end) }

        /// Ends a call.
        static let nextCall = Step(0, .good)
    }

    let calls: Int
    /// Whether a lost transfer is followed by another in the same call.
    let isRepeating: Bool
    private let steps: [Step]
    private let isSent: Bool
    private let index = Atomic(0)

    init(_ steps: [Step], isSent: Bool) {
        (self.steps, self.isSent) = (steps.filter { $0.length > 0 }, isSent)
        calls = 1 + steps.count { $0.length == 0 }
        isRepeating = calls == 1 && steps.count > 1
    }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let step = steps[min(index.add(1, ordering: .relaxed).oldValue, steps.count - 1)]
        for part in 1...4 {
            let count = Int64(part == 4 ? step.length : step.length / 4 * part)
            options.report(
                .progress(
                    isSent
                        ? TransferProgress(sent: count, totalToSend: Int64(step.length))
                        : TransferProgress(received: count, totalToReceive: Int64(step.length))))
        }
        switch step.end {
        case .lost: throw ErrandError(.connectionLost, "cut")
        case .redirected:
            return HTTPResponse(
                to: request, status: 302, headers: [.location: "there"],
                body: isSent ? .empty : HTTPBody(Data(count: step.length)))
        case .good:
            return HTTPResponse(to: request, status: 200, body: isSent ? .empty : HTTPBody(Data(count: step.length)))
        }
    }
}
