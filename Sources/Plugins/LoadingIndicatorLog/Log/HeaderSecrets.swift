import Errand

/// A redactor that knows the secrets of header fields. Those of most records that are written together are the same: one
/// user's credential, whose forms are found once.
struct HeaderSecrets {
    private var fields: [HTTPHeaders.Field] = []
    private var redactor: Redactor

    init(_ redaction: Redaction) { redactor = Redactor(redaction) }

    var redaction: Redaction { redactor.redaction }

    mutating func redactor(knowing request: HTTPHeaders?, _ response: HTTPHeaders?) -> Redactor {
        var secrets = request?.filter(\.isSensitive) ?? []
        if let response { secrets += response.lazy.filter(\.isSensitive) }
        if secrets != fields {
            (fields, redactor) = (secrets, Redactor(redaction))
            _ = redactor.headers(HTTPHeaders(secrets))
        }
        return redactor
    }
}
