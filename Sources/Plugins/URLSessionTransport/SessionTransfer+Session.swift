import Errand
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension SessionTransfer {
    private static let progressStep: Int64 = 128 << 10

    func receive(_ response: HTTPURLResponse) {
        let now = options.time.now
        // On Linux, each 1xx response arrives like a final head.
        let isInformational = (100...199).contains(response.statusCode) && response.statusCode != 101
        let isFramed = isInformational || ResponseFields.hasValidLength(response, for: request.method)
        let waiter = state.withLock { state -> Waiter? in
            state.lastActivity = now
            if isInformational || state.isOver { return nil }
            if state.firstByte == nil { state.firstByte = now }
            state.response = response
            if !isFramed { return nil }
            if response.expectedContentLength >= 0, !ResponseFields.isDecoded(response, for: request.method) {
                state.progress.totalToReceive = response.expectedContentLength
            }
            if request.method != .head, response.statusCode != 304,
                !options.collectsBody(ofStatus: response.statusCode)
            {
                state.isStreamed = true
            }
            if !state.isStreamed { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        if isInformational {
            let headers = ResponseFields.headers(of: response, for: .head)
            options.report(.informational(status: response.statusCode, headers: headers))
        }
        // The end of the body is unknown, so the connection can't be reused (RFC 9112, section 6.3). Failing closes it.
        if !isFramed {
            fail(
                ErrandError(
                    .invalidResponse, "the response's Content-Length isn't a number, or has two different values"))
        }
        waiter?.resume()
    }

    func receive(_ data: Data) {
        let now = options.time.now
        enum Outcome { case taken, tooLarge, readerIsBehind }
        let (outcome, reader, chunk, progress) = state.withLock { state in
            state.lastActivity = now
            if state.isOver { return (Outcome.taken, nil as Reader?, nil as Data?, nil as TransferProgress?) }
            state.progress.received += Int64(data.count)
            var progress: TransferProgress?
            if state.progress.received + state.progress.sent - state.reported >= Self.progressStep {
                state.reported = state.progress.received + state.progress.sent
                progress = state.progress
            }
            if state.isStreamed, let reader = state.reader {
                state.reader = nil
                return (.taken, reader, data, progress)
            }
            state.buffer.append(data)
            if !state.isStreamed, state.buffer.count > options.maximumBodyBytes {
                return (.tooLarge, nil, nil, progress)
            }
            return (state.isStreamed ? .readerIsBehind : .taken, nil, nil, progress)
        }
        reader?.resume(returning: chunk)
        if let progress { options.report(.progress(progress)) }
        switch outcome {
        case .taken: break
        case .tooLarge:
            fail(ErrandError(.bodyTooLarge, "the body is longer than the limit of \(options.maximumBodyBytes) bytes"))
        case .readerIsBehind: suspendReading()
        }
    }

    func noteSent(_ total: Int64) {
        let now = options.time.now
        let progress = state.withLock { state -> TransferProgress? in
            state.lastActivity = now
            state.progress.sent = max(total, state.progress.sent)
            let isWhole = state.progress.sent == upload.length
            if isWhole, state.requestSent == nil { state.requestSent = now }
            let isStep = state.progress.received + state.progress.sent - state.reported >= Self.progressStep
            guard isStep || isWhole else { return nil }
            state.reported = state.progress.received + state.progress.sent
            return state.progress
        }
        if let progress { options.report(.progress(progress)) }
    }

    /// Ends the transfer. On Linux, the head of a redirect without a usable `Location` arrives only here, without its
    /// body.
    func complete(_ task: URLSessionTask, _ error: (any Error)?) {
        if let error { return _ = end(isCutShort(by: error) ? .cutShort(error) : ErrandError(urlSession: error)) }
        if state.withLock({ $0.response == nil }), let response = task.response as? HTTPURLResponse {
            receive(response.withoutLength)
        }
        let hasHead = state.withLock { $0.response != nil }
        end(hasHead ? nil : ErrandError(.invalidResponse, "the response ended before its head was complete"))
    }

    /// Whether an error cut the response short. URLSession reports the same code for a connection that was lost before
    /// the response.
    private func isCutShort(by error: any Error) -> Bool {
        guard (error as? URLError)?.code == .networkConnectionLost else { return false }
        return state.withLock { state in
            guard let response = state.response else { return false }
            let isLengthKnown = response.expectedContentLength >= 0
            if !isLengthKnown || ResponseFields.isDecoded(response, for: request.method) { return true }
            return state.progress.received < response.expectedContentLength
        }
    }

    func finalTimings() -> TransferTimings {
        let now = options.time.now
        return state.withLock { state in
            if let timings = state.timings { return timings }
            var timings = TransferTimings()
            guard let started = state.started else { return timings }
            timings.total = started.duration(to: now)
            timings.requestSent = state.requestSent.map { started.duration(to: $0) }
            timings.firstByte = state.firstByte.map { started.duration(to: $0) }
            if state.progress.sent > 0 || upload.length == 0 { timings.bytesSent = state.progress.sent }
            if let response = state.response, !ResponseFields.isDecoded(response, for: request.method) {
                timings.bytesReceived = state.progress.received
            }
            return timings
        }
    }
}
