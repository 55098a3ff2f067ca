public import ErrandHTTP

/// The checks that the final response of one call must pass; see ``ResponseCheck``.
public struct ExchangeChecks: Sendable {
    let activity: Activity
    let shared: SharedExchange?

    /// Adds a check to the call. It replaces an earlier check of the same name.
    public func add(_ check: ResponseCheck) {
        if let shared { shared.ledger.add(check) } else { activity.ledger.add(check) }
    }

    /// The names of the checks that filters have added to the call.
    public var names: [String] { added.map(\.name) }

    var added: [ResponseCheck] { activity.ledger.checks + (shared?.ledger.checks ?? []) }
}
