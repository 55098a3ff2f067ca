import ErrandHTTP

/// For a filter that sends several requests in the place of one, such as a transfer that resumes.
extension Exchange {
    /// Makes the requests that the filter sends from here on an operation that keeps its user.
    ///
    /// ```swift
    /// struct SendTwice: Filter {
    ///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
    ///         var pinned = exchange
    ///         pinned.pin(to: UserPin(within: exchange.userPin) { marks in print(marks.count) })
    ///         _ = try await next(pinned)
    ///         return try await next(pinned)
    ///     }
    /// }
    /// ```
    ///
    /// The request needs the filter ``Filter/keepingUser`` among its `requiredFilters`, which compares each request on
    /// the wire.
    public mutating func pin(to pin: UserPin) { tags[PinnedOperation.self] = pin }
}

/// Compares each request on the wire with the first of the operation that a filter has pinned it to.
public struct PinnedExchangeFilter: Filter {
    init() {}

    /// ``FilterStages/wire``
    public var stages: FilterStages { .wire }
    /// ``FilterTraits/unique``
    public var traits: FilterTraits { .unique }
    /// A description for `explain`.
    public var explanation: String { "keeps the operation with its user" }

    /// Throws, instead of sending the request, if the operation began as another user.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let pin = exchange.userPin, !pin.sessionsOnly else { return try await next(exchange) }
        return try await PinFilter(pin: pin).filter(exchange, next: next)
    }
}

extension Filter where Self == PinnedExchangeFilter {
    /// Keeps requests that a filter has pinned with ``Exchange/pin(to:)`` with the user of the first one; others pass.
    public static var keepingUser: PinnedExchangeFilter { PinnedExchangeFilter() }
}
