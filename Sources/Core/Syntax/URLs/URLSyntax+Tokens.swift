import ErrandSupport

// Secrets without a name: tokens whose beginning tells the service, and the paths of webhooks.
extension URLSyntax {
    /// The beginnings of tokens, by their first byte.
    private static let tokenPrefixes: [[[UInt8]]] = {
        var prefixes = [[[UInt8]]](repeating: [], count: 128)
        for text in [
            "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xoxa-", "xoxr-",
            "xoxs-", "xapp-", "sk-", "sk_live_", "sk_test_", "rk_live_", "hf_", "npm_", "pypi-", "AIza", "lin_api_",
            "dop_v1_", "shpat_",
        ] {
            let bytes = Array(text.utf8)
            prefixes[Int(bytes[0])].append(bytes)
        }
        return prefixes
    }()
    private static let shortestRest = 16

    /// Returns the end of a token that begins at an index and whose beginning tells the service. A word without a digit
    /// isn't a token.
    package static func endOfKnownToken(in text: Span<UInt8>, from start: Int) -> Int? {
        guard start + shortestRest < text.count, text[start] < 0x80 else { return nil }
        for prefix in tokenPrefixes[Int(text[start])] where text.contains(prefix, at: start) {
            var (end, hasDigit) = (start + prefix.count, false)
            while end < text.count {
                let byte = text[end]
                if ASCII.isDigit(byte) {
                    hasDigit = true
                } else if !ASCII.isLetter(byte), byte != UInt8(ascii: "-"), byte != UInt8(ascii: "_") {
                    break
                }
                end += 1
            }
            return hasDigit && end - start >= prefix.count + shortestRest ? end : nil
        }
        return nil
    }

    /// Whether a text is a JSON Web Token, or a token whose beginning tells the service.
    static func isToken(_ text: Span<UInt8>) -> Bool {
        isWebToken(text) || endOfKnownToken(in: text, from: 0) == text.count
    }

    // MARK: Webhooks

    /// The rest of such a path is a secret, because anyone who knows it can post. A host that begins with a dot also
    /// has subdomains.
    private static let webhooks: [(host: String, path: [UInt8], isOneSegment: Bool)] = [
        ("hooks.slack.com", "/services/", false), ("discord.com", "/api/webhooks/", false),
        ("discordapp.com", "/api/webhooks/", false), (".webhook.office.com", "/webhookb2/", false),
        ("api.telegram.org", "/bot", true),
    ].map { ($0.0, Array($0.1.utf8), $0.2) }

    /// Returns the secret part of a webhook's path, for the index of the URL's host. For most URLs, one byte decides.
    package static func webhookSecret(in url: Span<UInt8>, host: Int) -> Range<Int>? {
        guard let slash = url.firstIndex(of: UInt8(ascii: "/"), from: host), slash + 1 < url.count,
            isFirstOfWebhook(url[slash + 1])
        else { return nil }
        for webhook in webhooks
        where url.contains(webhook.path, at: slash) && isHost(url.extracting(host..<slash), webhook.host) {
            let start = slash + webhook.path.count
            let end = url.firstIndex(from: start) {
                $0 <= 0x20 || endsPath($0) || webhook.isOneSegment && $0 == UInt8(ascii: "/")
            }
            return start < end ?? url.count ? start..<(end ?? url.count) : nil
        }
        return nil
    }

    private static func isFirstOfWebhook(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "s") || byte == UInt8(ascii: "a") || byte == UInt8(ascii: "w") || byte == UInt8(ascii: "b")
    }

    private static func isHost(_ host: Span<UInt8>, _ expected: String) -> Bool {
        expected.withSpan { expected in
            if expected[0] != UInt8(ascii: ".") {
                return host.count == expected.count && ASCII.equalsIgnoringCase(host, expected)
            }
            let length = expected.count
            return host.count > length && ASCII.equalsIgnoringCase(host.extracting((host.count - length)...), expected)
        }
    }

    // MARK: Parts of a URL

    static func endsPath(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }

    /// Returns the index after the next `://`.
    package static func hostStart(in text: Span<UInt8>, from start: Int = 0) -> Int? {
        var index = start
        while let slash = text.firstIndex(of: UInt8(ascii: "/"), from: index), slash + 1 < text.count {
            if slash > start, text[slash - 1] == UInt8(ascii: ":"), text[slash + 1] == UInt8(ascii: "/") {
                return slash + 2
            }
            index = slash + 1
        }
        return nil
    }
}
