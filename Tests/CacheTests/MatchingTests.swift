import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandCache

@Suite("Which requests a stored response answers", .endsInTime, .leakChecked)
struct MatchingTests {
    private func get(_ path: String = "feed") -> Get { Get(path, .http) }

    @Test("a GET with a body isn't served or stored by its URL")
    func bodyOfGet() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=100"])
        func search(_ text: String) -> Get {
            var search = get("search")
            search.body = .text(text)
            return search
        }
        #expect(try await f.text(search("a")) == "1")
        #expect(try await f.text(search("b")) == "2")
        #expect(try await f.text(get("search")) == "3")
        #expect(try await f.text(search("a")) == "4")
        #expect(try await f.text(get("search")) == "3")
    }

    @Test(
        "a refusal of a range or a condition isn't a response to the request without it",
        arguments: [("Range", "bytes=100-", 416), ("If-Match", "\"x\"", 412), ("Expect", "200-ok", 417)])
    func refusedConditions(name: String, value: String, status: Int) async throws {
        let f = Fixture()
        let field = HTTPHeaderName(name)
        f.stub.on("*") { request in
            request.headers.contains(field)
                ? StubResponse.status(status).header("Cache-Control", "max-age=100")
                : StubResponse.text("whole").header("Cache-Control", "max-age=100")
        }
        var conditional = get()
        conditional.headers[field] = value
        #expect(try await f.response(conditional).status == status)
        #expect(try await f.response(get()).status == 200)
        #expect(f.sent == 2)
    }

    @Test("a stored response that isn't a success ignores the caller's conditions (RFC 9110, section 13.2.1)")
    func conditionsOfFailures() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=100", "ETag": "\"gone\""], status: 404)
        #expect(try await f.response(get()).status == 404)
        for fields: HTTPHeaders in [
            ["If-Modified-Since": httpDate(f.time.date + 50)], ["If-None-Match": "*"], ["If-None-Match": "\"gone\""],
        ] {
            var conditional = get()
            conditional.headers = fields
            #expect(try await f.response(conditional).status == 404, "\(fields)")
        }
        #expect(f.sent == 1)
    }

    @Test("an unsafe request invalidates the resource that filters show for it")
    func invalidatedResource() async throws {
        let f = Fixture(before: [Stamp()])
        f.respond(["Cache-Control": "max-age=100"])
        for _ in 0..<2 { #expect(try await f.text(get("a")) == "1") }
        var put = get("a")
        put.method = .put
        #expect(try await f.text(put) == "2")
        #expect(try await f.text(get("a")) == "3")
    }

    @Test("users whose names differ only in the composition of a letter are different users")
    func canonicallyEqualUsers() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=100"])
        func get(of user: String) -> Get {
            var get = Get("a", .http)
            get.headers = HTTPHeaders(["X-User": user]).sensitive("X-User")
            return get
        }
        #expect(try await f.text(get(of: "jos\u{E9}")) == "1")
        #expect(try await f.text(get(of: "jose\u{301}")) == "2")
        #expect(try await f.text(get(of: "jos\u{E9}")) == "1")
    }

    @Test("tags that differ only in the composition of a letter are different tags")
    func canonicallyEqualTags() async throws {
        let f = Fixture()
        f.respond(["Cache-Control": "max-age=100"])
        var get = Get("a", .http)
        get.cacheTags = ["caf\u{E9}"]
        #expect(try await f.text(get) == "1")
        try await f.cache.remove(.tag("cafe\u{301}"))
        #expect(try await f.text(get) == "1")
        try await f.cache.remove(.tag("caf\u{E9}"))
        #expect(try await f.text(get) == "2")
    }
}
