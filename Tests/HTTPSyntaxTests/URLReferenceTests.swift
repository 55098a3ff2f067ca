import Errand
import ErrandHTTPSyntax
import Foundation
import Testing

@Suite("References to URLs", .leakChecked) struct URLReferenceTests {
    private func resolved(_ text: String, _ base: String = "https://e.com/a/b?c#d") throws -> String {
        let base: URL = try #require(URL(string: base))
        return try URLReference(text).resolved(against: base).absoluteString
    }

    @Test(
        "escapes are kept, and each character that isn't allowed in a URI is escaped individually",
        arguments: [
            ("/a%20b/x[1]", "/a%20b/x%5B1%5D"),
            ("/items?page[number]=2&filter=a%20b", "/items?page%5Bnumber%5D=2&filter=a%20b"),
            ("?cursor=YWJj%3D%3D|next", "/a/b?cursor=YWJj%3D%3D%7Cnext"),
            ("/a|b{c}^d\"e`f", "/a%7Cb%7Bc%7D%5Ed%22e%60f"),
            ("/日本/%E6%97%A5", "/%E6%97%A5%E6%9C%AC/%E6%97%A5"), ("/100%", "/100%25"),
            ("/100%/%zz%4", "/100%25/%25zz%254"),
            ("/%2f%2F%c3", "/%2f%2F%c3"), ("/a b c", "/a%20b%20c"), ("?q='a'", "/a/b?q=%27a%27"), ("/'a'", "/'a'"),
            ("#a#b[c]", "/a/b?c#a%23b%5Bc%5D"), ("/a<b>c", "/a%3Cb%3Ec"), ("?a\\b", "/a/b?a%5Cb"),
            ("/\u{1}\u{7F}", "/%01%7F"),
            ("/!$&'()*+,;=:@-._~", "/!$&'()*+,;=:@-._~"), ("?!$&()*+,;=:@-._~/?", "/a/b?!$&()*+,;=:@-._~/?"),
        ])
    func escapes(text: String, expected: String) throws { #expect(try resolved(text) == "https://e.com" + expected) }

    @Test(
        "a reference is resolved as in a browser: slashes, dots, white space, schemes",
        arguments: [
            ("c", "https://e.com/a/c"), ("../c/./d/..", "https://e.com/c/"), ("%2e%2E/c", "https://e.com/c"),
            ("/c/.%2e/d", "https://e.com/d"), ("..\\c", "https://e.com/c"), ("\\\\f.com\\g", "https://f.com/g"),
            ("//f.com", "https://f.com/"), ("https:g", "https://e.com/a/g"), ("http:f.com", "http://f.com/"),
            ("http:///f.com/g", "http://f.com/g"), ("HTTPS://F.com:443/g", "https://f.com/g"),
            ("  /g \n", "https://e.com/g"),
            ("/g\th\r\ni", "https://e.com/ghi"), ("ht\ntp://f.com/", "http://f.com/"), ("", "https://e.com/a/b?c"),
            ("?", "https://e.com/a/b?"), ("#", "https://e.com/a/b?c#"), ("//f.com:/g", "https://f.com/g"),
            ("//f.com:0080/g", "https://f.com:80/g"), ("//u:p@f.com/g", "https://u:p@f.com/g"),
            ("//f.com//g//", "https://f.com//g//"),
            ("mailto:a@b", "mailto:a@b"), ("urn:a b", "urn:a%20b"), ("wss://f.com", "wss://f.com/"),
            ("foo://F/../g", "foo://F/g"),
            ("//0x7f.1/", "https://127.0.0.1/"), ("//2130706433", "https://127.0.0.1/"),
            ("//[0:0::01]", "https://[::1]/"),
            ("//[::ffff:1.2.3.4]:1", "https://[::ffff:102:304]:1/"), ("//e%2ecom", "https://e.com/"),
        ])
    func resolution(text: String, expected: String) throws { #expect(try resolved(text) == expected) }

    @Test(
        "text that isn't a URL is refused with the reason",
        arguments: [
            ("//f.com:99999", "port"), ("//f.com:8a", "port"), ("https://", "no host"), ("//@/", "no host"),
            ("//f g/", "character"),
            ("//f%2Fg/", "character"), ("//f%00g/", "character"), ("//a%/", "character"), ("//[::1", "no closing ]"),
            ("//[::g]", "an IPv6 address"), ("//1.2.3.4.5", "IPv4 address"), ("//256.1.1.1", "IPv4 address"),
            ("//[fe80::1%25eth0]/", "zone"), ("//a{b}/", "character"), ("//%E9.com/", "character"),
        ])
    func refused(text: String, reason: String) throws {
        let fault = #expect(throws: URLSyntax.Fault.self) { try resolved(text) }
        #expect(fault?.description.contains(reason) == true, "\(fault?.description ?? "")")
    }

    @Test("a relative reference needs a base that has a hierarchy")
    func bases() throws {
        #expect(throws: URLSyntax.Fault.self) { try URLReference("/a").resolved() }
        #expect(throws: URLSyntax.Fault.self) { try resolved("a", "mailto:a@b") }
        #expect(try resolved("#f", "mailto:a@b") == "mailto:a@b#f")
        #expect(try URLReference("http://e.com").resolved().absoluteString == "http://e.com/")
    }

    @Test("bytes are escaped one by one, in any encoding")
    func bytes() throws {
        let base = try #require(URL(string: "https://e.com"))
        func resolved(_ bytes: [UInt8]) throws -> String {
            try URLReference(bytes: bytes).resolved(against: base).absoluteString
        }
        #expect(try resolved(Array("/caf".utf8) + [0xE9]) == "https://e.com/caf%E9")
        #expect(try resolved(Array("/café".utf8)) == "https://e.com/caf%C3%A9")
        #expect(try resolved(Array("/?".utf8) + [0xFF, 0x80, 0x00, 0x41]) == "https://e.com/?%FF%80%00A")
    }

    @Test("a field that was Latin-1 on the wire has its bytes in the URL")
    func latin1() throws {
        var field = HTTPHeaders.Field(.location, "/caf\u{E9}[%20]")
        #expect(field.reference == URLReference("/café[%20]"))
        field.isLatin1 = true
        #expect(field.reference == URLReference(bytes: Array("/caf".utf8) + [0xE9] + Array("[%20]".utf8)))
        var link = HTTPHeaders.Field(.link, "</caf\u{E9}>; rel=next")
        link.isLatin1 = true
        let links = LinkValue.parse(HTTPHeaders([link, HTTPHeaders.Field(.link, "</é>; rel=up")]))
        let base = try #require(URL(string: "https://e.com"))
        #expect(
            links.compactMap { $0.url(relativeTo: base)?.absoluteString } == [
                "https://e.com/caf%E9", "https://e.com/%C3%A9",
            ])
    }

    @Test("a URL for a request is http or https, without credentials, and its host is a name or an address")
    func requests() throws {
        let base = try #require(URL(string: "https://u:p@e.com/a"))
        func url(_ text: String) throws -> String { try URLReference(text).requestURL(against: base).absoluteString }
        #expect(
            try url("b?c[]=d%20e") == "https://e.com/b?c%5B%5D=d%20e" && url("http://x:y@f.com/") == "http://f.com/")
        for text in ["ftp://f.com/", "mailto:a@b", "file:///etc/passwd", "data:,a", "//a!b/", "//./", "https://"] {
            #expect(throws: URLSyntax.Fault.self, "\(text)") { try url(text) }
        }
    }

