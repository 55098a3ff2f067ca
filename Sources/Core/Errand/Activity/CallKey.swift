import Synchronization

/// Names a value that is the same for the whole of a call, in all its attempts and hops; see `Exchange.once(_:_:)`.
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
/// Make one key for each filter or object that the value belongs to, and keep it.
public struct CallKey<Value: Sendable>: Sendable {
    let number = CallValues.newNumber()

    /// Makes a key that equals no other.
    public init() {}
}

/// The values of one call. A class would cost each call an allocation; this costs an array, and only the calls that
/// have more than one value.
struct CallValues: Sendable {
    private static let count = Atomic<UInt64>(0)
    /// That of the first value; 0 for none.
    private var firstNumber: UInt64 = 0
    private var first: (any Sendable)?
    private var others: [(number: UInt64, value: any Sendable)] = []

    fileprivate static func newNumber() -> UInt64 { count.add(1, ordering: .relaxed).newValue }

    /// The value of the key with a number.
    subscript(number: UInt64) -> (any Sendable)? {
        if firstNumber == number { return first }
        return others.isEmpty ? nil : others.first { $0.number == number }?.value
    }

    mutating func add(_ value: any Sendable, for number: UInt64) {
        if firstNumber == 0 { (firstNumber, first) = (number, value) } else { others.append((number, value)) }
    }
}
