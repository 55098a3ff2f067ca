/// A kind of failure to switch over: a name for logs and metrics, and a number for `NSError`.
///
/// Most errors use ``FailureCode``, whose static members let a module add kinds without breaking a caller's `switch`.
/// An enumeration is enough for an error that never gets another kind.
public protocol ErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// A stable number, from 1 and unique within its type.
    var number: Int { get }
}

/// A ``DescribedError`` with codes. Its `errorCode` is the number of its code; see ``FailureCode`` for an example.
public protocol CodedError: DescribedError {
    /// The kinds of failure.
    associatedtype Code: ErrorCode
    /// The kind of this failure.
    var code: Code { get }
}

extension CodedError {
    /// The code's stable number.
    public var errorCode: Int { code.number }
}
