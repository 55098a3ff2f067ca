import Errand
import ErrandDigests
import ErrandEssentials
import ErrandHTTPFields
import ErrandSupport
import ErrandTransfers

/// One run of a download. It makes attempts until the file is complete or another attempt wouldn't help.
struct DownloadRun: Sendable {
    let order: DownloadOrder
    let next: Next
    let file: PartialFile
    let digest: FileDigest

    var request: any DownloadRequest { order.request }
    var exchange: Exchange { order.exchange }
    var options: DownloadOptions { order.options }
    var destination: Destination { order.destination }
    var meter: TransferMeter { order.meter }
    var control: TransferControl { order.control }
    var isRepeatable: Bool { order.isRepeatable }

    struct AttemptPlan: Sendable {
        var usesRanges = true
        var segments: Int
        var decodes: Bool
    }

    enum Outcome: Sendable {
        case whole(HTTPResponse)
        case refused(HTTPResponse)
        case startOver(String, ranges: Bool)
        case damaged(TransferError)
        /// The response has a content coding that wasn't requested.
        case coded(String)
        /// The response comes from this URL, which has the rest of the file. The bytes on disk come from another
        /// source.
        case elsewhere(URL)
    }

    init(_ order: DownloadOrder, file: PartialFile, next: Next) {
        (self.order, self.file, self.next) = (order, file, next)
        digest = FileDigest(expected: order.checksum)
    }

    func run() async throws -> HTTPResponse {
        do {
            let response = try await attemptUntilComplete()
            if response.body.file != nil {
                await meter.allDelivered()
                return response
            }
            // A file with the status 404 may be available again later. 410 is permanent, so the bytes on disk are
            // removed (RFC 9110, sections 15.5.5 and 15.5.11).
            if response.status == 410 { file.remove() } else { removeUnlessResumable() }
            await stop()
            return response
        } catch {
            removeUnlessResumable()
            await stop()
            throw error
        }
    }

    private func stop() async {
        meter.set(.interrupted)
        await meter.allDelivered()
    }

    private func removeUnlessResumable() {
        if file.plan.received == 0 || file.representation?.validator == nil || !isRepeatable { file.remove() }
    }

    private func attemptUntilComplete() async throws -> HTTPResponse {
        var state = RunState(
            plan: AttemptPlan(segments: order.segments, decodes: !isRepeatable), retry: TransferRetries(options.retry),
            mark: HighWaterMark(file))
        if file.plan.received > 0, file.representation?.validator == nil || !isRepeatable { try startOver() }
        // From here on, requests are sent only for the user to whom the bytes on disk belong.
        if file.plan.received > 0 { order.user.expect(file.user ?? UserStamp([])) }
        // A progress bar continues at its last position, even if the download starts paused.
        if control.isPaused { meter.begin(at: file.plan.received, total: file.plan.total) }
        while true {
            if control.isPaused { meter.set(.paused) }
            try await control.waitUntilResumed()
            let before = file.plan.received
            // If this number increases, another retry filter has already repeated the request.
            let finalFailureCount = exchange.finalFailureCount
            let failure: any Error
            do {
                let outcome = try await attempt(state.plan)
                let response = try await handle(
                    outcome, &state, receivedBefore: before, finalFailuresBefore: finalFailureCount)
                if let response { return response }
                continue
            } catch { failure = error }
            try Task.checkCancellation()
            if failure is PauseInterruption { continue }
            if failure is AnotherUser {
                order.user.expect(nil)
                try restart(&state, "the partial file belongs to another user")
                state.plan.segments = order.segments
                continue
            }
            let madeProgress = state.mark.rises(to: file)
            guard isRepeatable, TransferRetries.isTemporary(failure), exchange.finalFailureCount == finalFailureCount,
                let wait = state.retry.wait(madeProgress: madeProgress)
            else { throw failure }
            if madeProgress { state.otherSource = nil }
            try await pause(for: wait, after: state.retry, because: TransferNotice.reason(for: failure))
        }
    }

