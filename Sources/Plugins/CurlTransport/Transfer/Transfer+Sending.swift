#if os(Linux) || os(Android)
import CErrandCurl
import Errand
import ErrandEssentials
import Synchronization

// Provides the bytes to send, under the loop's driver lock, so no user code may run here.
extension Transfer {
    enum UploadStep {
        /// Bytes of the body. Empty bytes mark the body's end.
        case bytes(Data)
        case pause
        case abort
    }

    func nextUpload(upTo maximum: Int) -> UploadStep {
        noteActivity()
        let bytes: Data
        switch upload {
        case .none: return .bytes(Data())
        case .data(let data):
            bytes = data.dropFirst(uploadOffset).prefix(maximum)
            uploadOffset += bytes.count
        case .stream where isUploadAbandoned: return .abort
        case .stream(let stream):
            switch stream.take(upTo: maximum, for: self) {
            case .bytes(let taken): bytes = taken
            case .wait:
                isSendPaused = true
                return .pause
            case .failed(let error):
                failure = error
                return .abort
            }
        }
        let count = bytes.count
        progress.sent += Int64(count)
        // A source of unknown length has ended, and all its bytes were sent.
        let isEndOfUnknown = count == 0 && progress.totalToSend == nil
        if isEndOfUnknown { progress.totalToSend = progress.sent }
        if count == 0 || progress.sent == progress.totalToSend { times.requestSent = Nanoseconds.now }
        reportProgress(isWhole: progress.sent == progress.totalToSend && (count > 0 || isEndOfUnknown))
        return .bytes(bytes)
    }

    /// Updates the progress of a small body, which libcurl sends with the head, without a callback.
    func noteCopiedBody() {
        guard case .data(let data) = upload, !data.isEmpty, !hasReadBody, let handle else { return }
        progress.sent = max(progress.sent, min(handle.bytesSent, Int64(data.count)))
    }

    /// Moves to an offset of the body. Call this when libcurl sends the body again, because a reused connection was
    /// closed. Returns `false` if the body can't be sent from this offset.
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

    @discardableResult
    func reportProgress(isWhole: Bool = false, soon: Bool = true) -> Bool {
        guard isWhole || progress.received + progress.sent - reported >= Self.progressStep else { return false }
        reported = progress.received + progress.sent
        reportedTakes = readerTakes
        report(.event(.progress(progress)), soon: soon)
        return true
    }

    func pausedHalves() -> Int32 {
        if isReceivePaused { isReceivePaused = shared.withLock { $0.isPaused } }
        if isSendPaused, case .stream(let stream) = upload { isSendPaused = stream.isEmpty && !isUploadAbandoned }
        return (isReceivePaused ? ERRAND_CURLPAUSE_RECV : 0) | (isSendPaused ? ERRAND_CURLPAUSE_SEND : 0)
    }

    /// Stops reading the request's body. Call this when the response is complete.
    func abandonUpload() {
        guard isSendPaused, !isReceivePaused, head.isComplete, !isUploadAbandoned else { return }
        isUploadAbandoned = true
        loop.submit(.resume(self))
    }
}

enum SentBody {
    case none
    case data(Data)
    case stream(UploadStream)

    init(_ request: HTTPRequest) throws {
        let mayBeEmpty = request.method == .get || request.method == .head || request.method == .delete
        if let data = request.body.data {
            // `Content-Length: 0` announces an empty body (RFC 9110, section 8.6).
            let sendsLength = request.method == .post || request.method == .put || request.method == .patch
            self = data.isEmpty && (mayBeEmpty || !sendsLength) ? .none : .data(data)
        } else {
            let body = try request.body.open()
            if let data = body.data {
                self = data.isEmpty && mayBeEmpty ? .none : .data(data)
            } else {
                self = .stream(UploadStream(body, length: request.body.length ?? body.length))
            }
        }
        if request.method == .head, !isNone { throw ErrandError(.invalidRequest, "a HEAD request can't have a body") }
    }

    var isNone: Bool { if case .none = self { true } else { false } }

    /// The length of the body. `nil` without a body, or if the body must be sent in chunks.
    var length: Int64? {
        switch self {
        case .none: nil
        case .data(let data): Int64(data.count)
        case .stream(let stream): stream.length
        }
    }

    /// Whether part of a source that can be read only once has been read.
    var isBegunStream: Bool { if case .stream(let stream) = self { stream.isBegun } else { false } }

    func stop() { if case .stream(let stream) = self { stream.stop() } }
}
#endif
