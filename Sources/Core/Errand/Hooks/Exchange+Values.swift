// Values that a filter keeps for a call.
extension Exchange {
    /// A value that is the same for the whole call, made when it is first asked for: in each attempt, on each hop, and
    /// in work that is detached from then on.
    @inlinable public func once<Value>(_ key: CallKey<Value>, _ make: () -> Value) -> Value {
        if let known = value(of: key) { return known }
        let new = make()
        guard let known = add(new, for: key.number) else { return new }
        return typed(known) ?? new
    }

    /// The value of a key in this call; nil where it has not been made.
    @inlinable public func value<Value>(of key: CallKey<Value>) -> Value? {
        guard let value = value(key.number) else { return nil }
        return typed(value)
    }

    /// A value that is kept, in its type; a dynamic cast would cost ten times as much.
    @inlinable func typed<Stored: Sendable, Value>(_ value: Stored) -> Value? {
        // Both types are the same.
        Stored.self == Value.self ? unsafeBitCast(value, to: Value.self) : value as? Value
    }

    // Generic code costs least where its types are known: only what is not generic stays behind.

    @usableFromInline func value(_ number: UInt64) -> (any Sendable)? { activity.ledger.value(number) }

    @usableFromInline func add(_ value: any Sendable, for number: UInt64) -> (any Sendable)? {
        activity.ledger.add(value, for: number)
    }
}
