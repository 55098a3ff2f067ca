#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import Synchronization

// The end of a transfer, under the loop's driver lock.
extension Transfer {
    private var abandonedVerdict: ErrandError? {
        if let length = progress.totalToReceive, hasBody, progress.received < length {
            return ErrandError(.truncated, "the connection was closed before the response's body ended")
        }
        return nil
    }

    var tooLargeRequest: ErrandError {
        let isURL = target.text.utf8.count > Self.longestHead / 2
        return ErrandError(
            isURL ? .invalidURL : .invalidRequest,
            "the \(isURL ? "URL" : "request's head") is too long for libcurl")
    }

    /// The room for a URL and fields in libcurl's request head.
    static let longestHead = (1 << 20) - (8 << 10)

    /// Whether the response is complete. If the server doesn't need more of the request, it ends the stream without an
    /// error (RFC 9113, section 8.1), which libcurl reports as a failure to send.
    private var isWhole: Bool {
        head.isComplete && (!hasBody || progress.totalToReceive.map { progress.received == $0 } ?? true)
    }

    func fail(_ code: ErrandError.Code, _ message: String) -> Bool {
        failure = ErrandError(code, message)
        return false
    }

    func failTooLarge() -> Bool {
        fail(.bodyTooLarge, "the body is longer than the limit of \(options.maximumBodyBytes) bytes")
    }

    func verdict(_ code: Int32, _ handle: EasyHandle) -> ErrandError? {
        if let failure { return failure }
        if code == CurlCode.abortedByCallback, isUploadAbandoned { return abandonedVerdict }
        if code == CurlCode.http2Stream, isWhole, !handle.hasErrorText { return nil }
        if code == 0 {
            if head.isComplete { return nil }
            return ErrandError(.connectionLost, "the connection was closed before the response's head ended")
        }
        // libcurl's error for the rejected line.
        var failure = head.isRefused ? CurlFailure.ofLine : handle.failure(code, loop.proxy)
        failure.hasHead = head.isComplete
        failure.isOnUsedConnection = head.received == 0 && handle.isReused
        failure.isMuteWithoutTLS = head.received == 0 && !handle.isReused && attempts.count < 2 && !target.isSecure
        failure.isRepetition = mayHaveBeenSent(handle)
        failure.isRefusedQUIC = isOnQUIC && attempts.count == 0 && Self.codesOfLostQUIC.contains(code)
        if isOnQUIC, attempts.count > 0, Self.codesOfLostQUIC.contains(code) {
            failure.isLostOnQUIC = true
            failure.isCutShort = head.isComplete && progress.totalToReceive.map { progress.received < $0 } ?? false
            failure.isEndedHere = failure.detail.contains("ERR_CLOSING") && loop.sockets.isAlone(self)
        }
        failure.isBrokenHTTP2 = stream.number > 0 && !stream.isEnding
        if head.received == 0, handle.sentBytes == 0, CurlCode.areTooLarge.contains(code) { return tooLargeRequest }
        return failure.error
    }

    /// Adds the head and the beginning of a collected body to an error. For streams, Core does that.
    private func withEvidence(_ error: ErrandError) -> ErrandError {
        guard !isStreamed, head.isComplete, head.status > 0, error.response == nil, !error.isCancelled else {
            return error
        }
        var error = error
        error.response = partialResponse(collected.take())
        return error
    }

    /// Ends the transfer, once. Deliver the result, which resumes tasks, without the driver lock.
    func finish(_ error: ErrandError?, _ timings: TransferTimings?) -> Outbox.Item {
        let error = error.map(withEvidence)
        self.timings = timings
        var end = Outbox.End(transfer: self, failure: error, watch: watch)
        watch = nil
        shared.withLock { shared in
            shared.isOver = true
            if shared.failure == nil { shared.failure = error }
            if shared.reader != nil && shared.buffer.count > 0 { end.chunk = shared.buffer.take() }
            (end.waiter, end.reader) = (shared.waiter, shared.reader)
            (shared.waiter, shared.reader) = (nil, nil)
        }
        // A task that awaits the end delivers the last reports before it returns.
        reportEnd(isFailure: error != nil, soon: end.waiter == nil && (end.reader == nil || end.chunk != nil))
        return .end(end)
    }

    private func reportEnd(isFailure: Bool, soon: Bool) {
        if case .stream = upload { report(.sourceIsDone, soon: soon) }
        if !trailers.isEmpty { report(.event(.trailers(trailers.trailers)), soon: soon) }
        // A waiter that gets the whole response reports these itself.
        guard isStreamed || isFailure else { return }
        if progress.received + progress.sent > reported { report(.event(.progress(progress)), soon: soon) }
        if let timings { report(.event(.timings(timings)), soon: soon) }
    }
}
#endif