    /// Returns the response that ends the download, or prepares the next attempt.
    private func handle(
        _ outcome: Outcome, _ state: inout RunState, receivedBefore before: Int64,
        finalFailuresBefore finalFailureCount: Int
    ) async throws -> HTTPResponse? {
        switch outcome {
        case .whole(let response):
            do { return try await finish(response) } catch let error as TransferError
                where [.expectedChecksumMismatch, .serverDigestMismatch].contains(error.code)
            {
                // If the check fails, bytes of several responses may have been joined wrongly. The bytes of a single
                // response can't have been.
                let isJoined = before > 0 || state.plan.segments > 1 || file.plan.parts.count > 1
                try refetch(&state, error, isWorthIt: isJoined || error.code == .serverDigestMismatch)
            }
        case .damaged(let error):
            try refetch(&state, error, isWorthIt: true)
        case .refused(let response):
            let madeProgress = state.mark.rises(to: file)
            guard isRepeatable, exchange.finalFailureCount == finalFailureCount,
                let wait = state.retry.wait(after: response, madeProgress: madeProgress, now: exchange.time.date)
            else { return response }
            await exchange.discard(response)
            // Several concurrent requests may be too many for the server, so the next attempt uses a single segment.
            state.plan.segments = 1
            try await pause(
                for: wait, after: state.retry,
                because: "the server responded with \(ReasonPhrase.describing(response.status))")
        case .coded(let coding):
            order.report(.decoding(coding: coding))
            try startOver()
            state.plan = AttemptPlan(usesRanges: false, segments: 1, decodes: true)
        case .elsewhere(let url):
            try await handleOtherSource(&state, url)
        case .startOver(let reason, let ranges):
            try restart(&state, reason)
            state.plan.usesRanges = state.plan.usesRanges && ranges
            guard isRepeatable, state.retry.countRestart() else { throw TransferError(.changedTooOften, reason) }
        }
        return nil
    }

    private struct RunState {
        var plan: AttemptPlan
        var retry: TransferRetries
        var mark: HighWaterMark
        var hasRefetched = false
        /// The source that had the rest of the file in the last attempt. It's nil if this was the recorded source.
        var otherSource: String?
    }

    /// Prepares to download the file in one piece. Throws the error if that wouldn't help, or if the file was already
    /// downloaded in one piece.
    private func refetch(_ state: inout RunState, _ error: TransferError, isWorthIt: Bool) throws {
        guard isWorthIt, isRepeatable, !state.hasRefetched, options.retry.maximumAttempts ?? .max > 1 else {
            try startOver()
            throw error
        }
        state.hasRefetched = true
        try restart(&state, error.message)
        state.plan.usesRanges = false
    }

    /// Handles a mirror that has the rest of the file. At first, the bytes on disk are kept, because the source that
    /// they come from may respond again. If the mirror responds twice in a row, the download starts over at the mirror.
    private func handleOtherSource(_ state: inout RunState, _ url: URL) async throws {
        let madeProgress = state.mark.rises(to: file)
        let source = Representation.source(of: url)
        let isLasting = !madeProgress && state.otherSource == source
        let host = url.host(percentEncoded: false) ?? "another host"
        let reason =
            "another URL, on \(host), sent the rest, and entity tags of different URLs can't be compared; "
            + "set a checksum to join parts from several URLs"
        state.plan.segments = 1
        if isLasting {
            guard state.retry.countRestart() else { throw TransferError(.mirrorMismatch, reason) }
            try restart(&state, reason)
            return
        }
        state.otherSource = source
        guard let wait = state.retry.wait(madeProgress: madeProgress) else {
            throw TransferError(.mirrorMismatch, reason)
        }
        try await pause(for: wait, after: state.retry, because: reason)
    }

    private func restart(_ state: inout RunState, _ reason: String) throws {
        order.report(.restarting(reason: reason, discarded: file.plan.received))
        try startOver()
        state.mark.reset()
        state.otherSource = nil
        state.plan.segments = 1
    }

    func startOver(_ representation: Representation? = nil) throws {
        try file.startOver(representation, of: representation == nil ? nil : order.stamp)
        digest.restart()
    }

