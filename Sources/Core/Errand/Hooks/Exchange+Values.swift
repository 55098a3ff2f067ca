// Values that a filter keeps for a call.
extension Exchange {
    /// A value that is the same for the whole call, made when it is first asked for: in each attempt, on each hop, and
    /// in work that is detached from then on.
    public func once<Value>(_ key: CallKey<Value>, _ make: () -> Value) -> Value {
        if let known = value(of: key) { return known }
        let new = make()
        guard let known = activity.ledger.add(new, for: key.number) else { return new }
        return known as? Value ?? new
    }

    /// The value of a key in this call; nil where it has not been made.
    public func value<Value>(of key: CallKey<Value>) -> Value? {
        guard let value = activity.ledger.value(key.number) else { return nil }
        return value as? Value
    }
}
