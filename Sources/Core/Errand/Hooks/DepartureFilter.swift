public import ErrandHTTP

/// A wire filter that checks each request again right before it's sent.
///
/// After the last filter, a request can still wait for a connection, or for other requests to its host. A transport
/// with such waits calls ``TransportOptions/checkDeparture(of:)`` when the wait is over.
///
/// ```swift
/// struct Curfew: DepartureFilter {
///     let switches: Switches
///     var stages: FilterStages { .wire }
///
///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
///         try willDepart(exchange.http, time: exchange.time)
///         return try await next(exchange)
///     }
///
///     func willDepart(_ request: HTTPRequest, time: any TimeSource) throws {
///         if !switches.isOn { throw Closed() }
///     }
/// }
/// ```
public protocol DepartureFilter: Filter {
    /// Throws if the request must no longer be sent. The request then isn't sent, and `next` throws this error to
    /// ``Filter/filter(_:next:)``. Before you send such a request later, check `request.body.isReplayable`, because the
    /// transport may have opened the body.
    ///
    /// Called on any thread in the middle of the transport's work, so it must not block.
    func willDepart(_ request: HTTPRequest, time: any TimeSource) throws
}

/// Carries a filter's error through the transport.
struct DepartureRefusal: Error {
    let error: any Error
}

extension TransportOptions {
    /// Asks the wire filters whether a request may still be sent. A transport in which requests wait calls it after the
    /// wait and before the first byte. If it throws, the transport must not send the request, and
    /// ``Transport/send(_:options:)`` must throw the same error. Has no effect if there are no such filters.
    public func checkDeparture(of request: HTTPRequest) throws(ErrandError) {
        for filter in departures {
            do { try filter.willDepart(request, time: time) } catch {
                throw ErrandError(
                    .transportFailed, "a filter has held the request back", underlying: DepartureRefusal(error: error))
            }
        }
    }
}
