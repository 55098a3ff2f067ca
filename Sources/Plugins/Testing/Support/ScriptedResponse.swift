public import Errand
public import ErrandEssentials

/// A response that a test writes, for a ``TestServer`` or for a ``StubTransport``.
///
/// ```swift
/// let stub = StubTransport()
/// server.on("/users/7", .json(#"{"id":7}"#))
/// stub.on("/gone", response: .status(410))
/// ```
public protocol ScriptedResponse: Sendable {
    /// Creates a response of any status, headers and bytes.
    init(status: Int, headers: HTTPHeaders, body: Data)
}

extension ScriptedResponse {
    /// A status without a body.
    public static func status(_ status: Int, headers: HTTPHeaders = [:]) -> Self {
        Self(status: status, headers: headers, body: Data())
    }

    /// UTF-8 text.
    public static func text(_ text: String, status: Int = 200) -> Self {
        Self(status: status, headers: [.contentType: "text/plain; charset=utf-8"], body: Data(text.utf8))
    }

    /// JSON from its text.
    public static func json(_ text: String, status: Int = 200) -> Self {
        Self(status: status, headers: [.contentType: "application/json"], body: Data(text.utf8))
    }

    /// Bytes, by default without a type.
    public static func data(_ data: Data, contentType: String? = nil, status: Int = 200) -> Self {
        Self(status: status, headers: contentType.map { [.contentType: $0] } ?? [:], body: data)
    }
}
