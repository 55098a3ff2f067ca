import Errand
import ErrandEssentials
import ErrandURLFilters
import Testing

@Suite("The text of a URL", .leakChecked)
struct URLTextTests {
    static let odd = "https://example.com/a%20b/%E4%BD%A0//c;d=1/?x=1&x=&y&&%7A=%2F+%2520&a%5B%5D=1&=v#frag?&x"

    private func text(_ text: String) throws -> URLText {
        URLText(try #require(URL(string: text, encodingInvalidCharacters: false)))
    }

    private func appended(_ url: String, _ parameters: Parameters, _ rule: MergeRule = .append) throws -> String {
        var url = try text(url)
        try url.merge(parameters, by: rule)
        _ = try url.url()
        return url.text
    }

    @Test("appending an item keeps the rest of the URL: escapes, order, repeated names, empty values, path")
    func untouched() throws {
        let expected = Self.odd.replacing("#frag", with: "&n=a%20%26%2B%25%2F".replacing("%2F", with: "/") + "#frag")
        #expect(try appended(Self.odd, ["n": "a &+%/"]) == expected)
        #expect(try text(Self.odd).url().absoluteString == Self.odd)
    }

    @Test(
        "the start of the query is found",
        arguments: [
            ("https://example.com", "https://example.com?n=1"), ("https://example.com/", "https://example.com/?n=1"),
            ("https://example.com/?", "https://example.com/?n=1"),
            ("https://example.com/?a", "https://example.com/?a&n=1"),
            ("https://example.com/?a&", "https://example.com/?a&n=1"),
            ("https://example.com/?a?", "https://example.com/?a?&n=1"),
            ("https://example.com/#f", "https://example.com/#n=1"),
        ])
    func beginnings(url: String, expected: String) throws {
        let expected = url.hasSuffix("#f") ? "https://example.com/?n=1#f" : expected
        #expect(try appended(url, ["n": "1"]) == expected)
        #expect(try appended(url, [:]) == url)
    }

    @Test("appending twice encodes each item once, and a percent sign stays unchanged")
    func once() throws {
        var url = try text("https://example.com/x?a=%2520%20")
        for _ in 0..<2 { try url.append(["b": "100%", "c": .encoded("%E4%BD%A0"), "d": .null, "e": ["x", "y"]]) }
        let items = "&b=100%25&c=%E4%BD%A0&d&e%5B%5D=x&e%5B%5D=y"
        #expect(url.text == "https://example.com/x?a=%2520%20" + items + items)
        #expect(url.queryItems.first?.value == "%20 ")
    }

    @Test("existing names are replaced in place, or kept, in any escaping")
    func merging() throws {
        let url = "https://example.com/?a=1&%62=2&c=3&b=4&d"
        #expect(try appended(url, ["b": "x", "n": "y"], .replace) == "https://example.com/?a=1&b=x&c=3&d&n=y")
        #expect(try appended(url, ["b": "x", "n": "y"], .keep) == url + "&n=y")
        #expect(try appended(url, ["b": "x", "d": "y"], .keep) == url)
        #expect(try appended("https://example.com/?#f", ["b": "x"], .replace) == "https://example.com/?b=x#f")
        #expect(try appended("https://example.com/", ["b": "x"], .keep) == "https://example.com/?b=x")
    }

    @Test("items are decoded as servers do")
    func items() throws {
        let items = try text("https://example.com/?a=1+2%203&b&=&%7a=%E4%BD%A0%2f&c=%FF").queryItems
        #expect(items.map(\.name) == ["a", "b", "", "z", "c"])
        #expect(items.map(\.value) == ["1 2 3", nil, "", "你/", "\u{FFFD}"])
        #expect(try text("https://example.com/?").queryItems.isEmpty)
    }

    @Test("removing items keeps the others in place, and an empty query loses its question mark")
    func removing() throws {
        var url = try text("https://example.com/p?utm_source=x&b=1&%75tm_id=7&b=#f")
        url.removeQuery { $0.hasPrefix("utm_") }
        #expect(url.text == "https://example.com/p?b=1&b=#f")
        url.removeQuery { $0 == "none" }
        #expect(url.text == "https://example.com/p?b=1&b=#f")
        url.removeQuery { _ in true }
        #expect(url.text == "https://example.com/p#f")
        url.removeFragment()
        url.removeFragment()
        #expect(url.text == "https://example.com/p")
    }

    @Test(
        "a prefix and a path are joined with one slash, and the query is kept",
        arguments: [
            ("https://example.com", "/api/v2", "https://example.com/api/v2/"),
            ("https://example.com/", "api/v2/", "https://example.com/api/v2/"),
            ("https://example.com/a/b/?q=/x", "/api//", "https://example.com/api/a/b/?q=/x"),
            ("https://example.com?q", "api", "https://example.com/api/?q"),
            ("https://example.com:8443/a%2Fb#f", "/%E4", "https://example.com:8443/%E4/a%2Fb#f"),
            ("https://example.com/a", "/", "https://example.com/a"),
            ("https://example.com/a", "", "https://example.com/a"),
        ])
    func prefixes(url: String, prefix: String, expected: String) throws {
        var text = try text(url)
        try text.prefixPath(prefix)
        #expect(text.text == expected)
    }

    @Test("beginnings of paths are replaced in whole segments")
    func replaced() throws {
        func replaced(_ path: String, _ old: String, _ new: String) throws -> String {
            var url = try text("https://example.com\(path)?q")
            try url.replacePath(old, with: new)
            return url.path
        }
        #expect(try replaced("/v1/users", "/v1", "/v2") == "/v2/users")
        #expect(try replaced("/v1", "v1/", "/v2") == "/v2")
        #expect(try replaced("/v10/users", "/v1", "/v2") == "/v10/users")
        #expect(try replaced("/v1/users", "/v1", "/") == "/users")
        #expect(try replaced("/v1", "/v1", "/") == "/")
        #expect(try replaced("/users", "/", "/v2") == "/v2/users")
    }

    @Test("an origin replaces the old origin, and its path precedes the URL's path")
    func origins() throws {
        var url = try text("http://example.com:8080/a?q#f")
        try url.setOrigin("https://cdn.example.com")
        #expect(url.text == "https://cdn.example.com/a?q#f")
        try url.setOrigin("https://[::1]:8443/base/?x")
        #expect(url.text == "https://[::1]:8443/base/a?q#f")
        #expect(throws: URLFilterError.self) { try url.setOrigin("http://example.com") }
        #expect(throws: URLFilterError.self) { try url.setOrigin("example.com") }
        #expect(throws: URLFilterError.self) { try url.setOrigin("https://") }
    }

    @Test("dot segments are resolved before later filters see them")
    func dots() throws {
        var url = try text("https://example.com/a")
        try url.setPath("/b/../../c/./d")
        #expect(try url.url().absoluteString == "https://example.com/c/d")
    }

    /// Returns the query's items that aren't empty.
    private func items(of text: URLText) -> [String] {
        text.queryItems.map { item in item.value.map { "\(item.name)=\($0)" } ?? item.name }.filter { $0 != "" }
    }

    @Test("random edits of unusual URLs don't trap, and don't change how a server reads the other parts of the URL")
    func random() throws {
        var random = SeededGenerator(seed: 7)
        let pieces = [
            "a", "=", "&", "%20", "%25", "+", "/", "?", ";", "%E4%BD%A0", "..", ".", "b%5B%5D", "@", ":", "!",
        ]
        var count = 0
        for _ in 0..<5000 {
            let rest = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            guard let url = URL(string: "https://example.com/" + rest.joined(), encodingInvalidCharacters: false) else {
                continue
            }
            var text = URLText(url)
            let (before, path) = (items(of: text), text.path)
            try text.append(["n": "1 2"])
            #expect(items(of: text) == before + ["n=1 2"])
            #expect(text.path == path)
            text.removeQuery { $0 == "n" }
            #expect(text.path == path)
            _ = try text.url()
            count += 1
        }
        #expect(count > 1000)
    }
}
