import ErrandMessageSyntax

/// The names in a `Content-Encoding` field (RFC 9110, section 8.4).
package enum CodingNames {
    /// Some services send `none`, a transfer encoding of mail, or the text's charset, which belongs in `Content-Type`.
    /// These names don't count as content codings.
    package static func areNone(_ value: String) -> Bool {
        FieldList.items(value).allSatisfy { name in
            ["identity", "none", "binary", "7bit", "8bit"].contains(name.lowercased())
                || Charset(label: String(name)) != nil
        }
    }
}
