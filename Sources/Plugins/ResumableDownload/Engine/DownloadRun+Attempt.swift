import Errand
import ErrandSupport
import ErrandTransfers

extension DownloadRun {
    /// One attempt: one request, or several side by side.
    @concurrent func attempt(_ plan: AttemptPlan) async throws -> Outcome {
        let wasComplete = file.plan.isDone && file.representation != nil
        let lacksLength = file.plan.total == nil && file.representation?.validator != nil
        if wasComplete || lacksLength {
            // An earlier run received everything and was ended before it could finish, or only the end of a body without a
            // length was lost: one byte shows whether the file has changed, and how long it is.
            try file.change { $1.reopen() }
        }
        meter.begin(at: file.plan.received, total: file.plan.total)
        let mayRequestRanges = plan.usesRanges && isRepeatable
        guard file.plan.received > 0 else {
            if mayRequestRanges && plan.segments > 1 { return try await probe(plan) }
            return try await transfer(part: 0, inquiry(), plan)
        }
        guard mayRequestRanges, file.representation?.validator != nil else {
            try startOver()
            return try await transfer(part: 0, inquiry(), plan)
        }
        return try await segments(plan)
    }

    private func inquiry(_ range: Inquiry.Range? = nil, known: Representation? = nil) -> Inquiry {
        Inquiry(range: range, known: known, joinsSources: order.checksum != nil)
    }

    /// Requests the first bytes: the response says whether there may be several segments.
    private func probe(_ plan: AttemptPlan) async throws -> Outcome {
        let last = max(1, options.minimumSegmentBytes) - 1
        let outcome = try await transfer(part: 0, inquiry(.init(first: 0, last: last)), plan)
        guard case .whole = outcome, !file.plan.isDone else { return outcome }
        return try await segments(plan)
    }

    /// Fetches the missing bytes, in several segments if the plan allows them. A segment that fails leaves its part to the
    /// others, and the attempt ends with the first failure.
    private func segments(_ plan: AttemptPlan) async throws -> Outcome {
        let minimum = max(1, options.minimumSegmentBytes)
        if plan.segments > 1 || file.plan.parts.count > 1 {
            try file.change { $1.split(into: plan.segments, minimum: minimum) }
        }
        let scheduler = SegmentScheduler(file, minimum: minimum, segments: plan.segments, time: exchange.time)
        let workers = min(plan.segments, scheduler.openCount)
        let results = await withTaskGroup(of: SegmentResults.Element.self) { group in
            for _ in 0..<workers {
                group.addTask {
                    do { return .ended(try await worker(scheduler, plan)) } catch { return .failed(error) }
                }
            }
            if workers > 1 {
                group.addTask {
                    try? await scheduler.supervise()
                    return .supervisor
                }
            }
            var results = SegmentResults()
            while results.count < workers, let result = await group.next() {
                if results.add(result) { group.cancelAll() }
            }
            group.cancelAll()
            return results
        }
        return try results.outcome(isDone: file.plan.isDone)
    }

    /// Takes parts until none is left. A worker that fails returns its part. Nil if others fetched everything.
    private func worker(_ scheduler: SegmentScheduler, _ plan: AttemptPlan) async throws -> Outcome? {
        var response: HTTPResponse?
        let start = exchange.time.now
        var fetched: Int64 = 0
        func rate() -> Double {
            let seconds = start.duration(to: exchange.time.now) / .seconds(1)
            if fetched == 0 { return 0 }
            return seconds > 0 ? Double(fetched) / seconds : .infinity
        }
        while let claim = try await scheduler.take(rate: rate()) {
            defer { scheduler.giveBack(claim) }
            let before = file.part(claim.start)?.done ?? 0
            switch try await fetch(claim, plan) {
            case nil: break
            case .whole(let last)?: response = last
            case let other?: return other
            }
            fetched += (file.part(claim.start)?.done ?? before) - before
            if file.plan.isDone { break }
        }
        return response.map { .whole($0) }
    }

    /// Requests a part until it is complete. Nil if another segment has taken all of it.
    private func fetch(_ claim: SegmentClaim, _ plan: AttemptPlan) async throws -> Outcome? {
        var requests = 0
        var response: HTTPResponse?
        while let part = file.part(claim.start), !part.isDone {
            // A server may send less than requested, but not endlessly, and not nothing.
            requests += 1
            if requests > 100 { throw ErrandError(.truncated, "the server sends the range in ever smaller pieces") }
            let last = part.end == file.plan.total ? nil : part.end.map { $0 - 1 }
            let inquiry = inquiry(.init(first: part.next, last: last), known: file.representation)
            do {
                let outcome = try await transfer(part: claim.start, inquiry, plan, claim)
                guard case .whole(let last) = outcome else { return outcome }
                response = last
            } catch {
                // Another segment has taken the rest, or the request is to be sent again.
                if claim.takeInterrupt(), !Task.isCancelled { continue }
                throw error
            }
            if claim.takeInterrupt() { continue }
            if let now = file.part(claim.start), !now.isDone, now.done == part.done {
                throw ErrandError(.truncated, "the server sent no byte of the range", response: response)
            }
        }
        return response.map { .whole($0) }
    }

    /// Whether Core will reject the response for its content type, so that its body need not be fetched.
    func isUnwanted(_ response: HTTPResponse) -> Bool {
        let accepted = request.acceptableContentTypes
        guard accepted != .any, let type = response.mediaType else { return false }
        return !accepted.contains(type)
    }
}

/// The ends of the segments of one attempt.
private struct SegmentResults {
    enum Element: Sendable {
        case ended(DownloadRun.Outcome?)
        case failed(any Error)
        case supervisor
    }

    private(set) var count = 0
    private var whole: HTTPResponse?
    /// An outcome that ends all segments.
    private var decision: DownloadRun.Outcome?
    private var other: DownloadRun.Outcome?
    private var failure: (any Error)?

    /// Adds the end of a segment, and returns whether the other segments have to end too.
    mutating func add(_ element: Element) -> Bool {
        switch element {
        case .supervisor: return false
        case .ended(let outcome):
            count += 1
            switch outcome {
            case nil: return false
            case .whole(let response)?: whole = response
            case .refused?, .elsewhere?: other = other ?? outcome
            case .startOver?, .damaged?, .coded?:
                decision = decision ?? outcome
                return true
            }
            return false
        case .failed(let error):
            count += 1
            failure = failure ?? error
            return !TransferRetries.isTemporary(error)
        }
    }

    func outcome(isDone: Bool) throws -> DownloadRun.Outcome {
        if let decision { return decision }
        if isDone, let whole { return .whole(whole) }
        if let failure { throw failure }
        if let other { return other }
        throw ErrandError(.connectionLost, "every segment ended before the file was complete")
    }
}
