import ErrandEssentials
import ErrandMessageSyntax

/// Form encoding (WHATWG URL, section 5), as RFC 6749, appendix B, requires.
enum FormEncoding {
    static func encode(_ text: String) -> String {
        PercentEncoding.encode(text) { byte in
            ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: " ") || "*-._".utf8.contains(byte)
        }
        .replacing(" ", with: "+")
    }

    static func encode(_ items: [(name: String, value: String)]) -> String {
        items.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
    }

    /// Returns nil if an item is malformed, or if a name occurs twice (RFC 6749, section 3.1).
    static func decode(_ query: some StringProtocol) -> [String: String]? {
        var items: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(parts[0], plusIsSpace: true),
                let value = PercentEncoding.decode(parts.count > 1 ? parts[1] : "", plusIsSpace: true),
                items.updateValue(value, forKey: name) == nil
            else { return nil }
        }
        return items
    }
}
