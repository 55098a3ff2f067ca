import Synchronization

/// A key for a value that stays the same in all attempts and redirects of a call. See `Exchange.once(_:_:)`.
///
/// ```swift
/// struct Shard: Filter {
///     private let number = CallKey<Int>()
///
///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
///         var exchange = exchange
///         let shard = exchange.once(number) { Int.random(in: 0..<8) }
///         exchange.http.headers["X-Shard"] = "\(shard)"
///         return try await next(exchange)
///     }
/// }
/// ```
///
/// Create one key for each filter or object that owns the value, and keep it. With a key that is created for each use,
/// as in `exchange.once(CallKey<Int>()) { … }`, each use gets another value.
public struct CallKey<Value: Sendable>: Sendable {
    @usableFromInline let number = CallValues.newNumber()

    /// Creates a key that differs from every other key.
    public init() {}
}

extension Exchange {
    /// Returns the call's value for a key, and creates the value on first use. All attempts and redirects of the call
    /// share the value, and so does work that is detached later.
    @inlinable public func once<Value>(_ key: CallKey<Value>, _ make: () -> Value) -> Value {
        if let known = value(of: key) { return known }
        let new = make()
        return keep(new, for: key.number) as? Value ?? new
    }

    /// Returns the value that ``once(_:_:)`` created in this call, if any.
    @inlinable public func value<Value>(of key: CallKey<Value>) -> Value? {
        // Inlinable, because generic code would look up the optional's metadata each time.
        guard let value = keptValue(for: key.number) else { return nil }
        return value as? Value
    }

    @usableFromInline func keptValue(for number: UInt64) -> (any Sendable)? { activity.ledger.value(number) }

    @usableFromInline func keep(_ value: any Sendable, for number: UInt64) -> (any Sendable)? {
        activity.ledger.add(value, for: number)
    }
}

/// Allocates memory only from the second value on.
struct CallValues: Sendable {
    private static let count = Atomic<UInt64>(0)
    /// The key of the first value, or 0.
    private var firstNumber: UInt64 = 0
    private var first: (any Sendable)?
    private var others: [(number: UInt64, value: any Sendable)] = []

    fileprivate static func newNumber() -> UInt64 { count.add(1, ordering: .relaxed).newValue }

    subscript(number: UInt64) -> (any Sendable)? {
        if firstNumber == number { return first }
        return others.isEmpty ? nil : others.first { $0.number == number }?.value
    }

    mutating func add(_ value: any Sendable, for number: UInt64) {
        if firstNumber == 0 { (firstNumber, first) = (number, value) } else { others.append((number, value)) }
    }
}
