import ErrandEssentials

/// The parts of a URL (WHATWG URL, section 4.1), percent-encoded so each is also valid in RFC 3986.
struct ParsedURL {
    /// In lowercase, without the colon.
    var scheme = ""
    var user: [UInt8] = []
    var password: [UInt8] = []
    /// Nil without an authority. An IPv6 address includes its brackets.
    var host: [UInt8]?
    /// Nil for the scheme's default port.
    var port: UInt16?
    /// All segments, each after a slash, or the text of an opaque path.
    var path: [UInt8] = []
    /// Whether the path doesn't consist of segments, as in `mailto:a@example.com`.
    var isOpaque = false
    var query: [UInt8]?
    var fragment: [UInt8]?

    /// Whether the standard calls the scheme special: a backslash is a slash, and there's always a path.
    var isSpecial: Bool { scheme == "file" || defaultPort != nil }

    var defaultPort: UInt16? {
        switch scheme {
        case "http", "ws": 80
        case "https", "wss": 443
        case "ftp": 21
        default: nil
        }
    }

    /// Removes the last segment, but keeps a file's drive letter.
    mutating func shortenPath() {
        if scheme == "file", path.count == 3, ParsedURL.startsWithDrive(path) { return }
        path.removeSubrange((path.lastIndex(of: UInt8(ascii: "/")) ?? path.endIndex)...)
    }

    /// Whether the first segment is a drive letter and a colon.
    static func startsWithDrive(_ path: [UInt8]) -> Bool {
        path.count >= 3 && ASCII.isLetter(path[1]) && path[2] == UInt8(ascii: ":")
            && (path.count == 3 || path[3] == UInt8(ascii: "/"))
    }

    /// Serialized (section 4.5).
    var text: String {
        var bytes = Array(scheme.utf8)
        bytes.append(UInt8(ascii: ":"))
        if let host {
            bytes += "//".utf8
            if !user.isEmpty || !password.isEmpty {
                bytes += user
                if !password.isEmpty { bytes += [UInt8(ascii: ":")] + password }
                bytes.append(UInt8(ascii: "@"))
            }
            bytes += host
            if let port { bytes += ":\(port)".utf8 }
        } else if !isOpaque, path.starts(with: "//".utf8) {
            // Prevents the path from being read as an authority.
            bytes += "/.".utf8
        }
        bytes += path
        if let query { bytes += [UInt8(ascii: "?")] + query }
        if let fragment { bytes += [UInt8(ascii: "#")] + fragment }
        return String(decoding: bytes, as: UTF8.self)
    }
}
