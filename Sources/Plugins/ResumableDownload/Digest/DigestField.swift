import ErrandDigests
import ErrandEssentials
import ErrandHTTPFields

/// The fields of RFC 9530: `Repr-Digest: sha-256=:…:, sha-512=:…:`.
enum DigestField {
    /// The 32 bytes of `sha-256`; nil where the field has none, or is no dictionary (RFC 9651, section 3.2). Other algorithms
    /// are ignored.
    static func sha256(_ field: String?) -> [UInt8]? {
        guard let field, field.utf8.count <= 4096,
            let digest = try? StructuredField.Dictionary(parsing: field)["sha-256"]?.item?.value.bytes,
            digest.count == SHA256Digest.byteCount
        else { return nil }
        return Array(digest)
    }
}
