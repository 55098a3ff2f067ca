/// An error that the caller of a request expects, for example a cache miss when only a cached response was requested.
///
/// An activity that ends with an expected error hasn't failed: accessories receive a success without a response, and
/// `mapError` isn't called. `send` still throws the error.
public protocol ExpectedError: Error {
    /// Whether this error is the expected end of its request.
    var isExpected: Bool { get }
}

extension Error {
    /// Whether the error is an expected end of its request.
    package var isExpectedEnd: Bool { (self as? any ExpectedError)?.isExpected == true }
}
