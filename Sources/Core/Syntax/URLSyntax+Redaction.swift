import ErrandSupport

extension URLSyntax {
    /// The URL for people to read: no credentials, no fragment, the values of the query masked.
    ///
    /// - Parameters:
    ///   - text: the URL.
    ///   - isSecret: whether the value of the query item of that name is masked; all are by default.
    ///   - found: receives the masked values, as they stand in the text.
    public static func redacted(
        _ text: String, where isSecret: (String) -> Bool = { _ in true }, found: (Substring) -> Void = { _ in }
    ) -> String {
        if !text.withSpan({ isRedactable($0, where: isSecret) }) { return text }
        var url = text.utf8[...]
        if let hash = url.firstIndex(of: UInt8(ascii: "#")) { url = url[..<hash] }
        let mark = url.firstIndex(of: UInt8(ascii: "?")) ?? url.endIndex
        var result = String(url[..<mark]) ?? "•••"
        if let scheme = result.firstRange(of: "://") {
            let authority = result[scheme.upperBound...].prefix { $0 != "/" }
            if let at = authority.lastIndex(of: "@") {
                authority[..<at].split(separator: ":").forEach(found)
                result.replaceSubrange(scheme.upperBound...at, with: "•••@")
            }
        }
        guard mark < url.endIndex else { return result }
        return result + "?" + redactedItems(Substring(url[url.index(after: mark)...]), where: isSecret, found: found)
    }

    /// Whether a URL has credentials, a fragment or a secret item; most have none.
    private static func isRedactable(_ bytes: Span<UInt8>, where isSecret: (String) -> Bool) -> Bool {
        guard
            var index = bytes.firstIndex(where: {
                $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "#")
            })
        else { return false }
        if bytes[index] != UInt8(ascii: "?") || bytes.contains(UInt8(ascii: "#")) { return true }
        while index < bytes.count {
            let start = index + 1
            index = bytes.firstIndex(from: start) { $0 == UInt8(ascii: "&") } ?? bytes.count
            let item = bytes.extracting(start..<index)
            if let equals = item.firstIndex(where: { $0 == UInt8(ascii: "=") }),
                isSecret(String(decoding: item.extracting(..<equals)))
            {
                return true
            }
        }
        return false
    }

    /// A query without its `?`, or a form, for people to read: the values of secret items masked.
    ///
    /// - Parameters:
    ///   - text: the query or the form.
    ///   - isSecret: whether the value of the item of that name is masked.
    ///   - found: receives the masked values, as they stand in the text.
    public static func redactedItems(
        _ text: Substring, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> String {
        let items = text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { item in
            guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else { return String(item) ?? "•••" }
            guard let name = String(item[..<equals]) else { return "•••" }
            if !isSecret(name) { return String(item) ?? "•••" }
            found(Substring(item[item.index(after: equals)...]))
            return name + "=•••"
        }
        return items.joined(separator: "&")
    }
}
