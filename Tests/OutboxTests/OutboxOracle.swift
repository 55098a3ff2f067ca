import Errand
import ErrandTesting
import Foundation
import Synchronization

/// The server for `errand-outbox-process oracle`. It collects everything its processes print, and reports
/// contradictions.
final class OutboxOracle: Sendable {
    /// The body of a request, as the program sends it.
    private struct Work: Decodable, Hashable {
        let kind: String
        let lane: String
        let numbers: [Int]
        let after: [Int]
        let isEdited: Bool
    }

    private struct Arrival {
        let work: Work
        let key: String
        let status: Int
    }

    private struct State {
        var arrivals: [Arrival] = []
        var seen: Set<String> = []
        var operations = 0
        /// The kind and lane of each number, in the order of enqueueing.
        var enqueued: [(number: Int, kind: String, lane: String)] = []
        /// The entries of acknowledged numbers.
        var stored: [Int: UInt64] = [:]
        var failed: [Int: String] = [:]
        var removed: Set<UInt64> = []
        /// Each interruption (a kill or a full disk) allows as many repeated requests as are sent concurrently.
        var interruptions = 0
        var lostResponses = 0
    }

    private let state = Mutex(State())

    var operationCount: Int { state.withLock { $0.operations } }
    var arrivalCount: Int { state.withLock { $0.arrivals.count } }
    var workCount: Int { state.withLock { $0.arrivals.count { $0.status == 200 } } }

    var summary: String {
        state.withLock { state in
            """
            \(state.operations) operations, \(state.stored.count) acknowledged, \(state.failed.count) refused by the disk, \
            \(state.removed.count) removed; \(state.arrivals.count) requests with \(state.seen.count) keys
            """
        }
    }

    /// Processes a request, or fails in one of many ways.
    func respond(to request: RecordedRequest) -> TestResponse {
        guard let work = try? request.json(Work.self), let number = work.numbers.first else { return .status(400) }
        let key = request.headers[.idempotencyKey] ?? ""
        return state.withLock { state in
            func answer(_ status: Int) -> TestResponse {
                state.arrivals.append(Arrival(work: work, key: key, status: status))
                return .status(status)
            }
            let isNew = state.seen.insert(key).inserted
            switch Int.random(in: 0..<20) {
            case 0: return .status(503)
            case 1: return .status(200).resetting(afterBytes: 0)
            // The work is done, but the client doesn't get the response.
            case 2 where !Self.isRefused(number, work):
                state.lostResponses += 1
                return answer(200).closing(afterBytes: 0)
            case 3 where isNew: return answer(423)
            default: break
            }
            if work.kind == "note", number % 13 == 5 { return answer(409) }
            return answer(Self.isRefused(number, work) ? 422 : 200)
        }
    }

    /// Returns whether the server refuses a request: some notes always, and other requests until the outbox's handler
    /// has edited them.
    private static func isRefused(_ number: Int, _ work: Work) -> Bool {
        work.kind == "note" && number % 13 == 5 || number % 11 == 3 && !work.isEdited
    }

    /// Reads the output of a process that was killed.
    func read(_ text: String) {
        state.withLock { $0.interruptions += 1 }
        // The kill may have cut the last line.
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            let words = line.split(separator: " ").map(String.init)
            state.withLock { state in
                switch words.first {
                case "enqueue":
                    state.operations += 1
                    state.enqueued.append((Int(words[1]) ?? 0, words[2], words[3]))
                case "stored": state.stored[Int(words[1]) ?? 0] = UInt64(words[2])
                case "failed": state.failed[Int(words[1]) ?? 0] = words[2]
                case "remove":
                    state.operations += 1
                    state.removed.insert(UInt64(words[1]) ?? 0)
                case "limit": state.interruptions += 1
                default: break
                }
            }
        }
    }

    /// Returns all contradictions. Call it once everything is sent.
    func problems() -> [String] {
        let state = state.withLock { $0 }
        var problems: [String] = []
        // A number counts as processed when its first key is.
        var (worked, settled, contents) = ([Int: (at: Int, key: String)](), [Int: Int](), [String: Work]())
        for (index, arrival) in state.arrivals.enumerated() {
            if contents.updateValue(arrival.work, forKey: arrival.key) ?? arrival.work != arrival.work {
                problems.append("key \(arrival.key) has two contents")
            }
            for number in arrival.work.numbers {
                if [200, 409].contains(arrival.status) { settled[number] = settled[number] ?? index }
                guard arrival.status == 200 else { continue }
                if let before = worked[number] {
                    if before.key != arrival.key { problems.append("\(number) has two keys: \(arrival.work)") }
                } else {
                    worked[number] = (index, arrival.key)
                    if let code = state.failed[number] { problems.append("\(number) was sent after \(code)") }
                    problems += arrival.work.after.filter { settled[$0] == nil && !isRemoved($0, state) }
                        .map { "\(number) was sent before \($0)" }
                }
            }
        }
        let repeats = state.arrivals.count { $0.status == 200 } - Set(worked.values.map(\.key)).count
        if repeats > state.lostResponses + 6 * state.interruptions {
            problems.append("\(repeats) requests were repeated")
        }
        for code in state.failed.values where code != "noSpace" { problems.append("a failure is \(code)") }
        for lane in Dictionary(grouping: state.enqueued, by: { $0.kind + $0.lane }).values {
            let numbers = lane.map(\.number)
            switch lane[0].kind {
            case "note": problems += Self.overtaking(numbers, settled, state) + Self.lost(numbers, settled, state)
            case "cart": problems += Self.lost(numbers, settled, state)
            default:
                let (stored, sent) = (numbers.last { state.stored[$0] != nil }, numbers.filter { worked[$0] != nil })
                if let stored, sent.last ?? -1 < stored { problems.append("draft \(stored) is lost") }
                let order = sent.compactMap { worked[$0]?.at }
                if order != order.sorted() { problems.append("drafts are out of order: \(sent)") }
            }
        }
        return problems
    }

    private func isRemoved(_ number: Int, _ state: State) -> Bool {
        state.stored[number].map(state.removed.contains) ?? false
    }

    /// Reports the numbers that never arrived.
    private static func lost(_ numbers: [Int], _ settled: [Int: Int], _ state: State) -> [String] {
        numbers.filter { number in
            guard settled[number] == nil, let id = state.stored[number] else { return false }
            return !state.removed.contains(id)
        }.map { number in
            let arrivals = state.arrivals.filter { $0.work.numbers.contains(number) }
            return "\(number) is lost: entry \(state.stored[number] ?? 0), arrived as \(arrivals)"
        }
    }

    /// Reports a lane's notes that arrived before an older entry.
    private static func overtaking(_ numbers: [Int], _ settled: [Int: Int], _ state: State) -> [String] {
        let entries = numbers.compactMap { number in state.stored[number].map { (id: $0, number: number) } }
        var problems = Set(entries.map(\.id)).count < entries.count ? ["two entries have one number"] : []
        var latest = -1
        for entry in entries.sorted(by: { $0.id < $1.id }) where !state.removed.contains(entry.id) {
            guard let index = settled[entry.number] else { continue }
            if index < latest { problems.append("\(entry) overtook an older one") }
            latest = max(latest, index)
        }
        return problems
    }
}
