/// A URI or relative reference (RFC 3986, section 4.1), possibly internationalized.
struct URIReference: Sendable {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring
    var query: Substring?
    var fragment: Substring?

    /// The expression in RFC 3986, appendix B, matches every text.
    init(_ text: String) {
        var rest = text[...]
        if let hash = rest.firstIndex(of: "#") {
            fragment = rest[rest.index(after: hash)...]
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: "?") {
            query = rest[rest.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(of: ":"), colon > rest.startIndex, !rest[..<colon].contains("/") {
            scheme = rest[..<colon]
            rest = rest[rest.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
    }

    /// RFC 3986, section 5.2.
    static func resolve(_ text: String, against base: String) -> (uri: String, fragment: String?) {
        var target = URIReference(text)
        let fragment = target.fragment.map(String.init)
        if target.scheme == nil {
            let base = URIReference(base)
            if target.authority == nil {
                if target.path.isEmpty {
                    target.path = base.path
                    target.query = target.query ?? base.query
                } else if !target.path.hasPrefix("/") {
                    target.path = merged(target.path, base)
                }
                target.authority = base.authority
            }
            target.scheme = base.scheme
        }
        var uri = ""
        if let scheme = target.scheme { uri += "\(scheme.lowercased()):" }
        if let authority = target.authority { uri += "//\(authority.lowercased())" }
        uri += withoutDots(target.path)
        if let query = target.query { uri += "?\(query)" }
        return (uri, fragment)
    }

    private static func merged(_ path: Substring, _ base: URIReference) -> Substring {
        if base.authority != nil, base.path.isEmpty { return "/\(path)" }
        guard let slash = base.path.lastIndex(of: "/") else { return path }
        return "\(base.path[...slash])\(path)"
    }

    /// RFC 3986, section 5.2.4.
    private static func withoutDots(_ path: Substring) -> String {
        guard path.contains("./") || path.hasSuffix(".") else { return String(path) }
        let isRooted = path.hasPrefix("/")
        var segments: [Substring] = []
        let all = path.split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in all.enumerated() {
            let isLast = index == all.count - 1
            switch segment {
            case ".": if isLast { segments.append("") }
            case "..":
                if segments.count > (isRooted ? 1 : 0) { segments.removeLast() }
                if isLast { segments.append("") }
            default: segments.append(segment)
            }
        }
        return segments.joined(separator: "/")
    }
}
