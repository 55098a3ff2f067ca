import ErrandSupport

extension URLSyntax {
    /// Returns the URL for display, as in `/cart;jsessionid=•••?token=•••`. Drops the fragment, and masks credentials
    /// and the values of query items and path parameters.
    ///
    /// - Parameters:
    ///   - text: The URL.
    ///   - isSecret: Whether to mask the value of the item with this name. Defaults to all values.
    ///   - found: Receives the masked values as they appear in the text.
    public static func redacted(
        _ text: String, where isSecret: (String) -> Bool = { _ in true }, found: (Substring) -> Void = { _ in }
    ) -> String {
        if !text.withSpan({ mayHoldSecret($0) }) { return text }
        let secret = text.withSpan { authoritySecret(in: $0) }
        if secret == nil, !text.withSpan({ isRedactable($0, where: isSecret) }) { return text }
        var url = text.utf8[...]
        var result = ""
        if let secret {
            let start = url.index(url.startIndex, offsetBy: secret.lowerBound)
            let end = url.index(start, offsetBy: secret.count)
            result = String(text[..<start]) + "•••"
            text[start..<end].split(separator: ":").forEach(found)
            url = url[end...]
        }
        if let hash = url.firstIndex(of: UInt8(ascii: "#")) { url = url[..<hash] }
        let mark = url.firstIndex(of: UInt8(ascii: "?")) ?? url.endIndex
        let path = String(url[..<mark]) ?? "•••"
        result +=
            path.utf8.contains(UInt8(ascii: ";")) ? redactedParameters(path, where: isSecret, found: found) : path
        guard mark < url.endIndex else { return result }
        return result + "?" + redactedItems(Substring(url[url.index(after: mark)...]), where: isSecret, found: found)
    }

    /// Returns false for most URLs: they have neither credentials, parameters, a query nor a fragment.
    private static func mayHoldSecret(_ url: Span<UInt8>) -> Bool {
        // Without branches, the compiler can vectorize the loop.
        var marks: UInt8 = 0
        for index in url.indices {
            let byte = url[index]
            marks |= (byte == UInt8(ascii: "?") ? 1 : 0) | (byte == UInt8(ascii: "#") ? 1 : 0)
            marks |= (byte == UInt8(ascii: ";") ? 1 : 0) | (byte == UInt8(ascii: "@") ? 1 : 0)
        }
        if marks != 0 { return true }
        return hostStart(in: url).map { webhookSecret(in: url, host: $0) != nil } ?? false
    }

    /// Returns the credentials, or the secret part of a webhook's path.
    private static func authoritySecret(in url: Span<UInt8>) -> Range<Int>? {
        guard let host = hostStart(in: url), url.extracting(..<host).firstIndex(where: endsPath) == nil else {
            return nil
        }
        return endOfCredentials(in: url, host: host).map { host..<$0 } ?? webhookSecret(in: url, host: host)
    }

    /// Returns the index of the hash sign before a URL's fragment. A password can contain another hash sign.
    package static func fragmentMark(in url: Span<UInt8>) -> Int? {
        guard url.firstIndex(of: UInt8(ascii: "#"), from: 0) != nil else { return nil }
        return url.firstIndex(of: UInt8(ascii: "#"), from: authoritySecret(in: url)?.upperBound ?? 0)
    }

    /// Returns the index of the at sign, for the index of the URL's host.
    private static func endOfCredentials(in url: Span<UInt8>, host: Int) -> Int? {
        guard url.firstIndex(of: UInt8(ascii: "@"), from: host) != nil else { return nil }
        let end = url.firstIndex(from: host) { $0 == UInt8(ascii: "/") || endsPath($0) } ?? url.count
        if let at = lastIndex(of: UInt8(ascii: "@"), in: url, host..<end) { return at }
        // A port consists of digits. Other text begins a password that contains an unescaped delimiter.
        guard let colon = lastIndex(of: UInt8(ascii: ":"), in: url, host..<end), url[end - 1] != UInt8(ascii: "]"),
            !url.extracting((colon + 1)..<end).allSatisfy(ASCII.isDigit)
        else { return nil }
        return lastIndex(of: UInt8(ascii: "@"), in: url, end..<url.count)
    }

    private static func lastIndex(of byte: UInt8, in text: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var index = range.upperBound
        while index > range.lowerBound {
            index -= 1
            if text[index] == byte { return index }
        }
        return nil
    }