    private func pause(for wait: Duration, after retry: TransferRetries, because reason: String) async throws {
        let end = exchange.time.date.addingTimeInterval(wait / .seconds(1))
        order.report(
            .retrying(attempt: retry.attempts, wait: wait, until: end, reason: reason), .waiting(until: end))
        try await exchange.time.sleep(until: exchange.time.instant(after: wait))
    }
}

extension DownloadRun {
    @concurrent func attempt(_ plan: AttemptPlan) async throws -> Outcome {
        let wasComplete = file.plan.isDone && file.representation != nil
        let lacksLength = file.plan.total == nil && file.representation?.validator != nil
        if wasComplete || lacksLength {
            // The last byte is requested again, because the response shows whether the file has changed, and how long
            // it is. An earlier run may have received all bytes without finishing.
            try file.change { $1.reopen() }
        }
        meter.begin(at: file.plan.received, total: file.plan.total)
        let mayRequestRanges = plan.usesRanges && isRepeatable
        guard file.plan.received > 0 else {
            if mayRequestRanges && plan.segments > 1 { return try await probe(plan) }
            return try await transfer(part: 0, inquiry: inquiry(), plan: plan)
        }
        guard mayRequestRanges, file.representation?.validator != nil else {
            try startOver()
            return try await transfer(part: 0, inquiry: inquiry(), plan: plan)
        }
        return try await segments(plan)
    }

    private func inquiry(_ range: Inquiry.Range? = nil, known: Representation? = nil) -> Inquiry {
        Inquiry(range: range, known: known, joinsSources: order.checksum != nil)
    }

    /// Requests the first segment. The response shows whether the server supports ranges.
    private func probe(_ plan: AttemptPlan) async throws -> Outcome {
        let last = max(1, options.minimumSegmentBytes) - 1
        let outcome = try await transfer(part: 0, inquiry: inquiry(.init(first: 0, last: last)), plan: plan)
        guard case .whole = outcome, !file.plan.isDone else { return outcome }
        return try await segments(plan)
    }

    /// Downloads the file in concurrent segments. If a segment fails, other segments continue its part. If the file
    /// isn't complete at the end, throws the first failure.
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

    /// Downloads parts until all parts are taken. If a part fails, gives it back for other workers. Returns nil if
    /// other workers have downloaded everything.
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

    /// Downloads a part. Returns nil if another segment has taken over the whole part.
    private func fetch(_ claim: SegmentClaim, _ plan: AttemptPlan) async throws -> Outcome? {
        var requests = 0
        var response: HTTPResponse?
        while let part = file.part(claim.start), !part.isDone {
            // A server may send fewer bytes than requested. The number of requests is limited, so it can't send ever
            // smaller pieces.
            requests += 1
            if requests > 100 {
                throw ErrandError(.truncated, "the server sent the range in more than 100 pieces")
            }
            let last = part.end == file.plan.total ? nil : part.end.map { $0 - 1 }
            let inquiry = inquiry(.init(first: part.next, last: last), known: file.representation)
            do {
                let outcome = try await transfer(part: claim.start, inquiry: inquiry, plan: plan, claim: claim)
                guard case .whole(let last) = outcome else { return outcome }
                response = last
            } catch {
                // Another segment has taken over some or all of this part.
                if claim.takeInterrupt(), !Task.isCancelled { continue }
                throw error
            }
            if claim.takeInterrupt() { continue }
            if let now = file.part(claim.start), !now.isDone, now.done == part.done {
                throw ErrandError(.truncated, "the server sent no bytes of the range", response: response)
            }
        }
        return response.map { .whole($0) }
    }

    func isUnwanted(_ response: HTTPResponse) -> Bool {
        let accepted = request.acceptableContentTypes
        guard accepted != .any, let type = response.mediaType else { return false }
        return !accepted.contains(type)
    }
}

private struct SegmentResults {
    enum Element: Sendable {
        case ended(DownloadRun.Outcome?)
        case failed(any Error)
        case supervisor
    }

    private(set) var count = 0
    private var whole: HTTPResponse?
    /// The outcome that made all segments end.
    private var decision: DownloadRun.Outcome?
    private var other: DownloadRun.Outcome?
    private var failure: (any Error)?

    /// Adds a worker's outcome. Returns whether the other segments have to end.
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
