import Errand
import ErrandSupport

import ErrandEssentials

/// One call of a download: attempts until the file is whole, or until no further attempt would help.
struct DownloadRun: Sendable {
    let order: DownloadOrder
    let next: Next
    let file: PartialFile
    let digest: FileDigest

    var request: any DownloadRequest { order.request }
    var exchange: Exchange { order.exchange }
    var options: DownloadOptions { order.options }
    var destination: Destination { order.destination }
    var meter: ProgressMeter { order.meter }
    var control: DownloadControl { order.control }
    var isRepeatable: Bool { order.isRepeatable }

    /// How the next attempt asks.
    struct Plan: Sendable {
        /// Whether the server may be asked for ranges: not after it lied about one.
        var usesRanges = true
        var segments: Int
        /// Whether the transport may negotiate a content coding and decode it.
        var decodes: Bool
    }

    /// How an attempt ended.
    enum Outcome: Sendable {
        case whole(HTTPResponse)
        case refused(HTTPResponse)
        case startOver(String, ranges: Bool)
        /// The server's own digest of what it sent is wrong.
        case damaged(DownloadError)
        /// The bytes are in a content coding that was not requested.
        case coded(String)
        /// The rest is at this place, and the bytes on disk are from another.
        case elsewhere(URL)
    }

    init(_ order: DownloadOrder, _ file: PartialFile, _ next: Next) {
        (self.order, self.file, self.next) = (order, file, next)
        digest = FileDigest(expected: order.checksum)
    }

    /// The whole way; what is left over is kept if it can be continued.
    func run() async throws -> HTTPResponse {
        do {
            let response = try await untilWhole()
            if response.body.file != nil {
                await meter.allDelivered()
                return response
            }
            // A 404 may be a matter of minutes, a 410 is for good (RFC 9110, sections 15.5.5 and 15.5.11).
            if response.status == 410 { file.remove() } else { tidy() }
            await stop()
            return response
        } catch {
            tidy()
            await stop()
            throw error
        }
    }

    /// Reports how far it came.
    private func stop() async {
        meter.set(.interrupted)
        await meter.allDelivered()
    }

    /// What can no longer serve goes at once.
    private func tidy() {
        if file.plan.received == 0 || file.representation?.validator == nil || !isRepeatable { file.remove() }
    }

    private func untilWhole() async throws -> HTTPResponse {
        var state = RunState(
            plan: Plan(segments: order.segments, decodes: !isRepeatable), retry: RetryState(options.retries),
            mark: HighWaterMark(file))
        if file.plan.received > 0, file.representation?.validator == nil || !isRepeatable { try startOver() }
        while true {
            if control.isPaused { meter.set(.paused) }
            try await control.waitUntilResumed()
            let before = file.plan.received
            let failure: any Error
            do {
                switch try await attempt(state.plan) {
                case .whole(let response):
                    do { return try await finish(response) } catch let error as DownloadError
                        where [.checksumMismatch, .digestMismatch].contains(error.code)
                    {
                        // Bytes of several responses may have been joined wrongly; those of one were not.
                        let isJoined = before > 0 || state.plan.segments > 1 || file.plan.parts.count > 1
                        try again(&state, error, isWorthIt: isJoined || error.code == .digestMismatch)
                        continue
                    }
                case .damaged(let error):
                    try again(&state, error, isWorthIt: true)
                    continue
                case .refused(let response):
                    let madeProgress = state.mark.rises(to: file)
                    guard isRepeatable,
                        let wait = state.retry.wait(
                            after: response, madeProgress: madeProgress, now: exchange.time.date)
                    else { return response }
                    response.body.cancel()
                    // Perhaps it was too much at once.
                    state.plan.segments = 1
                    try await pause(for: wait, after: state.retry, because: "status \(response.status)")
                    continue
                case .coded(let coding):
                    order.report(.decoding(coding: coding))
                    try startOver()
                    state.plan = Plan(usesRanges: false, segments: 1, decodes: true)
                    continue
                case .elsewhere(let url):
                    try await goElsewhere(&state, url)
                    continue
                case .startOver(let reason, let ranges):
                    try restart(&state, reason)
                    state.plan.usesRanges = state.plan.usesRanges && ranges
                    guard isRepeatable, state.retry.restarts() else {
                        throw DownloadError(.changedTooOften, reason)
                    }
                    continue
                }
            } catch {
                failure = error
            }
            try Task.checkCancellation()
            if failure is DownloadPause { continue }
            let madeProgress = state.mark.rises(to: file)
            guard isRepeatable, failure.mayPass, let wait = state.retry.wait(madeProgress: madeProgress)
            else { throw failure }
            if madeProgress { state.otherPlace = nil }
            try await pause(for: wait, after: state.retry, because: ErrorText.brief(failure))
        }
    }

