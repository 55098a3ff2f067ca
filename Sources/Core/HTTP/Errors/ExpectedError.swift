/// An error with which a request may end as its caller expects, such as that nothing is stored where a cache was asked for
/// what it has.
///
/// An activity that ends with an expected error has not failed: accessories receive a success without a response, and
/// no `mapError` is called. `send` throws the error all the same.
public protocol ExpectedError: Error {
    /// Whether this error is the expected end of its request.
    var isExpected: Bool { get }
}

extension Error {
    /// Whether the error is the end of a request that its caller expects.
    package var isExpectedEnd: Bool { (self as? any ExpectedError)?.isExpected == true }
}
