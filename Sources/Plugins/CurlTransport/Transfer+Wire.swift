#if os(Linux)
import CErrandCurl
import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

// What happens on the wire: all of it under the loop's driver lock, so that nothing of the user's is called here.
extension Transfer {
    /// A connection is being made or used from now on; waiting for a free one is over. With `isNew` one is being made,
    /// and a time in which it waited for another one to be made counts.
    func noteStart(isNew: Bool) {
        if hasStarted { return }
        let now = Nanoseconds.now
        hasStarted = true
        queued = .nanoseconds(Int64(now - created))
        var start = now
        if isNew, let origin { start = loop.sockets.waitStart(origin, since: begun, now: now) }
        (lastHeard, connecting) = (start, start)
        if usesLoopClock { return loop.expectDeadline(of: self) }
        if !isNew || origin == nil { report(.heard) }
        shared.withLock { $0.isQueued = false }
        startWatch()
        loop.expectDeadline(of: self)
    }

    /// A name is about to be looked up; false where too many lookups that were cancelled still run.
    func mayLookUp() -> Bool {
        if isParked { return false }
        isResolving = true
        noteStart(isNew: true)
        if loop.parked < CurlLoop.maximumParked || HostName.isAddress(request.url.host ?? "") { return true }
        return fail(
            .nameLookupFailed, "\(loop.parked) name lookups that were cancelled still run, and no more are begun")
    }

    /// It has its connection, and its head is about to be sent.
    func noteRequest() {
        noteStart(isNew: false)
        if !isRequested { heard() }
        isRequested = true
        times.restart(at: Nanoseconds.now, hasBody: hasReadBody)
        loop.expectDeadline(of: self)
    }

    /// Whether libcurl asks for the body piece by piece.
    private var hasReadBody: Bool {
        switch upload {
        case .none: false
        case .data(let data): data.count > Self.copiedBodyBytes
        case .stream: true
        }
    }

    func heard() {
        lastHeard = loop.now
        if !usesLoopClock { report(.heard) }
    }

