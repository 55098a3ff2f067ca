public import ErrandEssentials

/// A resource that a local transport serves in its conformance suite. See
/// ``TransportConformance/localCases(serving:laws:knownLimitations:within:)``.
public struct LocalResource: Sendable, Hashable {
    /// The resource's URL. Paths and queries can contain percent-encoded characters.
    public let url: String
    /// The resource's media type.
    public let contentType: String
    /// The bytes that a GET returns.
    public let body: Data

    init(_ url: String, _ body: Data, contentType: String = "text/plain") {
        (self.url, self.body, self.contentType) = (url, body, contentType)
    }

    /// Creates a resource whose body is its URL, so no two resources have the same body.
    init(_ url: String) { self.init(url, Data("the body of \(url)".utf8)) }
}

extension LocalResource {
    static let origin = "https://local.example"

    /// Whether a transport may leave the resource out: no file can have its name, or a folder has no place for it.
    var mayBeMissing: Bool {
        if !url.hasPrefix(Self.origin + "/") || url.contains("?") { return true }
        // An encoded slash, or text that isn't ASCII, which file systems normalize.
        return url.split(separator: "%", omittingEmptySubsequences: false).dropFirst().contains { part in
            UInt8(part.prefix(2), radix: 16).map { $0 == UInt8(ascii: "/") || $0 >= 0x80 } ?? false
        }
    }

    /// Whether a response may have this media type. A folder of files doesn't know the type of a file without an
    /// extension, or with an unusual one.
    func accepts(type: String) -> Bool {
        let name = url.split(separator: "/").last ?? ""
        let known = [contentType, "application/octet-stream"]
        return !name.dropLast().contains(".") || name.contains("?")
            || known.contains(type.prefix { $0 != ";" && !$0.isWhitespace }.lowercased())
    }

    /// Resources that every local transport can serve.
    static let plain: [LocalResource] = [
        LocalResource("\(origin)/page.txt"), LocalResource("\(origin)/folder/page.txt"),
        LocalResource("\(origin)/empty.txt", Data()), LocalResource("\(origin)/one.txt", Data([0x31])),
        LocalResource("\(origin)/long.pdf", WireBytes.prefix(300_001), contentType: "application/pdf"),
    ]

    /// A group of resources whose URLs differ only in one respect.
    struct Group: Sendable {
        let difference: String
        let resources: [LocalResource]

        init(_ difference: String, _ targets: [String]) {
            self.difference = difference
            resources = targets.map { LocalResource($0.hasPrefix("https:") ? $0 : LocalResource.origin + $0) }
        }

        var name: String { "resources whose URLs differ only in \(difference) aren't confused" }
    }

    static let groups: [Group] = [
        Group("case", ["/d/page.txt", "/d/Page.txt", "/d/page.TXT"]),
        Group("an encoded slash", ["/d/a%2Fb", "/d/a/b"]),
        Group("an encoded percent sign", ["/d/a%2520b", "/d/a%20b", "/d/100%25", "/d/100%2525"]),
        Group("a space and a plus sign", ["/d/a%20b", "/d/a+b", "/d/ab"]),
        Group("a longer or shorter name", ["/d/page", "/d/page2", "/d/page.txt", "/d/pag", "/page", "/e/d/page"]),
        Group("characters that are wildcards", ["/d/page1", "/d/page*", "/d/page_", "/d/page%25", "/d/page."]),
        Group("characters that mark a query or fragment", ["/d/a%3Fx=1", "/d/a%23x", "/d/a"]),
        Group("a Unicode composition", ["/d/%C3%A4", "/d/a%CC%88", "/d/a"]),
        Group("their query", ["/d/q", "/d/q?x=1", "/d/q?x=2", "/d/q?X=1", "/d/q?x=1&y=2", "/d/q?x=12", "/d/q?x"]),
        Group("the order of their query", ["/d/q?x=1&x=2", "/d/q?x=2&x=1"]),
        Group("encoded characters of their query", ["/d/q?x=1%262", "/d/q?x=1&2", "/d/q?x=a%2Bb", "/d/q?x=a%20b"]),
        Group(
            "their host or port",
            ["https://one.example/d", "https://two.example/d", "https://one.example:8443/d", "https://e.one.example/d"]),
    ]
}