    @Test("a redirect keeps the fragment, and the zone of the requested address")
    func redirects() throws {
        func url(_ text: String, _ base: String) throws -> String {
            try URLReference(text).redirectURL(from: try #require(URL(string: base))).absoluteString
        }
        #expect(try url("/b", "https://e.com/a#f%20g") == "https://e.com/b#f%20g")
        #expect(try url("/b#", "https://e.com/a#f") == "https://e.com/b#")
        #expect(try url("b", "http://[fe80::1%25Eth0]:8080/a/") == "http://[fe80::1%25Eth0]:8080/a/b")
        #expect(try url("b", "http://node.2:8080/a") == "http://node.2:8080/b")
    }

    @Test("a host in another script is written as Punycode, by the system's table", .enabled(if: hasTable))
    func otherScripts() throws {
        let names = [
            ("例え.jp", "xn--r8jz45g.jp"), ("BÜCHER.De", "xn--bcher-kva.de"), ("faß.de", "xn--fa-hia.de"),
            ("a.b。c", "a.b.c"),
            ("%E4%BE%8B%E3%81%88.jp", "xn--r8jz45g.jp"), ("１２７.０.０.１", "127.0.0.1"), ("ａ.com:81", "a.com:81"),
        ]
        for (name, host) in names { #expect(try resolved("//\(name)/x") == "https://\(host)/x") }
        for name in ["ä b.de", "xn--ü.de", "ａ／ｂ.com", "ä%2F.de", String(repeating: "ä", count: 600)] {
            #expect(throws: URLSyntax.Fault.self, "\(name)") { try resolved("//\(name)/") }
        }
    }

    @Test("a host with other dots or digits is the address that it maps to", .enabled(if: hasTable))
    func mappedAddresses() throws {
        for name in ["127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "%31%32%37%E3%80%820%E3%80%820.1", "①27。0。0。1", "127。1"] {
            #expect(try resolved("//\(name)/x") == "https://127.0.0.1/x", "\(name)")
        }
        for name in ["256。1。1。1", "1。2。3。4。5", "0x。"] {
            let host = try? resolved("//\(name)/")
            #expect(host == nil || host == "https://0.0.0.0/", "\(name)")
        }
    }

    @Test("without a table, such a host is refused, but not a name in Punycode")
    func noTable() throws {
        let base = try #require(URL(string: "https://e.com/a"))
        let fault = #expect(throws: URLSyntax.Fault.self) {
            try URLReference("//例え.jp/").redirectURL(from: base, table: .missing)
        }
        #expect(fault?.description.contains("libidn2") == true)
        #expect(
            try URLReference("//XN--r8jz45g.jp/").redirectURL(from: base, table: .missing).absoluteString
                == "https://xn--r8jz45g.jp/")
        #expect(
            try URLReference("/例").redirectURL(from: base, table: .missing).absoluteString == "https://e.com/%E4%BE%8B")
    }

    @Test("a reference has a maximum length, and a reference of that length is resolved")
    func length() throws {
        let most = URLReference.maximumLength
        for text in ["[", "../", "%", "a@"] {
            let long = "/" + String(repeating: text, count: (most - 1) / text.utf8.count)
            #expect(try resolved(long).hasPrefix("https://e.com/"))
        }
        let fault = #expect(throws: URLSyntax.Fault.self) { try resolved(String(repeating: "a", count: most + 1)) }
        #expect(fault?.description.contains("\(most)") == true)
    }

    @Test("the origin of an IPv6 address keeps its brackets, so it's a URL")
    func addresses() throws {
        let url = try #require(URL(string: "https://[2001:DB8::1]/a"))
        #expect(URLSyntax.origin(of: url) == "https://[2001:db8::1]:443")
        let origin = try #require(URL(string: URLSyntax.origin(of: url)))
        #expect(URLSyntax.origin(of: origin) == "https://[2001:db8::1]:443")
    }

    @Test("a description doesn't contain credentials or query values")
    func description() {
        let text = "\(URLReference("https://u:canary@e.com/a?token=canary#canary"))"
        #expect(!text.contains("canary") && text.contains("e.com/a"))
    }

    private static let hasTable = (try? URLReference("http://b\u{FC}cher.test/").resolved()) != nil
}
