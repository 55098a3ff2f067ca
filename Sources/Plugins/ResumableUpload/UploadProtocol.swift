/// How an upload is resumed on the wire. Cases may be added: write a `default`.
public enum UploadProtocol: String, Sendable, Hashable, Codable {
    /// Asks the server first, with OPTIONS. A server that does not say gets ``draft8``, which is an ordinary upload for one
    /// that knows no protocol.
    case automatic
    /// Resumable uploads for HTTP (draft-ietf-httpbis-resumable-upload), interop version 8.
    case draft8
    /// The same in interop version 6.
    case draft6
    /// tus 1.0 (tus.io), with the extensions that the server names.
    case tus
}
