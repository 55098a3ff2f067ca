public import ErrandHTTP

/// Creates redactors that mask the secrets from an exchange's header fields wherever they occur. Use one value to mask
/// many exchanges.
///
/// ```swift
/// var secrets = HeaderSecrets()
/// var redactor = secrets.redactor(knowing: exchange.http.headers, response.headers)
/// print(redactor.url(exchange.http.urlText))
/// ```
///
/// Consecutive exchanges with the same secrets share a redactor. A redactor never knows secrets from another exchange.
public struct HeaderSecrets: Sendable {
    private var (sent, received) = (HTTPHeaders.Secrets(), HTTPHeaders.Secrets())
    private var redactor: Redactor

    /// Creates a value that doesn't know any secrets.
    public init(_ redaction: Redaction = Redaction()) { redactor = Redactor(redaction, names: KnownNames()) }

    /// The rules that decide which values are secret.
    public var redaction: Redaction { redactor.redaction }

    /// Returns a redactor that knows only these fields' secrets.
    public mutating func redactor(knowing request: HTTPHeaders?, _ response: HTTPHeaders?) -> Redactor {
        let (request, response) = (request ?? [:], response ?? [:])
        if !request.haveSecrets(equalTo: sent) || !response.haveSecrets(equalTo: received) {
            (sent, received) = (request.secrets, response.secrets)
            redactor = Redactor(redaction, names: redactor.names)
            _ = redactor.headers(HTTPHeaders(sent.fields + received.fields))
        }
        // The names are looked up in the stored redactor, so the next exchange finds them.
        let named = redactor.namedSecrets(in: request) + redactor.namedSecrets(in: response)
        var copy = redactor
        if !named.isEmpty { copy.rememberWords(of: named) }
        return copy
    }
}