    /// What changes from attempt to attempt.
    private struct RunState {
        var plan: Plan
        var retry: RetryState
        var mark: HighWaterMark
        /// Whether the file was fetched again for a digest that is wrong.
        var hasRefetched = false
        /// The place that offered the rest last, though the bytes on disk are from another.
        var otherPlace: String?
    }

    /// Fetches the file once more, in one piece, because a digest is wrong; a second time the error stands.
    private func again(_ state: inout RunState, _ error: DownloadError, isWorthIt: Bool) throws {
        guard isWorthIt, isRepeatable, !state.hasRefetched, options.retries.maximumAttempts ?? .max > 1 else {
            try startOver()
            throw error
        }
        state.hasRefetched = true
        try restart(&state, error.message)
        state.plan.usesRanges = false
    }

    /// The rest is offered by another place, such as a mirror: the bytes on disk are kept as long as their own place may
    /// come back. If the same other place is offered twice in a row, the download begins anew there.
    private func goElsewhere(_ state: inout RunState, _ url: URL) async throws {
        let madeProgress = state.mark.rises(to: file)
        let place = Representation.place(of: url)
        let isLasting = !madeProgress && state.otherPlace == place
        let host = url.host(percentEncoded: false) ?? "another host"
        let reason =
            "the rest is offered by another place (\(host)), and an entity tag identifies a version at one place only; "
            + "with a checksum, parts from several places are joined"
        state.plan.segments = 1
        if isLasting {
            guard state.retry.restarts() else { throw DownloadError(.mirrorMismatch, reason) }
            try restart(&state, reason)
            return
        }
        state.otherPlace = place
        guard let wait = state.retry.wait(madeProgress: madeProgress) else {
            throw DownloadError(.mirrorMismatch, reason)
        }
        try await pause(for: wait, after: state.retry, because: reason)
    }

    private func restart(_ state: inout RunState, _ reason: String) throws {
        order.report(.restarting(reason: reason, discarded: file.plan.received))
        try startOver()
        state.mark.reset()
        state.otherPlace = nil
        state.plan.segments = 1
    }

    /// Forgets what is here, and its digest.
    func startOver(_ representation: Representation? = nil) throws {
        try file.startOver(representation)
        digest.restart()
    }

    private func pause(for wait: Duration, after retry: RetryState, because reason: String) async throws {
        let parts = wait.components
        let end = exchange.time.date.addingTimeInterval(Double(parts.seconds) + Double(parts.attoseconds) / 1e18)
        order.report(
            .retrying(attempt: retry.attempts, wait: wait, until: end, reason: reason), .waiting(until: end))
        try await exchange.time.sleep(until: exchange.time.now.advanced(by: wait))
    }
}

extension Error {
    /// Whether the same request may bring what is missing when it is sent again.
    var mayPass: Bool {
        guard let error = self as? ErrandError else { return self is DownloadPause }
        // URLSession on Linux has no other word for a body that ends too early.
        return error.isRetryable || error.code == .transportFailed
    }
}
