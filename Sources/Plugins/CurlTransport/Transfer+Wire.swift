#if os(Linux)
import CErrandCurl
import Errand
import ErrandEssentials
import Synchronization

// What happens on the wire: all of it under the loop's driver lock.
extension Transfer {
    /// A connection is being made or used from now on; waiting for a free one is over.
    func noteStart() {
        if hasStarted { return }
        hasStarted = true
        lastHeard = Nanoseconds.now
        queued = .nanoseconds(Int64(lastHeard - created))
        if usesLoopClock { return loop.expectSilence(of: self) }
        heardByClock()
        if watch == nil { watch = Task { await watchSilence() } }
    }

    func heard() {
        lastHeard = loop.now
        if !usesLoopClock { heardByClock() }
    }

    /// One header line; false ends the transfer.
    func receiveHeader(_ line: UnsafeRawBufferPointer) -> Bool {
        heard()
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
        }
        guard head.add(line) else { return fail(.transportFailed, "there is no memory for the headers") }
        if !head.isComplete { return true }
        if head.status >= 100 && head.status < 200 && head.status != 101 {
            options.report(.informational(status: head.status, headers: head.headers))
            head.restart()
            return true
        }
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
        progress.totalToSend = upload.length
        reportProgress()
        return count
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

    private func reportProgress() {
        guard progress.received + progress.sent - reported >= Self.progressStep else { return }
        reported = progress.received + progress.sent
        options.report(.progress(progress))
    }

    /// The halves that stay paused when a reader or a body goes on.
    func pausedHalves() -> Int32 {
        if isReceivePaused { isReceivePaused = shared.withLock { $0.isPaused } }
        if isSendPaused, case .stream(let stream) = upload { isSendPaused = stream.isEmpty }
        return (isReceivePaused ? ERRAND_CURLPAUSE_RECV : 0) | (isSendPaused ? ERRAND_CURLPAUSE_SEND : 0)
    }

    private func fail(_ code: ErrandError.Code, _ message: String) -> Bool {
        failure = ErrandError(code, message)
        return false
    }

    private func failTooLarge() -> Bool {
        fail(.bodyTooLarge, "the body is longer than the limit of \(options.bodyLimit) bytes")
    }

    /// What became of it in libcurl's eyes and in our own; nil if all is well.
    func verdict(_ code: Int32, _ handle: EasyHandle) -> ErrandError? {
        if let failure { return failure }
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
        upload.stop()
        watch?.cancel()
        self.timings = timings
        if !trailers.isEmpty { options.report(.trailers(trailers.trailers)) }
        // A waiter that gets its answer tells these itself, off the loop.
        if isStreamed || error != nil {
            if progress.received + progress.sent > reported { options.report(.progress(progress)) }
            if let timings { options.report(.timings(timings)) }
        }
        let (waiter, reader, chunk) = shared.withLock { shared -> (Waiter?, Reader?, Data?) in
            shared.isOver = true
            if shared.failure == nil { shared.failure = error }
            let chunk = shared.reader != nil && shared.buffer.count > 0 ? shared.buffer.take() : nil
            defer { (shared.waiter, shared.reader) = (nil, nil) }
            return (shared.waiter, shared.reader, chunk)
        }
        if let error {
            waiter?.resume(throwing: error)
            if let chunk { reader?.resume(returning: chunk) } else { reader?.resume(throwing: error) }
        } else {
            waiter?.resume()
            reader?.resume(returning: chunk)
        }
    }
}
#endif
