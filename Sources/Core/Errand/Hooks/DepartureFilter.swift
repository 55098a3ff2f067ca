public import ErrandHTTP

/// A filter before the transport that looks at each request once more right before it goes out.
///
/// Behind the last filter a request may still wait: for a connection, or until others to its host have ended. A
/// transport in which it does asks, with ``TransportOptions/checkDeparture(of:)``, when that is over.
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
    /// Throws where the request may no longer go out; nothing of it is sent then, and ``Filter/filter(_:next:)``
    /// receives from `next` what this has thrown. A filter that passes such a request on later looks at
    /// `request.body.isReplayable` first: the transport may have opened the body. Called from any thread, in the midst
    /// of the transport's work: it must not block.
    func willDepart(_ request: HTTPRequest, time: any TimeSource) throws
}

/// The error of a filter, on its way through the transport.
struct DepartureRefusal: Error {
    let error: any Error
}

extension TransportOptions {
    /// Asks the filters before the transport whether a request may go out still. A transport in which requests wait
    /// calls it when the wait is over and before the first byte is sent; what it throws, ``Transport/send(_:options:)``
    /// throws, and nothing is sent. Without such filters it does nothing.
    public func checkDeparture(of request: HTTPRequest) throws(ErrandError) {
        for filter in departures {
            do { try filter.willDepart(request, time: time) } catch {
                throw ErrandError(
                    .transportFailed, "a filter has held the request back", underlying: DepartureRefusal(error: error))
            }
        }
    }
}
