import Errand
import ErrandEssentials
import Synchronization

/// Adds the header fields of an event stream to a request, and checks the head of the response (HTML standard, section
/// 9.2.3).
struct EventStreamFilter: Filter {
    let lastEventID: String
    let silence: Duration?
    let seen: SeenExchange

    /// A cache passes streams on, so that its key may lack the fields that are added here.
    var traits: FilterTraits { [.changesRequest, .outsideCacheKey] }
    var explanation: String { "event stream" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        var exchange = exchange
        // A field that the agent has for every request does not apply to this one.
        if !exchange.request.headers.contains(.accept) { exchange.http.headers.set(.accept, "text/event-stream") }
        if !exchange.http.headers.contains(.cacheControl) { exchange.http.headers.set(.cacheControl, "no-cache") }
        if !lastEventID.isEmpty { exchange.http.headers.set(.lastEventID, lastEventID) }
        if let silence { exchange.timeout = silence }
        exchange.delivery = .stream
        seen.keep(exchange)
        exchange.checks.add(ResponseCheck("event stream") { try Self.check($0) })
        return try await next(exchange)
    }

    /// 200 with the right type; 204 is the end of the stream, and no failure.
    static func check(_ response: HTTPResponse) throws {
        if response.status == 204 { return }
        guard response.status == 200 else {
            throw ErrandError(
                .unacceptableStatus, "status \(response.status), an event stream has 200", response: response)
        }
        guard response.mediaType == "text/event-stream" else {
            throw ErrandError(
                .unacceptableContentType,
                "content type \(response.mediaType ?? "none"), an event stream has text/event-stream",
                response: response)
        }
    }
}

/// The properties of the exchange that the filter has seen: the agent's clock, and whether the body can be sent again.
final class SeenExchange: Sendable {
    private let state = Mutex<(time: (any TimeSource)?, isReplayable: Bool)>((nil, true))

    func keep(_ exchange: Exchange) {
        let isReplayable = exchange.http.body.isReplayable
        state.withLock { $0 = (exchange.time, isReplayable) }
    }

    var time: any TimeSource { state.withLock { $0.time } ?? SystemTimeSource() }
    var isReplayable: Bool { state.withLock { $0.isReplayable } }
}
