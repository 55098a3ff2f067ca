import ErrandHTTPSyntax

/// A URL as typed, prepared for HTTP: credentials are split off, and disallowed characters percent-encoded.
struct TargetURL: Equatable, Sendable {
    /// Without credentials and fragment.
    let text: String
    /// From `https://user:password@host/`, decoded.
    var user: String?
    var password: String?

    init(_ typed: String) throws(DownloadArguments.Mistake) {
        let typed = String(typed.prefix { $0 != "#" })
        guard ArgumentParser.isURL(typed), let start = typed.firstRange(of: "://")?.upperBound else {
            throw .init(message: "\(Self.masked(typed)) is not an http or https URL")
        }
        let end = typed[start...].firstIndex { "/?\\".contains($0) } ?? typed.endIndex
        var authority = typed[start..<end]
        if let at = authority.lastIndex(of: "@") {
            let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = Self.decoded(parts[0])
            password = parts.count > 1 ? Self.decoded(parts[1]) : nil
            authority = authority[authority.index(after: at)...]
        }
        let scheme = typed[..<start].lowercased()
        text = scheme + authority + Self.encoded(typed[end...])
        if let fault = Self.fault(in: text) { throw .init(message: "\(masked) cannot be requested: \(fault)") }
    }

    /// The URL for messages, without secrets.
    var masked: String { Self.masked(text) }

    /// The host in lowercase, without a trailing dot.
    var host: String {
        let authority = text.drop { $0 != "/" }.dropFirst(2).prefix { !"/?".contains($0) }.lowercased()
        if authority.hasPrefix("["), let end = authority.firstIndex(of: "]") {
            return String(authority[authority.index(after: authority.startIndex)..<end])
        }
        let host = authority.prefix { $0 != ":" }
        return String(host.hasSuffix(".") ? host.dropLast() : host)
    }

    /// The last path component, decoded, or the host if there is none.
    var name: String {
        let path = text.prefix { $0 != "?" }.dropFirst(8).drop { $0 != "/" }
        guard let last = path.split(separator: "/").last else { return host }
        return TextLayout.printable(Self.decoded(last))
    }

    /// Percent-encodes everything after the authority that RFC 3986 doesn't allow. Existing escapes stay.
    private static func encoded(_ text: Substring) -> String {
        var result: [UInt8] = []
        let bytes = Array(text.utf8)
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count
                && ASCII.isHexDigit(bytes[index + 1]) && ASCII.isHexDigit(bytes[index + 2])
            if isEscape || ASCII.isPathOrQuery(byte) {
                result.append(byte)
            } else {
                result += Array("%\(String(byte, radix: 16, uppercase: true).leading(2))".utf8)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func decoded(_ text: Substring) -> String { PercentEncoding.decodeLeniently(text) }
}
