import ErrandSupport

extension URLSyntax {
    /// The beginnings of tokens that services issue, and how many bytes follow at least.
    private static let prefixes: [(text: [UInt8], rest: Int)] = [
        ("ghp_", 16), ("gho_", 16), ("ghu_", 16), ("ghs_", 16), ("ghr_", 16), ("github_pat_", 16), ("glpat-", 16),
        ("xoxb-", 10), ("xoxp-", 10), ("xoxa-", 10), ("xoxr-", 10), ("xoxs-", 10), ("xapp-", 10), ("sk-", 16),
        ("sk_live_", 16), ("sk_test_", 16), ("rk_live_", 16), ("hf_", 16), ("npm_", 16), ("pypi-", 16), ("AIza", 30),
        ("lin_api_", 16), ("dop_v1_", 16), ("shpat_", 16),
    ].map { (Array($0.0.utf8), $0.1) }

    /// Returns whether the last four bytes of a text may be the end of such a beginning. Returns `false` for most
    /// texts.
    package static func mayEndTokenPrefix(_ last: UInt32) -> Bool {
        // "AIza"
        if last == 0x4149_7A61 { return true }
        guard last & 0xFF == 0x5F || last & 0xFF == 0x2D else { return false }
        switch UInt16(truncatingIfNeeded: last >> 8) {
        // hp, ho, hu, hs, hr, at, xb, xp, xa, xr, xs, pp, sk, ve, st, hf, pm, pi, v1
        case 0x6870, 0x686F, 0x6875, 0x6873, 0x6872, 0x6174, 0x7862, 0x7870, 0x7861, 0x7872, 0x7873, 0x7070, 0x736B,
            0x7665, 0x7374, 0x6866, 0x706D, 0x7069, 0x7631:
            return true
        default: return false
        }
    }

    /// Returns the length of a token at the start of a text, which is known by its beginning. Returns `nil` for words
    /// without a digit.
    package static func lengthOfKnownToken(_ text: some Collection<UInt8>) -> Int? {
        guard let first = text.first,
            let prefix = prefixes.first(where: { $0.text[0] == first && text.starts(with: $0.text) })
        else { return nil }
        let rest = text.dropFirst(prefix.text.count).prefix {
            ASCII.isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
        guard rest.count >= prefix.rest, rest.contains(where: ASCII.isDigit) else { return nil }
        return prefix.text.count + rest.count
    }

    /// Whether a text is a token: a JSON Web Token, or one that begins as those of a known service.
    static func isToken(_ text: Span<UInt8>) -> Bool {
        if isWebToken(text) { return true }
        guard text.count > 12, "gxsrhnpAld".utf8.contains(text[0]) else { return false }
        let bytes = Array(String(decoding: text).utf8)
        return lengthOfKnownToken(bytes) == bytes.count
    }

    // MARK: Webhooks

    /// The paths of webhooks. The rest of such a path is a secret, because whoever knows it can post.
    private static let webhooks: [(host: String, path: String, isOneSegment: Bool)] = [
        ("hooks.slack.com", "/services/", false), ("discord.com", "/api/webhooks/", false),
        ("discordapp.com", "/api/webhooks/", false), (".webhook.office.com", "/webhookb2/", false),
        ("api.telegram.org", "/bot", true),
    ]

    /// Returns the secret part of a webhook's path in a URL, whose scheme isn't part of the text.
    package static func webhookSecret(in text: Substring.UTF8View) -> Range<String.Index>? {
        guard let slash = text.firstIndex(of: UInt8(ascii: "/")) else { return nil }
        let host = String(Substring(text[..<slash])).lowercased()
        for webhook in webhooks where webhook.host == host || webhook.host.first == "." && host.hasSuffix(webhook.host)
        {
            guard text[slash...].starts(with: webhook.path.utf8) else { continue }
            let start = text.index(slash, offsetBy: webhook.path.utf8.count)
            let ends = webhook.isOneSegment ? "/?#" : "?#"
            let end = text[start...].firstIndex { $0 <= 0x20 || ends.utf8.contains($0) } ?? text.endIndex
            return start < end ? start..<end : nil
        }
        return nil
    }

    /// Returns whether a URL's host may be one of a webhook. Returns `false` for most URLs after its third slash.
    package static func mayBeWebhook(_ url: some Collection<UInt8>) -> Bool {
        let mark = UInt8(ascii: "/")
        guard let slashes = url.firstIndex(of: mark), let host = url[slashes...].firstIndex(where: { $0 != mark }),
            let slash = url[host...].firstIndex(of: mark)
        else { return false }
        let path = url[slash...]
        return webhooks.contains { path.starts(with: $0.path.utf8) }
    }
}
