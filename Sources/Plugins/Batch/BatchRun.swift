public import Errand
import ErrandStates

/// One run of a batch. Its workers take parts from the ledger one by one, so a waiting part doesn't need a task.
struct BatchRun<Part: Sendable, Success: Sendable>: Sendable {
    private let batch: Batch<Part, Success>
    private let agent: ScopedAgent
    private let parts: BatchParts<Part, Success>
    private let progress: BatchProgress
    private let outcomes: BatchOutcomes<Part>
    private let channel: BatchChannel<Part>?

    init(_ batch: Batch<Part, Success>, on agent: ScopedAgent, channel: BatchChannel<Part>? = nil) {
        (self.batch, self.agent, self.channel) = (batch, agent, channel)
        parts = batch.parts()
        progress = BatchProgress(agent.activity, count: batch.count, needsOne: batch.rule == .firstSuccess)
        outcomes = BatchOutcomes(
            BatchLedger(batch.rule, count: batch.count), count: channel == nil ? batch.count : 0)
    }

    func output() async throws -> Success {
        try await carryOut()
        return try parts.gather(outcomes)
    }

    func carryOut() async throws {
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<min(batch.maximumConcurrent, batch.count) { group.addTask { await work() } }
            for await goesOn in group where !goesOn { group.cancelAll() }
        }
        await progress.allReported()
        if agent.activity.isCancelled { throw CancellationError() }
        try outcomes.check()
    }

    /// Runs parts until the ledger is empty. Returns `false` if the other workers should be cancelled.
    private func work() async -> Bool {
        while !Task.isCancelled, let index = outcomes.take() {
            let (output, failure) = await send(index)
            // This is done outside the lock, because it runs the request's code.
            let name = failure == nil ? nil : parts.name(index)
            let (counts, isDecided) = outcomes.end(index, output: output, failure: failure, name: name)
            progress.end(index, isSuccess: failure == nil)
            if counts, let channel, batch.rule != .failFast || !isDecided {
                let error = failure ?? CancellationError()
                await channel.put((index, output.map { .success($0) } ?? .failure(error)))
            }
            if isDecided { return false }
        }
        return true
    }

    private func send(_ index: Int) async -> (output: Part?, failure: (any Error)?) {
        progress.begin(index)
        let options = CallOptions(progress: listener(of: index))
        do { return (try await parts.send(index, agent, options), nil) } catch { return (nil, error) }
    }

    private func listener(of index: Int) -> @Sendable (TransferProgress) -> Void {
        let whole = progress.listener(of: index)
        guard let each = batch.eachProgress else { return whole }
        return { progress in
            whole(progress)
            each(index, progress)
        }
    }
}

struct BatchProgress: Sendable {
    private let reporter: ProgressReporter<ProgressSum>

    init(_ activity: Activity, count: Int, needsOne: Bool) {
        reporter = ProgressReporter(ProgressSum(count: count, needsOne: needsOne), of: activity, progress: \.whole)
    }

    func begin(_ index: Int) { reporter.update(reporting: false) { $0.begin(index) } }

    func end(_ index: Int, isSuccess: Bool) { reporter.update { $0.end(index, isSuccess: isSuccess) } }

    func allReported() async { await reporter.allReported() }

    func listener(of index: Int) -> @Sendable (TransferProgress) -> Void {
        { [reporter] part in reporter.update { $0.update(index, part) } }
    }
}

/// The combined progress of a batch's parts. It never decreases.
///
/// How the fraction is computed depends on the totals that the parts have reported:
///
/// - If every part's total is known, or at least every part's total to send, the fraction counts bytes.
/// - Otherwise, the fraction counts completed parts, and adds the fractions of running parts.
/// - For the policy `.firstSuccess`, the fraction is the largest fraction of any part.
struct ProgressSum: Sendable {
    private struct Part {
        var bytes = Bytes()
        var fraction = 0.0
        var isKnown = false
        var isUploadKnown = false
    }

    private struct Bytes {
        var sent: Int128 = 0
        var totalToSend: Int128 = 0
        var received: Int128 = 0
        var totalToReceive: Int128 = 0

