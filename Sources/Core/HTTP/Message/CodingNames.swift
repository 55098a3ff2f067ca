import ErrandMessageSyntax

/// The names in a `Content-Encoding` field (RFC 9110, section 8.4).
package enum CodingNames {
    /// Returns whether a field contains only names that aren't content codings. Some services send `none`, an email
    /// transfer encoding, or the text's charset, which belongs in `Content-Type`.
    package static func areNone(_ value: String) -> Bool {
        FieldList.items(value).allSatisfy { name in
            ["identity", "none", "binary", "7bit", "8bit"].contains(name.lowercased())
                || Charset(label: String(name)) != nil
        }
    }
}
