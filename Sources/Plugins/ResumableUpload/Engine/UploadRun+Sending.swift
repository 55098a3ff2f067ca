import Errand
import ErrandEssentials
import ErrandTransfers
import Synchronization

extension UploadRun {
    /// The request of the user with what a protocol adds to it.
    ///
    /// - Parameters:
    ///   - url: that of the upload; nil for that of the request.
    ///   - isCreation: whether the header fields that describe the body stay.
    func exchange(for message: UploadMessage, at url: URL? = nil, isCreation: Bool = false) -> Exchange {
        var exchange = exchange
        exchange.http.method = message.method
        if let url { exchange.follow(to: url) }
        if !isCreation { exchange.http.headers.removeAll { Self.describesBody.contains($0.name) } }
        for field in message.headers { exchange.http.headers.set(field.name, field.value) }
        exchange.http.body = .none
        if message.method != .patch, !isCreation { exchange.delivery = .data }
        return exchange
    }

    private static let describesBody: Set<HTTPHeaderName> = [
        .contentType, .contentEncoding, .contentLanguage, .contentLocation, .contentDisposition, .contentDigest,
        .reprDigest, .expect, .idempotencyKey, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
    ]

    /// Gives a request its part of the body, counted as it is sent.
    func load(_ exchange: inout Exchange, _ source: UploadBody, _ part: UploadPart, _ count: SentBytes) throws {
        if part.count == 0 {
            exchange.http.body = .data(Data(), contentType: nil)
            // A source that announced no byte has to show it when the request is sent.
            if source.length == 0, source.path == nil, source.body.data == nil, source.body.isReplayable {
                exchange.http.body = source.body
                exchange.http.body.contentType = nil
            }
            return
        }
        let (tally, control) = (tally, control)
        // Accessories and errors keep requests: the body must not keep the activity, which the tally reports to.
        let open: @Sendable () throws -> HTTPBody = { [weak tally] in
            // A redirect sends the part once more.
            if count.restart() { tally?.begin(at: part.offset, of: source.length) }
            return try source.open(part, didEnd: count.end) { [weak tally] bytes in
                if control.isPaused {
                    tally?.set(.paused)
                    try await control.waitUntilResumed()
                }
                count.add(bytes)
                tally?.add(Int64(bytes))
            }
        }
        exchange.http.body =
            source.body.isReplayable
            ? .stream(length: part.count, contentType: nil, open: open) : .stream(try open(), contentType: nil)
    }

    /// The response to a request. A pause ends it where the upload can continue, and otherwise holds the body back.
    ///
    /// - Parameter findings: of a creation, which can continue once the server has named the upload.
    func send(_ exchange: Exchange, canPause: Bool, _ findings: CreationFindings? = nil) async throws -> HTTPResponse {
        let opensAtOffset = order.source.opensAtOffset
        return try await control.send(exchange, next) { canPause || opensAtOffset && findings?.resource != nil }
    }
}

/// The bytes of a part that were passed to the transport.
final class SentBytes: Sendable {
    private let state = Mutex((count: Int64(0), isOpen: false, isEnded: false))

    /// Begins anew, and returns whether the part was opened before.
    func restart() -> Bool {
        state.withLock { state in
            defer { state = (0, true, false) }
            return state.isOpen
        }
    }

    func add(_ count: Int) { state.withLock { $0.count += Int64(count) } }

    /// The end of the body was reached.
    func end() { state.withLock { $0.isEnded = true } }

    /// Whether the transport has all of the part, and a server may have it.
    func isWhole(_ part: UploadPart) -> Bool {
        state.withLock { state in part.count.map { state.count >= $0 } ?? state.isEnded }
    }
}
