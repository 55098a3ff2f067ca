public import ErrandHTTP

/// A wire filter that checks each request again right before it's sent. Even after the last filter, a request can wait
/// for a connection, or for other requests to its host. After such a wait, the transport calls
/// ``TransportOptions/checkBeforeSending(_:)``, which asks this filter.
///
/// ```swift
/// struct Curfew: PreSendFilter {
///     let switches: Switches
///     var stages: FilterStages { .wire }
///
///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
///         try willSend(exchange.http, time: exchange.time)
///         return try await next(exchange)
///     }
///
///     func willSend(_ request: HTTPRequest, time: any TimeSource) throws {
///         if !switches.isOn { throw Closed() }
///     }
/// }
/// ```
public protocol PreSendFilter: Filter {
    /// Throws if the request must no longer be sent. `next` then throws this error to ``Filter/filter(_:next:)``.
    ///
    /// If your filter sends the request again later, it must first check `request.body.isReplayable`, because the
    /// transport may have opened the body.
    ///
    /// Called on any thread during the transport's work, so it must not block.
    func willSend(_ request: HTTPRequest, time: any TimeSource) throws
}

/// Carries a filter's error through the transport.
struct PreSendRefusal: Error {
    let error: any Error
}

extension TransportOptions {
    /// Asks the wire filters whether a request may still be sent. If your transport lets requests wait, for example for
    /// a connection, call this method after the wait, before you send the first byte. If this method throws, don't send
    /// the request, and throw the same error from ``Transport/send(_:options:)``.
    public func checkBeforeSending(_ request: HTTPRequest) throws(ErrandError) {
        for filter in preSendFilters {
            do { try filter.willSend(request, time: time) } catch {
                throw ErrandError(
                    .transportFailed, "a filter's willSend refused the request",
                    underlying: PreSendRefusal(error: error))
            }
        }
    }
}
