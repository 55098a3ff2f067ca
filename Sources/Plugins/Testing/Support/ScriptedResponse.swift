public import Errand
public import ErrandEssentials

/// A response that a ``TestServer`` or a ``StubTransport`` gives, as specified by a test.
///
/// ```swift
/// let stub = StubTransport()
/// server.on("/users/7", .json(#"{"id":7}"#))
/// stub.on("/gone", response: .status(410))
/// ```
public protocol ScriptedResponse: Sendable {
    /// Creates a response from a status, headers, and bytes.
    init(status: Int, headers: HTTPHeaders, body: Data)
}

extension ScriptedResponse {
    /// Returns a response without a body.
    public static func status(_ status: Int, headers: HTTPHeaders = [:]) -> Self {
        Self(status: status, headers: headers, body: Data())
    }

    /// Returns a response with a text. It's sent as UTF-8, with the type `text/plain`.
    public static func text(_ text: String, status: Int = 200) -> Self {
        Self(status: status, headers: [.contentType: "text/plain; charset=utf-8"], body: Data(text.utf8))
    }

    /// Returns a response with a JSON text. The text isn't checked.
    public static func json(_ text: String, status: Int = 200) -> Self {
        Self(status: status, headers: [.contentType: "application/json"], body: Data(text.utf8))
    }

    /// Returns a response with bytes. By default, the response doesn't have a `Content-Type`.
    public static func data(_ data: Data, contentType: String? = nil, status: Int = 200) -> Self {
        Self(status: status, headers: contentType.map { [.contentType: $0] } ?? [:], body: data)
    }
}