        static func += (a: inout Bytes, b: Bytes) { a.add(b, 1) }
        static func -= (a: inout Bytes, b: Bytes) { a.add(b, -1) }

        private mutating func add(_ other: Bytes, _ sign: Int128) {
            sent += sign * other.sent
            totalToSend += sign * other.totalToSend
            received += sign * other.received
            totalToReceive += sign * other.totalToReceive
        }

        var fraction: Double {
            let total = totalToSend + totalToReceive
            return total > 0 ? min(1, Double(sent + received) / Double(total)) : 0
        }

        var uploaded: Double { totalToSend > 0 ? min(1, Double(sent) / Double(totalToSend)) : 0 }
    }

    private let count: Int
    private let needsOne: Bool
    private var running: [Int: Part] = [:]
    private var ended = 0
    private var bytes = Bytes()
    private var fractions = 0.0
    private var known = 0
    private var uploadsKnown = 0
    private var furthest = 0.0

    init(count: Int, needsOne: Bool) { (self.count, self.needsOne) = (count, needsOne) }

    var runningCount: Int { running.count }

    mutating func begin(_ index: Int) { running[index] = Part() }

    mutating func update(_ index: Int, _ progress: TransferProgress) {
        change(index) { part in
            part.bytes.sent = max(part.bytes.sent, Int128(progress.sent))
            part.bytes.received = max(part.bytes.received, Int128(progress.received))
            part.bytes.totalToSend = max(Int128(progress.totalToSend ?? 0), part.bytes.sent)
            part.bytes.totalToReceive = max(Int128(progress.totalToReceive ?? 0), part.bytes.received)
            part.isKnown = progress.totalToReceive != nil
            part.isUploadKnown = part.isKnown || progress.totalToSend != nil
            let reported = progress.fraction.map { $0.isFinite ? min(max($0, 0), 1) : 0 }
            let isMeasured = part.isKnown || progress.totalToSend != nil
            part.fraction = max(part.fraction, reported ?? (isMeasured ? part.bytes.fraction : 0))
        }
    }

    mutating func end(_ index: Int, isSuccess: Bool) {
        let isDone = isSuccess || !needsOne
        let isRunning = change(index, isLast: true) { part in
            part.bytes.totalToSend = part.bytes.sent
            part.bytes.totalToReceive = part.bytes.received
            (part.isKnown, part.isUploadKnown) = (true, true)
            if isDone { part.fraction = 1 }
        }
        if isRunning { ended += 1 }
    }

    @discardableResult
    private mutating func change(_ index: Int, isLast: Bool = false, _ body: (inout Part) -> Void) -> Bool {
        guard var part = isLast ? running.removeValue(forKey: index) : running[index] else { return false }
        bytes -= part.bytes
        fractions -= part.fraction
        known -= part.isKnown ? 1 : 0
        uploadsKnown -= part.isUploadKnown ? 1 : 0
        body(&part)
        bytes += part.bytes
        fractions += part.fraction
        known += part.isKnown ? 1 : 0
        uploadsKnown += part.isUploadKnown ? 1 : 0
        if !isLast { running[index] = part }
        let isByBytes = known == count && bytes.totalToSend + bytes.totalToReceive > 0
        let isByUpload = uploadsKnown == count && bytes.totalToSend > 0
        let now =
            needsOne
            ? part.fraction
            : isByBytes ? bytes.fraction : isByUpload ? bytes.uploaded : fractions / Double(max(count, 1))
        furthest = max(furthest, min(now, 1))
        return true
    }

    /// The progress of the whole batch. A total in it is `nil` until all parts have reported theirs.
    var whole: TransferProgress {
        let isKnown = known == count
        let isDone = ended == count && !needsOne
        return TransferProgress(
            sent: Int64(clamping: bytes.sent),
            totalToSend: uploadsKnown == count ? Int64(clamping: bytes.totalToSend) : nil,
            received: Int64(clamping: bytes.received),
            totalToReceive: isKnown ? Int64(clamping: bytes.totalToReceive) : nil, fraction: isDone ? 1 : furthest)
    }
}

extension ActivityKind {
    /// The kind of activity that is a run of a batch.
    public static let batch = ActivityKind(rawValue: "batch")
}
