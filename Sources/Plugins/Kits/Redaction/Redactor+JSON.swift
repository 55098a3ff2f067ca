public import ErrandEssentials
public import ErrandHTTP

extension Redactor {
    /// A JSON text, which may be cut off, with the values of secret fields masked and every other byte as it was. Nil
    /// for text that is not JSON as far as it goes: its secrets are then unknown.
    public mutating func json(_ bytes: some Sequence<UInt8>) -> Data? { json(bytes, isStrict: true) }

    /// - Parameter isStrict: false for text that may be several values, or have words that JSON doesn't know.
    mutating func json(_ bytes: some Sequence<UInt8>, isStrict: Bool) -> Data? {
        let masked = JSONMasker.masked(Array(bytes), with: Redaction.mask, isStrict: isStrict) {
            redaction.isSecret($0)
        }
        guard let masked else { return nil }
        for secret in masked.secrets { remember(secret) }
        return Data(masked.bytes)
    }
}
