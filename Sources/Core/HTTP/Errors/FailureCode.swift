/// The ``ErrorCode`` of an error type: a name and a number. Codes of two error types are of different types.
///
/// ```swift
/// struct QuotaError: CodedError {
///     typealias Code = FailureCode<QuotaError>
///     var code: Code
///     var description: String { "\(code): no more requests today" }
/// }
///
/// extension FailureCode<QuotaError> {
///     static var usedUp: Self { Self("usedUp", 1) }
/// }
/// ```
///
/// Only the module of an error makes codes for it.
public struct FailureCode<Failure: Error>: ErrorCode {
    /// The name of the code: stable, of low cardinality, fit for metrics.
    public let description: String
    /// A number that never changes, from 1; the `code` of an `NSError`.
    public let number: Int

    /// Makes a code; no other code of the error has its name or its number.
    public init(_ description: String, _ number: Int) { (self.description, self.number) = (description, number) }

    /// Whether the numbers are the same.
    public static func == (a: FailureCode, b: FailureCode) -> Bool { a.number == b.number }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
