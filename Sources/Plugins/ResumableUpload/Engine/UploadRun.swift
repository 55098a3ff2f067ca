import Errand
import ErrandDigests
import ErrandEssentials
import ErrandHTTPFields
import ErrandTransfers

/// The run of one upload: attempts until the server has the whole body, or until no further attempt would help.
struct UploadRun: Sendable {
    let order: UploadOrder
    let next: Next
    let tally: any UploadTally
    /// The segment that it sends; nil for the whole.
    let segment: Segment?

    var exchange: Exchange { order.exchange }
    var options: UploadOptions { order.options }
    var control: TransferControl { order.control }

    /// What changes from request to request.
    struct State: Sendable {
        var source: UploadBody
        var retries: UploadRetries
        /// What identifies the upload across starts; empty where no record is kept.
        var identity = ""
        var record: UploadRecordFile?
        /// Nil without a record, and for a body that has no samples.
        var fingerprint: SourceFingerprint?
        /// Nil before it was asked.
        var server: UploadServer?
        /// The place of the upload; nil before it was made.
        var resource: UploadResource?
        /// The segments of a body that is sent in several.
        var segments: SegmentLedger?
        /// False once the server has shown that it cannot join segments.
        var mayDivide = true
        /// Whether each segment was asked for once more because the server did not join them.
        var hasDoubted = false
        /// What the server has; nil where it has to be asked.
        var offset: Int64?
        /// Whether the first request has to be one to the origin at which the upload was begun: others show no user.
        var mustShowUser = false
        /// False once a server may have received the whole body without having named a place for it.
        var mayRepeat = true
        /// Whether a server of the protocol got bytes without naming a place for them in time.
        var beginsEmpty = false
        /// Whether the body was opened for an upload that has no place.
        var hasSent = false
    }

    /// What follows a request.
    enum Outcome: Sendable {
        case continues
        case complete(HTTPResponse)
        case refused(HTTPResponse)
        case startsOver(String)
        /// A segment was refused, after all attempts.
        case ended(HTTPResponse)
        /// A segment failed, after all attempts.
        case failed(any Error)
    }

    /// The response that ends a run.
    struct End: Sendable {
        let response: HTTPResponse
        /// Whether the server has all bytes.
        let isComplete: Bool
    }

    init(_ order: UploadOrder, _ next: Next) {
        self.init(order, next, WholeTally(order.meter, order.acknowledged), segment: nil)
    }

    init(_ order: UploadOrder, _ next: Next, _ tally: any UploadTally, segment: Segment?) {
        (self.order, self.next, self.tally, self.segment) = (order, next, tally, segment)
    }

    func run() async throws -> HTTPResponse {
        var state = State(source: order.source, retries: UploadRetries(options.retry))
        defer { state.record?.release() }
        do {
            try await prepare(&state)
            let end = try await attemptUntilOver(&state)
            if end.isComplete {
                state.record?.remove()
                tally.end(at: state.source.length ?? 0)
            } else {
                tally.set(.interrupted)
            }
            await order.meter.allDelivered()
            return end.response
        } catch {
            // The upload goes on with another record.
            if error is AnotherUser, !order.beginsAnew { throw error }
            tally.set(.interrupted)
            await order.meter.allDelivered()
            throw error
        }
    }

    /// Request after request, until the server has all bytes or no further attempt would help.
    func attemptUntilOver(_ state: inout State) async throws -> End {
        while true {
            if control.isPaused { tally.set(.paused) }
            try await control.waitUntilResumed()
            // A retry further in may have repeated the failed request in vain.
            let finalFailures = exchange.finalFailures
            let failure: any Error
            do {
                switch try await step(&state) {
                case .continues: continue
                case .complete(let response): return End(response: response, isComplete: true)
                case .ended(let response): return End(response: response, isComplete: false)
                case .failed(let error): throw SegmentFailure(error: error)
                case .startsOver(let reason):
                    try await startOver(&state, reason)
                    continue
                case .refused(let response):
                    guard mayRepeat(state, after: response), exchange.finalFailures == finalFailures,
                        let wait = state.retries.wait(after: response, now: exchange.time.date)
                    else { return End(response: response, isComplete: false) }
                    response.body.cancel()
                    state.offset = nil
                    try await pause(
                        for: wait, state,
                        because: "the server responded with \(ReasonPhrase.describing(response.status))")
                    continue
                }
            } catch { failure = error }
            try Task.checkCancellation()
            if let failure = failure as? SegmentFailure { throw failure.error }
            state.offset = nil
            if failure is PauseInterruption { continue }
            if failure.isChangeOfSource {
                if segment != nil { throw failure }
                try await sourceChanged(&state)
                continue
            }
            guard state.mayRepeat, mayOpenAgain(state), TransferRetries.isTemporary(failure),
                exchange.finalFailures == finalFailures,
                let wait = state.retries.wait()
            else {
                throw (failure as? TemporaryFault).map { TransferError(.unusableResponse, $0.reason) } ?? failure
            }
            try await pause(for: wait, state, because: TransferNotice.reason(for: failure))
        }
    }

    /// Whether the body can be sent once more, from where the server is or from its start.
    func mayOpenAgain(_ state: State) -> Bool {
        state.source.body.isReplayable || !state.hasSent
    }

    /// Whether a refused request may be sent again: one that may have made something is not, unless the server says that it
    /// has not worked on it.
    private func mayRepeat(_ state: State, after response: HTTPResponse) -> Bool {
        mayOpenAgain(state) && (state.mayRepeat || Self.saysNothingWasDone(response))
    }

    static func saysNothingWasDone(_ response: HTTPResponse) -> Bool {
        [408, 423, 425, 429, 503].contains(response.status)
    }

    private func pause(for wait: Duration, _ state: State, because reason: String) async throws {
        let end = exchange.time.date.addingTimeInterval(wait / .seconds(1))
        order.report(.retrying(attempt: state.retries.attempts, wait: wait, until: end, reason: reason))
        tally.set(.waiting(until: end))
        try await exchange.time.sleep(until: exchange.time.instant(after: wait))
    }
}

/// The failure of a segment, for which its own run has made all attempts.
private struct SegmentFailure: Error {
    let error: any Error
}

extension Error {
    /// Whether the body has changed since the upload began; a transport reports the error of a body as the underlying one.
    var isChangeOfSource: Bool { self is SourceChanged || (self as? ErrandError)?.underlying is SourceChanged }
}
