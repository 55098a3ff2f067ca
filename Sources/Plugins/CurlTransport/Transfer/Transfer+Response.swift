#if os(Linux) || os(Android)
import Errand
import ErrandEssentials
import Synchronization

extension Transfer {
    /// Starts the transfer and waits for its response. Returns once the head has arrived, or the whole response if the
    /// body is delivered as data.
    func response() async throws -> HTTPResponse {
        var failure: (any Error)?
        do {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { wait(Waiter($0)) }
            } onCancel: {
                cancel()
            }
        } catch { failure = error }
        // Reports are delivered here for success and failure alike, because each further suspension would enlarge the
        // async frame.
        if hasReports, failure == nil || !isCancelled { await deliverReports(waits: true) }
        if let failure { throw failure }
        // Shows the thread sanitizer that this code runs after the loop's work.
        shared.withLock { _ in }
        do { return try received() } catch {
            cancel()
            throw error
        }
    }

    private func received() throws -> HTTPResponse {
        guard head.status > 0 else {
            throw ErrandError(.invalidResponse, "the response's status line is invalid")
        }
        var (response, codings) = bare()
        if isStreamed {
            response.body = HTTPBody(source: try TransferBody(self, codings))
        } else {
            let data = collected.take()
            options.report(.progress(progress))
            if let timings { options.report(.timings(timings)) }
            do {
                response.body = HTTPBody(
                    codings.isEmpty ? data : try ContentDecoder.decode(data, codings, upTo: options.maximumBodyBytes))
            } catch var error as ErrandError {
                error.response = partialResponse(data)
                throw error
            }
        }
        return response
    }

    /// Returns the response for an error. Decodes the body as far as possible.
    func partialResponse(_ data: Data) -> HTTPResponse {
        let limit = Self.evidenceBytes
        var (response, codings) = bare()
        response.body = HTTPBody(
            codings.isEmpty ? Data(data.prefix(limit)) : ContentDecoder.beginning(of: data, codings, upTo: limit))
        return response
    }

    private static let evidenceBytes = 64 << 10

    /// Returns the response without its body, and the codings to decode, if all are known.
    private func bare() -> (HTTPResponse, [ContentCoding]) {
        let (headers, mayBeCoded) = head.fields
        var response = HTTPResponse(to: request, status: head.status, headers: headers, version: head.version)
        guard decodes, hasBody, mayBeCoded, let value = headers[.contentEncoding],
            let codings = ContentCoding.list(value), !codings.isEmpty
        else { return (response, []) }
        response.headers.remove(.contentEncoding)
        response.headers.remove(.contentLength)
        return (response, codings)
    }

    var hasBody: Bool { request.method != .head && head.status != 204 && head.status != 304 }
}
#endif
