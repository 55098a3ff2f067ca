/// A kind of failure that an error's users switch over: a name for logs and metrics, and a number for `NSError`.
///
/// Most errors use ``FailureCode``, whose kinds are static members, so that a module can add some without breaking a
/// `switch` of its users; an enumeration will do for an error that never gets another kind.
public protocol ErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// A number that never changes, from 1; no two codes of a type have the same.
    var number: Int { get }
}

/// A ``DescribedError`` with codes: its `errorCode` is the number of its code. See ``FailureCode`` for an example.
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
