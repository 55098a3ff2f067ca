import Errand
import ErrandHTTP
import ErrandTesting
import Foundation
import Testing

@testable import ErrandCache

@Suite("Keys", .leakChecked)
struct KeyTests {
    private let hasher = KeyedHasher(secret: Array(repeating: 7, count: 32))

    private func key(
        _ url: String = "https://example.com/a?x=1&t=9", _ method: HTTPMethod = .get, headers: HTTPHeaders = [:],
        body: RequestBody = .none, rule: CacheKeyPolicy = .standard, hasPartition: Bool = false
    ) throws -> CacheKey? {
        let url = try #require(URL(string: url))
        return CacheKeyBuilder.timed(
            HTTPRequest(method, url, headers: headers, body: body), url: CacheKeyBuilder.url(url), rule: rule,
            hasPartition: hasPartition, users: UserMarks.implied(by: headers, besides: nil), hasher)
    }

    @Test("everything that changes the response changes the key")
    func differences() throws {
        let keys = try [
            key(), key("https://example.com/a?x=2&t=9"), key("https://staging.example.com/a?x=1&t=9"),
            key("http://example.com/a?x=1&t=9"), key("https://example.com:8443/a?x=1&t=9"),
            key("https://example.com/A?x=1&t=9"), key("https://example.com/a?t=9&x=1"),
            key("https://example.com/a", .post),
            key("https://example.com/a", .post, body: .text("1")),
            key("https://example.com/a", .post, body: .text("2")),
            key("https://example.com/a", .post, body: .data(Data("1".utf8))), key("https://example.com/a", .put),
            key(headers: ["Accept": "text/html"]), key(headers: ["Accept-Language": "de"]),
            key(headers: ["Authorization": "a"]), key(headers: ["Authorization": "b"]),
            key(headers: ["Range": "bytes=0-1"]),
            key(rule: .standard.adding("1")), key(rule: .standard.adding("1\nand 2")),
            key(rule: .standard.adding("1").adding("2")), key(rule: .named("1")),
            key(headers: ["Accept": "a\naccept-language b"]), key(headers: ["Accept": "a", "Accept-Language": "b"]),
        ].map { try #require($0) }
        #expect(Set(keys).count == keys.count)
        #expect(Set(keys.map(\.digest)).count == keys.count)
        #expect(keys.allSatisfy { $0.digest.count == 64 })
    }

    @Test("the number 1 and the text \"1\" have different keys in JSON, and equal parameters have equal keys")
    func parameters() async throws {
        let f = Fixture()
        f.respond()
        func get(_ value: ParameterValue) -> Get {
            var get = Get()
            get.method = .post
            get.parameters = Parameters([.init("a", value)])
            get.parameterPlacement = .json
            return get
        }
        #expect(try await f.text(get(.string("1"))) == "1")
        #expect(try await f.text(get(.string("1"))) == "1")
        #expect(try await f.text(get(.integer(1))) == "2")
        #expect(try await f.text(get(.array([1]))) == "3")
    }

    @Test("differences that don't matter don't change the key; fragments aren't sent")
    func same() throws {
        #expect(try key() == key("https://example.com/a?x=1&t=9#part"))
        #expect(try key() == key(headers: ["X-Trace": "1", "User-Agent": "x"]))
        #expect(
            try key("https://example.com/a", .post, body: .text("1"), rule: .standard.ignoringBody())
                == key("https://example.com/a", .post, body: .text("2"), rule: .standard.ignoringBody()))
        #expect(try key(headers: ["Authorization": "a"], hasPartition: true) == key(hasPartition: true))
    }

    @Test(
        "the key has one spelling of a URL's scheme, host and port, and leaves the rest unchanged",
        arguments: [
            ("HTTP://Example.COM:80/A?B#c", "http://example.com/A?B"), ("https://a.test:8443/", "https://a.test:8443/"),
            ("https://A.test:08443/", "https://a.test:8443/"), ("https://a.test:80/:443", "https://a.test:80/:443"),
            ("http://[FE80::1]:80/", "http://[fe80::1]/"), ("http://[::1]/A:b", "http://[::1]/A:b"),
            ("https://a.test:?X", "https://a.test?X"), ("https://a.test:443", "https://a.test"),
            ("https://a.test/%41?u=HTTP://B.test:443/", "https://a.test/%41?u=HTTP://B.test:443/"),
        ])
    func origins(text: String, expected: String) throws {
        #expect(CacheKeyBuilder.url(try #require(URL(string: text))) == expected)
    }

    @Test("volatile parameters are dropped from query and form")
    func dropping() throws {
        let rule = CacheKeyPolicy.standard.dropping("t", "a b")
        #expect(try key(rule: rule) == key("https://example.com/a?x=1&t=10", rule: rule))
        #expect(try key("https://example.com/a?t=1", rule: rule) == key("https://example.com/a", rule: rule))
        #expect(
            try key("https://example.com/a?t%5B%5D=1&t%5Bk%5D=2&a+b=3&a%20b=4&tt=5", rule: rule)
                == key("https://example.com/a?tt=5", rule: rule))
        func form(_ text: String) -> RequestBody { .text(text, contentType: "application/x-www-form-urlencoded") }
        #expect(
            try key("https://example.com/a", .post, body: form("x=1&t=2"), rule: rule)
                == key("https://example.com/a", .post, body: form("x=1&t=3"), rule: rule))
        #expect(
            try key("https://example.com/a", .post, body: form("x=1&t=2"), rule: rule)
                != key("https://example.com/a", .post, body: form("x=2&t=2"), rule: rule))
        #expect(try key("https://example.com/a?%=1&%4=2&%zz", rule: rule) != nil)
        #expect(try key("https://example.com/a", .post, body: form("%&%4=1&%zz"), rule: rule) != nil)
    }

    @Test("declared headers count, and a key shows no secret")
    func secrets() throws {
        var headers: HTTPHeaders = ["Authorization": "Bearer s3cret"]
        headers.set("X-Region", "region-s3cret", sensitive: true)
        let text = try #require(try key(headers: headers, rule: .standard.including("X-Region"))).text
        #expect(!text.contains("s3cret") && text.contains("x-region ") && text.contains("authorization "))
        #expect(text.hasPrefix("timed\nGET https://example.com/a?x=1&t=9\n"))
        let other = KeyedHasher(secret: Array(repeating: 8, count: 32))
        #expect(hasher.hash("a") != other.hash("a"))
    }

    @Test("a body that cannot be compared has no key")
    func streams() throws {
        #expect(try key("https://example.com/a", .post, body: .stream { HTTPBody(Data()) }) == nil)
    }
}
