/// A kind of failure that an error's users switch over: a name for logs and metrics, and a number for `NSError`.
///
/// Kinds are static constants of a struct, so that a module can add some without breaking a `switch` of its users.
///
/// ```swift
/// struct QuotaError: CodedError {
///     struct Code: ErrorCode {
///         let description: String
///         let number: Int
///         static let usedUp = Code(description: "usedUp", number: 1)
///     }
///     var code: Code
///     var description: String { "\(code): no more requests today" }
/// }
/// ```
public protocol ErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// A number that never changes, from 1; no two codes of a type have the same.
    var number: Int { get }
}

/// A ``DescribedError`` with codes: its `errorCode` is the number of its code.
public protocol CodedError: DescribedError {
    /// The kinds of failure.
    associatedtype Code: ErrorCode
    /// The kind of this failure.
    var code: Code { get }
}

extension CodedError {
    /// The number of the code, which never changes.
    public var errorCode: Int { code.number }
}
