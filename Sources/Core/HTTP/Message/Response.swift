/// A decoded value with the response it was read from.
public struct Response<Output: Sendable>: Sendable {
    /// The decoded value.
    public var value: Output
    /// The response that it was decoded from.
    public var http: HTTPResponse

    /// Makes a response, for a fake agent or a test.
    @inlinable public init(value: Output, http: HTTPResponse) {
        self.value = value
        self.http = http
    }
}
