public import ErrandHTTP

struct PinFilter: Filter {
    let pin: UserPin

    var stages: FilterStages { .wire }
    var explanation: String { "stops the operation if the user changes" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let isFirst = try pin.admit(exchange)
        let response = try await next(exchange)
        pin.learn(from: response, to: exchange, isFirst: isFirst)
        return response
    }
}

extension CallOptions {
    /// The pin that keeps the call's operation with one user. Defaults to nil.
    public var userPin: UserPin? { tags[PinnedOperation.self] }

    /// Returns these options with a pin. See ``UserPin``.
    public func pinned(to pin: UserPin) -> CallOptions {
        if userPin === pin { return self }
        var options = self
        options.tags[PinnedOperation.self] = pin
        if !pin.sessionsOnly { options.filters.append(PinFilter(pin: pin)) }
        return options
    }

    func pinnedAsComposite() -> CallOptions {
        userPin == nil ? pinned(to: UserPin(sessionsOnly: true)) : self
    }
}

extension Exchange {
    /// The pin that keeps the call's operation with one user. Nil without a pin.
    public var userPin: UserPin? { tags[PinnedOperation.self] }

    /// Declares that a session makes sure that the operation keeps its user. A ``UserPin`` then doesn't compare the
    /// mark and the fields. Call it in a filter that uses ``UserPin/once(_:_:isOfUser:check:)``. Ignored without a pin.
    ///
    /// - Parameters:
    ///   - mark: The mark that the filter declared. Nil if the fields identify the user.
    ///   - fields: The header fields that the filter added.
    public mutating func vouch(for mark: UserMark?, carriedBy fields: [HTTPHeaders.Field]) {
        if userPin == nil { return }
        var headers = HTTPHeaders()
        for field in fields { headers.add(field.name, field.value, sensitive: true) }
        let marks = UserMarks.implied(by: headers, besides: nil).union(mark.map { [$0] } ?? [])
        tags[Vouchers.self] = tags[Vouchers.self].union(marks)
    }
}

enum PinnedOperation: TagKey {
    static var defaultValue: UserPin? { nil }
}

/// Pins the requests of a filter that replaces one request with several, such as a resumed transfer.
extension Exchange {
    /// Makes all requests that the filter sends from now on one operation, which must keep the same user.
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
    /// The request needs ``Filter/keepingUser`` among its `requiredFilters`. That filter compares each request on the
    /// wire.
    public mutating func pin(to pin: UserPin) { tags[PinnedOperation.self] = pin }
}

/// Compares each request on the wire with the first request of its pinned operation.
public struct PinnedExchangeFilter: Filter {
    init() {}

    /// Returns ``FilterStages/wire``, so the filter sees each request in its final form.
    public var stages: FilterStages { .wire }
    /// Returns ``FilterTraits/unique``, so the filter runs once per request.
    public var traits: FilterTraits { .unique }
    /// The filter's text in ``NetworkAgent/explain(_:options:)``.
    public var explanation: String { "stops the operation if the user changes" }

    /// Throws instead of sending the request if the operation began as another user.
    public func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard let pin = exchange.userPin, !pin.sessionsOnly else { return try await next(exchange) }
        return try await PinFilter(pin: pin).filter(exchange, next: next)
    }
}

extension Filter where Self == PinnedExchangeFilter {
    /// Throws if a request pinned with ``Exchange/pin(to:)`` would be sent as another user. Ignores other requests.
    public static var keepingUser: PinnedExchangeFilter { PinnedExchangeFilter() }
}
