import ErrandEssentials

/// A kind of failure that you can switch over. It has a name for logs and metrics, and a number for `NSError`.
///
/// Use ``FailureCode`` for most errors: a module can add kinds to it without breaking a caller's `switch`. Use an
/// enumeration for an error that never gets another kind.
public protocol ErrorCode: Hashable, Sendable, CustomStringConvertible {
    /// A stable number, from 1, that is unique within the type. Becomes the `code` of an `NSError`.
    var number: Int { get }
}

/// A ``DescribedError`` with codes. See ``FailureCode`` for an example.
public protocol CodedError: DescribedError {
    /// The type of the codes, usually ``FailureCode``.
    associatedtype Code: ErrorCode
    /// Identifies the kind of this failure.
    var code: Code { get }
}

extension CodedError {
    /// The number of the code.
    public var errorCode: Int { code.number }
}

extension ErrandError: CodedError {
    /// The texts for users and developers, and the underlying error, under the keys of `NSError`.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [
            "NSLocalizedDescription": FailureSentence.text(of: self), "NSDebugDescription": description,
        ]
        if let underlying { info["NSUnderlyingError"] = underlying }
        return info
    }
}
