#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials
import Synchronization

// Handles received bytes, under the loop's driver lock, so no user code may run here.
extension Transfer {
    /// Handles a header line. Returns `false` to end the transfer. `errand_head_receive` handles most lines in the
    /// middle of a head itself.
    func receiveHeader(_ line: Span<UInt8>) -> Bool {
        noteActivity()
        if attempts.takenBefore != nil, !checkFirstLine() { return false }
        if times.firstByte == nil { noteFirstByte() }
        guard head.count(line) else {
            return fail(
                .invalidResponse,
                "the response has more than \(loop.configuration.maximumHeaderBytes) bytes of headers")
        }
        // libcurl would take such a line for the end of the head.
        if line.count > 2, line[0] == UInt8(ascii: "\r") {
            return fail(.invalidResponse, "a header field of the response begins with a carriage return")
        }
        if head.isComplete {
            return trailers.add(line)
        }
        guard head.add(line) else { return fail(.transportFailed, "there isn't enough memory for the headers") }
        if !head.isComplete { return true }
        if head.status >= 100 && head.status < 200 && head.status != 101 {
            report(.event(.informational(status: head.status, headers: head.headers)))
            head.restart()
            times.firstByte = nil
            return true
        }
        noteCopiedBody()
        loop.noteAlternatives(of: self)
        return receiveHead()
    }

    private func noteFirstByte() { times.firstByte = max(loop.now, times.requestSent ?? loop.now) }

    private func receiveHead() -> Bool {
        // With later HTTP versions, bytes may arrive between transfers, so the transfer's socket needn't be known.
        if !head.isHTTP1 { setSocketUnknown(false) }
        if sharesConnection && !keepsToHTTP1 { origin?.speaksHTTP1 = head.isHTTP1 }
        let framing = head.framing
        if head.isHTTP1, framing.hasUnknownCoding {
            return fail(.invalidResponse, "the response has a transfer coding that wasn't requested")
        }
        // The end of the response is unknown (RFC 9112, section 6.3). Failing closes the connection.
        if framing.hasInvalidLength, hasBody {
            return fail(.invalidResponse, "the response's Content-Length isn't a number, or has two different values")
        }
        if isExpectationFailed {
            if upload.isBegunStream {
                return fail(
                    .bodyNotReplayable,
                    "the server refused Expect: 100-continue, but part of the body was already sent, and it can be read only once"
                )
            }
            (attempts.isExpectationRefused, attempts.dropsResponse) = (true, true)
            return false
        }
        // The alternative doesn't serve this origin, so send the request again without it (RFC 9110, section 15.5.20).
        if route != nil, head.status == CurlLoop.misdirected, !upload.isBegunStream {
            (attempts.avoidsHTTP3, attempts.dropsResponse) = (true, true)
            return false
        }
        if head.isHTTP1, leavesBody { handle?.closeConnection() }
        isStreamed = options.delivery != .data || isLeftToFilters
        if hasBody, let length = handle?.announcedLength {
            progress.totalToReceive = length
            if !isStreamed {
                guard length <= Int64(options.maximumBodyBytes) else { return failTooLarge() }
                collected.reserve(min(Int(length), 1 << 20))
            }
        }
        if isStreamed { handOver() }
        return true
    }

    /// Whether to resend the request without its rejected expectation (RFC 9110, section 10.1.1).
    ///
    /// libcurl's own way of resending has three problems. It may use a connection on which the server still waits for
    /// the first body. It gives up after `Connection: close`. Since version 8.12, it retries up to thirty times.
    private var isExpectationFailed: Bool {
        head.status == Self.expectationFailed && expectsContinue
    }

    /// Whether a redirect or a filter may decide about the response by its head.
    private var isLeftToFilters: Bool {
        hasBody && !options.collectsBody(ofStatus: head.status) && handle?.announcedLength != 0
    }

    /// Whether the response arrived before a body with an expectation was sent. libcurl then stops sending, and the
    /// server may take the next request for the remaining body.
    private var leavesBody: Bool {
        guard expectsContinue, !upload.isNone, let handle else { return false }
        return upload.length.map { handle.bytesSent < $0 } ?? (progress.totalToSend == nil)
    }

    private var expectsContinue: Bool { !attempts.isExpectationRefused && request.headers.contains(.expect) }

    private func handOver() {
        let waiter = shared.withLock { shared in
            defer { shared.waiter = nil }
            return shared.waiter
        }
        if let waiter { loop.deferredWork.add(.head(waiter)) }
    }

    /// Receives bytes of the body. Returns the number of accepted bytes, or libcurl's value for a pause.
    func receive(_ bytes: Span<UInt8>) -> Int {
        let count = bytes.count
        noteActivity()
        // Whether a task waits for these bytes. That task also delivers the reports about them.
        var isAwaited = false
        if isStreamed {
            let taken: Int
            (taken, isAwaited) = feed(bytes)
            if taken != count {
                isReceivePaused = taken != 0
                return taken
            }
        } else {
            guard collected.count + count <= options.maximumBodyBytes else { return failTooLarge() ? count : 0 }
            guard collected.append(bytes) else { return 0 }
        }
        progress.received += Int64(count)
        // If the reader has taken a chunk since the last report, it delivers this report with its next chunk. If the
        // buffer is empty, the reader already has that chunk, so another task delivers the report.
        let isSoon = !isStreamed || !isAwaited && readerTakes == reportedTakes
        if reportProgress(soon: isSoon), isStreamed, !isAwaited, shared.withLock({ $0.buffer.count == 0 }) {
            deliverReportsSoon()
        }
        return count
    }

    private func feed(_ bytes: Span<UInt8>) -> (Int, Bool) {
        let count = bytes.count
        var isFirst = false
        var takes = 0
        let (taken, isAwaited) = shared.withLock { shared -> (Int, Bool) in
            if shared.isCancelled { return (0, false) }
            takes = shared.buffer.takes
            if shared.buffer.count >= shared.room {
                shared.isPaused = true
                shared.isFast = false
                return (Int(ERRAND_CURL_WRITEFUNC_PAUSE), false)
            }
            guard shared.buffer.append(bytes) else { return (0, false) }
            isFirst = !shared.isFlushPending
            shared.isFlushPending = true
            return (count, shared.reader != nil)
        }
        if isFirst { loop.needsFlush(self) }
        readerTakes = takes
        if taken == count { roundBytes += count }
        return (taken, isAwaited)
    }

    enum Flushed {
        case kept
        case gathered
        case handedOver(DeferredWork.Item)
    }

    /// Delivers received bytes to a waiting reader. With `mayGather`, waits for another round if many bytes arrive, so
    /// the reader wakes less often.
    func flush(mayGather: Bool) -> Flushed {
        let isMuch = roundBytes >= Self.gatheredBytes
        roundBytes = 0
        if gatheredSince == nil { gatheredSince = loop.now }
        let isEarly = loop.now - (gatheredSince ?? 0) < Self.longestGathering
        let flushed = shared.withLock { shared -> Flushed in
            if shared.reader != nil, mayGather, isMuch, isEarly, shared.buffer.count < Self.fastHighWater {
                return .gathered
            }
            shared.isFlushPending = false
            guard let reader = shared.reader, shared.buffer.count > 0 else { return .kept }
            shared.reader = nil
            shared.isFast = shared.buffer.count >= Self.highWater
            return .handedOver(.chunk(reader, shared.buffer.take()))
        }
        if case .gathered = flushed {} else { gatheredSince = nil }
        return flushed
    }
}
#endif
