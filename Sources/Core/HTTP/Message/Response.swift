/// A request's output, along with its HTTP response.
public struct Response<Output: Sendable>: Sendable {
    /// The decoded output.
    public var value: Output
    /// The HTTP response that the output was decoded from.
    public var http: HTTPResponse

    /// Creates a response, for your own agent or a test.
    @inlinable public init(value: Output, http: HTTPResponse) {
        self.value = value
        self.http = http
    }
}
