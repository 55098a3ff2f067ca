import ErrandSupport

/// Masks the secrets of a text for people: shaped secrets, secrets of URLs, and values after secret names.
enum SecretsInText {
    /// `false` for most texts without secrets.
    static func mayOccur(in text: Span<UInt8>) -> Bool {
        text.firstIndex(of: UInt8(ascii: "@"), from: 0) != nil || PairsInText.mayHoldPairs(text)
            || ShapedSecrets.mayOccur(in: text)
    }

    static func masked(
        _ text: String, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> String? {
        let shaped = ShapedSecrets.masked(text, found: found)
        let first = URLsInText.masked(shaped ?? text, where: isSecret, found: found) ?? shaped
        return PairsInText.masked(first ?? text, where: isSecret, found: found) ?? first
    }
}
