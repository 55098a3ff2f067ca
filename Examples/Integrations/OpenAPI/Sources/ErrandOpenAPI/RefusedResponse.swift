import Errand
import ErrandEssentials
import Synchronization

/// Keeps the last response with a status that the call doesn't accept, with its whole body, because the call's error
/// has only a bounded copy.
final class RefusedResponse: Filter {
    private let limit: Int
    private let kept = Mutex<HTTPResponse?>(nil)

    init(upTo limit: Int) { self.limit = limit }

    var explanation: String { "keeps the response of a failure for the client" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var response = try await next(exchange)
        if exchange.request.acceptableStatuses.contains(response.status) { return response }
        response.body = HTTPBody(try await collected(response.body, exchange.time))
        let whole = response
        let old = kept.withLock { kept in
            let old = kept
            kept = whole
            return old
        }
        withExtendedLifetime(old) {}
        return response
    }

    /// Reads all bytes. A retry doesn't wait for a slow body: it is cancelled, and counts as empty.
    private func collected(_ body: HTTPBody, _ time: any TimeSource) async throws -> Data {
        let timer = Task {
            try await time.sleep(until: time.instant(after: .seconds(2)))
            body.cancel()
        }
        defer { timer.cancel() }
        do { return try await body.collect(upTo: limit) } catch {
            if (error as? ErrandError)?.code == .bodyTooLarge { throw error }
            try Task.checkCancellation()
            return Data()
        }
    }

    /// The last response, if it has the status.
    func last(status: Int) -> HTTPResponse? { kept.withLock { $0?.status == status ? $0 : nil } }
}