    private static func isRedactable(_ bytes: Span<UInt8>, where isSecret: (String) -> Bool) -> Bool {
        guard
            var index = bytes.firstIndex(where: {
                $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: ";")
            })
        else { return false }
        if bytes[index] != UInt8(ascii: "?") || bytes.contains(UInt8(ascii: "#")) { return true }
        while index < bytes.count {
            let start = index + 1
            index = bytes.firstIndex(from: start) { $0 == UInt8(ascii: "&") } ?? bytes.count
            let item = bytes.extracting(start..<index)
            let equals = item.firstIndex { $0 == UInt8(ascii: "=") }
            if let equals, isSecret(String(decoding: item.extracting(..<equals))) { return true }
            let value = item.extracting((equals.map { $0 + 1 } ?? 0)...)
            if isToken(value) { return true }
            if mayHoldItems(value), holdsSecret(String(decoding: value), where: isSecret) { return true }
        }
        return false
    }

    /// Returns whether a text is a compact JOSE object (RFC 7515, section 7.1), such as a JSON Web Token. For most
    /// texts, three bytes decide.
    package static func isWebToken(_ text: Span<UInt8>) -> Bool {
        guard text.count > 12, text[0] == UInt8(ascii: "e"), text[1] == UInt8(ascii: "y"), text[2] == UInt8(ascii: "J")
        else { return false }
        var dots = 0
        for index in text.indices {
            let byte = text[index]
            if byte == UInt8(ascii: ".") {
                if index < 10 { return false }
                dots += 1
            } else if !ASCII.isAlphanumeric(byte), byte != UInt8(ascii: "-"), byte != UInt8(ascii: "_") {
                return false
            }
        }
        return dots >= 2
    }

    /// Masks parameters of path segments (RFC 3986, section 3.3), because Java servers write session IDs there.
    private static func redactedParameters(
        _ path: String, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> String {
        let parts = path.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        return parts.enumerated().map { number, part in
            if number == 0 { return String(Substring(part)) }
            let end = part.firstIndex(of: UInt8(ascii: "/")) ?? part.endIndex
            return redactedItem(part[..<end], where: isSecret, found: found) + String(Substring(part[end...]))
        }.joined(separator: ";")
    }

    /// Masks the secret values of a form or of a query without its `?`, for display. If a value contains secret items
    /// itself, such as a URL or JSON, masks the whole value.
    ///
    /// - Parameters:
    ///   - text: The query or the form.
    ///   - isSecret: Whether to mask the value of the item with this name.
    ///   - found: Receives the masked values as they appear in the text.
    public static func redactedItems(
        _ text: Substring, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> String {
        text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { item in
            redactedItem(item, where: isSecret, found: found)
        }.joined(separator: "&")
    }

    private static func redactedItem(
        _ item: Substring.UTF8View, where isSecret: (String) -> Bool, found: (Substring) -> Void
    ) -> String {
        let equals = item.firstIndex(of: UInt8(ascii: "="))
        let value = Substring(equals.map { item[item.index(after: $0)...] } ?? item)
        guard let name = String(item[..<(equals ?? item.startIndex)]) else { return "•••" }
        let isOwn = equals != nil && isSecret(name)
        if !isOwn {
            let text = String(value)
            guard text.withSpan(isToken) || text.withSpan({ mayHoldItems($0) }) && holdsSecret(text, where: isSecret)
            else { return String(Substring(item)) }
        }
        found(value)
        return equals == nil ? "•••" : name + "=•••"
    }

    // MARK: Values that contain items

    private static let maximumDepth = 4

    /// Returns whether a value may contain items. Without certain bytes, it can't, so it needn't be decoded.
    private static func mayHoldItems(_ value: Span<UInt8>) -> Bool {
        value.firstIndex { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: ":") } != nil
    }

    private static func holdsSecret(_ value: String, where isSecret: (String) -> Bool) -> Bool {
        var text = value
        for _ in 0..<maximumDepth {
            let decoded = PercentEncoding.decodeLeniently(text, plusIsSpace: true)
            if hasSecretItem(decoded.utf8, where: isSecret) || hasSecretMember(Array(decoded.utf8), where: isSecret)
                || decoded.withSpan(hasCredentials)
            {
                return true
            }
            if decoded.utf8.count == text.utf8.count { return false }
            text = decoded
        }
        return false
    }

    private static func hasCredentials(_ text: Span<UInt8>) -> Bool {
        guard text.firstIndex(of: UInt8(ascii: "@"), from: 0) != nil else { return false }
        var start = 0
        while let host = hostStart(in: text, from: start) {
            // Another URL can follow.
            let rest = text.extracting(..<(hostStart(in: text, from: host) ?? text.count))
            let end = rest.firstIndex(from: host) { $0 <= 0x20 } ?? rest.count
            if endOfCredentials(in: rest.extracting(..<end), host: host) != nil { return true }
            start = host
        }
        return false
    }

    private static func hasSecretItem(_ text: String.UTF8View, where isSecret: (String) -> Bool) -> Bool {
        text.split(whereSeparator: { "?&;#".utf8.contains($0) }).contains { piece in
            guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else { return false }
            let name = piece[..<equals]
            // Equals signs alone aren't a value, because Base64 text ends with them.
            let hasValue = piece[equals...].contains { $0 != UInt8(ascii: "=") }
            return hasValue && name.count <= maximumName && name.allSatisfy(ASCII.isToken)
                && isSecret(String(Substring(name)))
        }
    }

    /// Returns whether a text contains a member with a secret name: a quoted name before a colon.
    private static func hasSecretMember(_ text: [UInt8], where isSecret: (String) -> Bool) -> Bool {
        let quote = UInt8(ascii: "\"")
        var start: Int?
        for (index, byte) in text.enumerated() where byte == quote {
            defer { start = index + 1 }
            guard let begin = start, index - begin <= maximumName,
                text[(index + 1)...].first(where: { !ASCII.isBlank($0) }) == UInt8(ascii: ":")
            else { continue }
            if isSecret(String(decoding: text[begin..<index], as: UTF8.self)) { return true }
        }
        return false
    }

    private static let maximumName = 64
}
