/// A decoded value with the response it was read from.
public struct Response<Output: Sendable>: Sendable {
    public var value: Output
    public var http: HTTPResponse

    public init(value: Output, http: HTTPResponse) {
        self.value = value
        self.http = http
    }
}
