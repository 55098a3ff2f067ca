public import ErrandHTTP

/// The checks that a call's final response must pass. See ``ResponseCheck``.
public struct ExchangeChecks: Sendable {
    let activity: Activity
    let shared: SharedExchange?

    /// Adds a check. It replaces an earlier check of the same name.
    public func add(_ check: ResponseCheck) {
        if let shared { shared.ledger.add(check) } else { activity.ledger.add(check) }
    }

    /// The names of the checks that filters added.
    public var names: [String] { added.map(\.name) }

    var added: [ResponseCheck] { activity.ledger.checks + (shared?.ledger.checks ?? []) }
}