    /// One header line; false ends the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        heard()
        if times.firstByte == nil { times.firstByte = Nanoseconds.now }
        headerBytes += line.count
        guard headerBytes <= loop.configuration.maximumHeaderBytes else {
            return fail(
                .invalidResponse,
                "the answer has more than \(loop.configuration.maximumHeaderBytes) bytes of headers")
        }
        if head.isComplete {
            // Only a refused expectation makes libcurl send again and receive a second head.
            guard head.status == 417, line.starts(with: "HTTP/".utf8), !isAnswered else {
                return trailers.add(line)
            }
            head.restart()
            times.firstByte = Nanoseconds.now
        }
        guard head.add(line) else { return fail(.transportFailed, "there is no memory for the headers") }
        if !head.isComplete { return true }
        if head.status >= 100 && head.status < 200 && head.status != 101 {
            report(.event(.informational(status: head.status, headers: head.headers)))
            head.restart()
            times.firstByte = nil
            return true
        }
        noteCopiedBody()
        return receiveHead()
    }

    private func receiveHead() -> Bool {
        // Several transfers share a connection in a later version of HTTP, and silence is not expected on it.
        if !head.isHTTP1 { setUnplaced(false) }
        if hasBody, let length = handle?.announcedLength {
            progress.totalToReceive = length
            if !isStreamed {
                guard length <= Int64(options.bodyLimit) else { return failTooLarge() }
                collected.reserve(min(Int(length), 1 << 20))
            }
        }
        if isStreamed && !(head.status == 417 && request.headers.contains("Expect")) { answer() }
        return true
    }

    private var isAnswered: Bool { isStreamed && shared.withLock { $0.waiter == nil } }

    private func answer() {
        let waiter = shared.withLock { shared in
            defer { shared.waiter = nil }
            return shared.waiter
        }
        waiter?.resume()
    }

    /// Bytes of the body; answers how many were taken, or libcurl's sign for a pause.
    func receive(_ bytes: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
        heard()
        if isStreamed {
            if head.status == 417 { answer() }
            let taken = feed(bytes, count)
            if taken != count {
                isReceivePaused = taken != 0
                return taken
            }
        } else {
            guard collected.count + count <= options.bodyLimit else { return failTooLarge() ? count : 0 }
            guard collected.append(bytes, count) else { return 0 }
        }
        progress.received += Int64(count)
        reportProgress()
        return count
    }

    private func feed(_ bytes: UnsafeMutablePointer<CChar>, _ count: Int) -> Int {
        // A pointer may not be captured, an address may; it is read within this call only.
        let address = UInt(bitPattern: bytes)
        var isFirst = false
        let (taken, reader, chunk) = shared.withLock { shared -> (Int, Reader?, Data?) in
            if shared.isCancelled { return (0, nil, nil) }
            if shared.buffer.count >= Self.highWater {
                shared.isPaused = true
                return (Int(ERRAND_CURL_WRITEFUNC_PAUSE), nil, nil)
            }
            if shared.buffer.count == 0 { shared.buffer.reserve(Self.chunkBytes + (32 << 10)) }
            guard let bytes = UnsafeRawPointer(bitPattern: address), shared.buffer.append(bytes, count) else {
                return (0, nil, nil)
            }
            if let reader = shared.reader, shared.buffer.count >= Self.chunkBytes {
                shared.reader = nil
                return (count, reader, shared.buffer.take())
            }
            isFirst = !shared.isFlushPending
            shared.isFlushPending = true
            return (count, nil, nil)
        }
        reader?.resume(returning: chunk)
        if isFirst { loop.needsFlush(self) }
        return taken
    }

    /// Hands a waiting reader what there is.
    func flush() {
        let (reader, chunk) = shared.withLock { shared -> (Reader?, Data?) in
            shared.isFlushPending = false
            guard let reader = shared.reader, shared.buffer.count > 0 else { return (nil, nil) }
            shared.reader = nil
            return (reader, shared.buffer.take())
        }
        reader?.resume(returning: chunk)
    }

    /// The next bytes of the request's body for libcurl.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        heard()
        let count: Int
        switch upload {
        case .none: return 0
        case .data(let data):
            count = data.dropFirst(uploadOffset).copyBytes(to: buffer)
            uploadOffset += count
        case .stream where isUploadAbandoned: return Int(ERRAND_CURL_READFUNC_ABORT)
        case .stream(let stream):
            switch stream.read(into: buffer, for: self) {
            case .bytes(let taken): count = taken
            case .wait:
                isSendPaused = true
                return Int(ERRAND_CURL_READFUNC_PAUSE)
            case .failed(let error):
                failure = error
                return Int(ERRAND_CURL_READFUNC_ABORT)
            }
        }
        progress.sent += Int64(count)
        if count == 0 || progress.sent == progress.totalToSend { times.requestSent = Nanoseconds.now }
        reportProgress(isWhole: progress.sent == progress.totalToSend && count > 0)
        return count
    }

    /// A small body goes out with the head, and libcurl asks for nothing: what it has sent is known afterwards.
    func noteCopiedBody() {
        guard case .data(let data) = upload, !data.isEmpty, !hasReadBody, let handle else { return }
        progress.sent = max(progress.sent, min(handle.bytesSent, Int64(data.count)))
    }

    /// libcurl sends the body again on a fresh connection, because a reused one turned out closed.
    func seek(to offset: Int64) -> Bool {
        switch upload {
        case .none: return true
        case .data(let data):
            guard offset >= 0, offset <= Int64(data.count) else { return false }
            uploadOffset = Int(offset)
            progress.sent = offset
            return true
        case .stream(let stream): return offset == 0 && !stream.isBegun
        }
    }

    private func reportProgress(isWhole: Bool = false) {
        guard isWhole || progress.received + progress.sent - reported >= Self.progressStep else { return }
        reported = progress.received + progress.sent
        report(.event(.progress(progress)))
    }

    /// The halves that stay paused when a reader or a body goes on.
    func pausedHalves() -> Int32 {
        if isReceivePaused { isReceivePaused = shared.withLock { $0.isPaused } }
        if isSendPaused, case .stream(let stream) = upload { isSendPaused = stream.isEmpty && !isUploadAbandoned }
        return (isReceivePaused ? ERRAND_CURLPAUSE_RECV : 0) | (isSendPaused ? ERRAND_CURLPAUSE_SEND : 0)
    }

    /// Ends an exchange whose response is complete while libcurl waits for the source of the request's body.
    func abandonUpload() {
        guard isSendPaused, !isReceivePaused, head.isComplete, !isUploadAbandoned else { return }
        isUploadAbandoned = true
        loop.submit(.resume(self))
    }

    /// How an exchange ended that was abandoned by ``abandonUpload()``.
    private var abandonedVerdict: ErrandError? {
        if let length = progress.totalToReceive, hasBody, progress.received < length {
            return ErrandError(.truncated, "the connection was closed within the body of the response")
        }
        return nil
    }

    private func fail(_ code: ErrandError.Code, _ message: String) -> Bool {
        failure = ErrandError(code, message)
        return false
    }

    private func failTooLarge() -> Bool {
        fail(.bodyTooLarge, "the body is longer than the limit of \(options.bodyLimit) bytes")
    }

    /// CURLE_ABORTED_BY_CALLBACK.
    private static let abortedByCallback: Int32 = 42

    /// What became of it in libcurl's eyes and in our own; nil if all is well.
    func verdict(_ code: Int32, _ handle: EasyHandle) -> ErrandError? {
        if let failure { return failure }
        if code == Self.abortedByCallback, isUploadAbandoned { return abandonedVerdict }
        if code == 0 {
            if head.isComplete { return nil }
            return ErrandError(.connectionLost, "the connection was closed within the head of the answer")
        }
        var failure = handle.failure(code)
        failure.hasHead = head.isComplete
        failure.isOnUsedConnection = headerBytes == 0 && handle.isReused
        return failure.error
    }

    /// A failure after the head carries what came: the head, and of a body that was collected here its beginning. Core
    /// does that for a stream.
    private func withEvidence(_ error: ErrandError) -> ErrandError {
        guard !isStreamed, head.isComplete, head.status > 0, error.response == nil, !error.isCancelled else {
            return error
        }
        var error = error
        error.response = partialResponse(collected.take())
        return error
    }

    /// The transfer is over on the wire; called once, unless it was cancelled before it began.
    func finish(_ error: ErrandError?, _ timings: TransferTimings?) {
        let error = error.map(withEvidence)
        watch?.cancel()
        self.timings = timings
        let (waiter, reader, chunk) = shared.withLock { shared -> (Waiter?, Reader?, Data?) in
            shared.isOver = true
            if shared.failure == nil { shared.failure = error }
            let chunk = shared.reader != nil && shared.buffer.count > 0 ? shared.buffer.take() : nil
            defer { (shared.waiter, shared.reader) = (nil, nil) }
            return (shared.waiter, shared.reader, chunk)
        }
        // Who waits for the end delivers the last reports before it returns.
        reportEnd(isFailure: error != nil, soon: waiter == nil && (reader == nil || chunk != nil))
        if let error {
            waiter?.resume(throwing: error)
            if let chunk { reader?.resume(returning: chunk) } else { reader?.resume(throwing: error) }
        } else {
            waiter?.resume()
            reader?.resume(returning: chunk)
        }
    }

    private func reportEnd(isFailure: Bool, soon: Bool) {
        if case .stream = upload { report(.sourceIsDone, soon: soon) }
        if !trailers.isEmpty { report(.event(.trailers(trailers.trailers)), soon: soon) }
        // A waiter that gets its whole response reports these itself.
        guard isStreamed || isFailure else { return }
        if progress.received + progress.sent > reported { report(.event(.progress(progress)), soon: soon) }
        if let timings { report(.event(.timings(timings)), soon: soon) }
    }
}
#endif
