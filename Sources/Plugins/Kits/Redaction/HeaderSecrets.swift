public import ErrandHTTP

/// Creates redactors that know the secrets in the header fields of an exchange. For plugins that mask many exchanges.
///
/// ```swift
/// var secrets = HeaderSecrets()
/// var redactor = secrets.redactor(knowing: exchange.http.headers, response.headers)
/// print(redactor.url(exchange.http.urlText))
/// ```
///
/// Most exchanges that are masked together carry one user's credential, so this keeps the redactor of the last exchange
/// with the forms in which its secrets may appear. The secrets of different exchanges aren't mixed.
public struct HeaderSecrets: Sendable {
    private var fields: [HTTPHeaders.Field] = []
    private var redactor: Redactor

    /// Creates an instance that doesn't know any secrets yet.
    public init(_ redaction: Redaction = Redaction()) { redactor = Redactor(redaction) }

    /// The rules for what to mask.
    public var redaction: Redaction { redactor.redaction }

    /// Returns a redactor that knows only the secrets in these fields.
    public mutating func redactor(knowing request: HTTPHeaders?, _ response: HTTPHeaders?) -> Redactor {
        var secrets = request?.secrets ?? []
        if let response, response.haveSecrets { secrets += response.secrets }
        if secrets != fields {
            (fields, redactor) = (secrets, Redactor(redaction))
            _ = redactor.headers(HTTPHeaders(secrets))
        }
        return redactor
    }
}
