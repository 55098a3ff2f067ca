import Errand
import Foundation
import Testing

@testable import ErrandCache

private let now = Date(timeIntervalSince1970: 1_700_000_000)
private let url = URL(string: "https://example.com/a") ?? URL(filePath: "/")

@Suite("The rules of RFC 9111", .leakChecked)
struct HTTPRuleTests {
    private func fresh(_ headers: HTTPHeaders, status: Int = 200, delay: Double = 0) -> HTTPFreshness {
        HTTPFreshness(status: status, headers: headers, sent: now - delay, received: now)
    }

    @Test(
        "the lifetime is calculated as in section 4.2.1",
        arguments: [
            (["Cache-Control": "max-age=60", "Expires": "0"], 60), (["Expires": "0"], 0), (["Expires": "x"], 0),
            (["Expires": "-1", "Last-Modified": httpDate(now - 1000)], 0),
            (["Expires": httpDate(now + 90)], 90), (["Expires": httpDate(now - 90)], 0),
            (["Expires": httpDate(now + 90), "Date": httpDate(now + 30)], 60),
            (["Expires": httpDate(now + 300), "Date": httpDate(now + 400)], 0),
            (["Expires": httpDate(now + 10), "Date": "foo"], 10),
            (["Expires": httpDate(now + 10), "Cache-Control": "max-age=0"], 0),
            (["Cache-Control": "s-maxage=60"], 0), ([:], 0),
            (["Last-Modified": httpDate(now - 1000), "Date": httpDate(now)], 100),
            (["Last-Modified": httpDate(now - 86_400 * 365)], 7 * 86_400),
            (["Last-Modified": httpDate(now + 1000)], 0), (["Last-Modified": "yesterday"], 0),
        ] as [(HTTPHeaders, Int64)])
    func lifetime(headers: HTTPHeaders, seconds: Int64) {
        #expect(fresh(headers).lifetime == seconds)
    }

    @Test(
        "a heuristic lifetime from Last-Modified applies only to some statuses (section 4.2.2)",
        arguments: [
            (200, true), (203, true), (204, true), (404, true), (410, true), (501, true), (201, false),
            (403, false), (503, false), (599, false),
        ])
    func heuristic(status: Int, isFresh: Bool) {
        let headers: HTTPHeaders = ["Last-Modified": httpDate(now - 1000)]
        #expect((fresh(headers, status: status).lifetime > 0) == isFresh)
        var open = headers
        open["Cache-Control"] = "public"
        #expect(fresh(open, status: status).lifetime == 100)
    }

    @Test(
        "the age on arrival is calculated as in section 4.2.3",
        arguments: [
            ([:], 0, 0), (["Age": "30"], 0, 30), (["Age": "30"], 5, 35), (["Age": "x"], 0, 0), (["Age": "-7"], 0, 0),
            (["Age": "7200, 0"], 0, 7200), (["Age": "0, 7200"], 0, 0), (["Age": "7200.0"], 0, 0),
            (["Date": httpDate(now - 20)], 0, 20), (["Date": httpDate(now + 20), "Age": "15"], 0, 15),
            (["Date": httpDate(now - 10), "Age": "25"], 0, 25), (["Age": "99999999999999999999"], 0, 1 << 31),
        ] as [(HTTPHeaders, Double, Int64)])
    func age(headers: HTTPHeaders, delay: Double, seconds: Int64) {
        #expect(fresh(headers, delay: delay).initialAge == seconds)
    }

    @Test("the age grows with time, and is unknown if the clock was set back far")
    func ageGrows() {
        let fresh = fresh(["Age": "10"])
        #expect(fresh.age(received: now, now: now + 5) == 15)
        #expect(fresh.age(received: now, now: now - 30) == 10)
        #expect(fresh.age(received: now, now: now - 61) == nil)
        #expect(fresh.age(received: now, now: .distantFuture) != nil)
    }

    @Test("a stored response is used as in sections 4.2, 5.2, RFC 5861 and RFC 8246", arguments: plansTable)
    func plan(_ row: (name: String, stored: HTTPHeaders, request: HTTPHeaders, age: Double, expected: String)) {
        let decision = HTTPCacheRules.decide(
            fresh(row.stored), received: now, request: CacheDirectives(request: row.request),
            now: now + row.age)
        let text =
            switch decision {
            case .serve(let status), .validate(let status): status.description
            case .serveAndRevalidate(let status): "\(status) and revalidate"
            }
        #expect(text == row.expected, "\(row.name)")
    }

    @Test("a stale response is served on error if the server and the caller allow it (section 4.2.4, RFC 5861)")
    func staleOnError() {
        func status(_ stored: String, _ request: String = "", _ preferences: Int64? = nil, age: Double) -> String? {
            HTTPCacheRules.staleOnError(
                fresh(["Cache-Control": stored]), received: now,
                request: CacheDirectives(request: ["Cache-Control": request]),
                preferences: .init(staleIfError: preferences), now: now + age)?.description
        }
        let served = "fwd=stale; ttl=-5; detail=\"stale-if-error\""
        #expect(status("max-age=5", age: 10) == nil)
        #expect(status("max-age=5, stale-if-error=5", age: 10) == served)
        #expect(status("max-age=5, stale-if-error=4", age: 10) == nil)
        #expect(status("max-age=5", "stale-if-error=5", age: 10) == served)
        #expect(status("max-age=5", "", 5, age: 10) == served)
        #expect(status("max-age=5", "no-cache", 5, age: 10) == nil)
        #expect(status("max-age=5, must-revalidate", "", 99, age: 10) == nil)
        #expect(status("max-age=5, no-cache", "", 99, age: 10) == nil)
    }

    @Test("only responses that may be stored are stored (section 3)", arguments: storingTable)
    func storing(_ row: (HTTPMethod, Int, HTTPHeaders, HTTPHeaders, Bool)) {
        let response = HTTPResponse(url: url, status: row.1, headers: row.2)
        let request = HTTPRequest(row.0, url, headers: row.3)
        #expect((HTTPCacheRules.refusal(of: response, to: request) == nil) == row.4)
    }

    @Test("only fields that may be stored are stored, and no secrets (section 3.1)")
    func storedFields() {
        var headers: HTTPHeaders = [
            "Connection": "a, B", "a": "1", "b": "2", "c": "3", "Keep-Alive": "x", "Transfer-Encoding": "chunked",
            "Set-Cookie": "s=1", "Upgrade": "h2c", "Age": "7", "Proxy-Authenticate": "Basic", "d": "4",
            "Cache-Control": "no-cache=\"d\"",
        ]
        headers.set("X-Token", "secret", sensitive: true)
        #expect(HTTPCacheHeaders.storable(headers).map(\.name.rawName) == ["c", "Cache-Control"])
    }

    @Test("a 304 replaces the fields that it should replace (section 3.2)")
    func merging() {
        let stored: HTTPHeaders = [
            "A": "1", "B": "1", "Content-Length": "5", "Content-Type": "text/plain", "ETag": "x",
        ]
        let new: HTTPHeaders = [
            "B": "2", "C": "3", "Content-Length": "0", "Content-Encoding": "gzip", "Content-Range": "bytes 0-1/2",
            "Connection": "C", "Content-Type": "text/html",
        ]
        let merged = HTTPCacheHeaders.merged(stored, with: new)
        #expect(merged["A"] == "1" && merged["B"] == "2" && merged["Content-Type"] == "text/html")
        #expect(merged["Content-Length"] == "5" && merged["Content-Encoding"] == nil && merged["C"] == nil)
    }

    @Test("all lines of a name in a 304 replace all stored lines of that name, and other names keep their lines")
    func mergingLines() {
        var (stored, new) = (HTTPHeaders(), HTTPHeaders())
        for (name, value) in [
            ("Vary", "A"), ("Link", "</1>"), ("Vary", "B"), ("Link", "</2>"), ("Via", "x"), ("Via", "y"),
        ] {
            stored.add(HTTPHeaderName(name), value)
        }
        for (name, value) in [("link", "</3>"), ("Vary", "A"), ("LINK", "</4>")] {
            new.add(HTTPHeaderName(name), value)
        }
        let merged = HTTPCacheHeaders.merged(stored, with: new)
        #expect(merged.values(of: "Link") == ["</3>", "</4>"] && merged.values(of: "Via") == ["x", "y"])
        #expect(merged.values(of: .vary) == ["A", "B"])
    }

    @Test("a 304 counts only if it matches the stored response (section 4.3.4)")
    func confirming() {
        let stored: HTTPHeaders = ["ETag": "\"a\"", "Last-Modified": "Mon"]
        let own = HTTPCacheHeaders.validating(HTTPRequest(.get, url), stored)?.headers ?? [:]
        func confirms(_ new: HTTPHeaders, _ stored: HTTPHeaders = stored, _ condition: HTTPHeaders? = nil) -> Bool {
            HTTPCacheHeaders.confirms(new, stored, condition: condition ?? own)
        }
        #expect(confirms([:]) && confirms(["ETag": "W/\"a\""]) && confirms(["Last-Modified": "Mon"]))
        #expect(!confirms(["ETag": "\"b\"", "Last-Modified": "Mon"]) && !confirms(["ETag": "\"b\""]))
        #expect(!confirms(["ETag": "\"b\""], [:]) && !confirms([:], [:]))
        let date: HTTPHeaders = ["Last-Modified": "Mon"]
        #expect(confirms([:], date, ["If-Modified-Since": "Mon"]) && !confirms([:], date, ["If-Modified-Since": "Tue"]))
        for condition: HTTPHeaders in [
            ["If-None-Match": "\"b\""], ["If-None-Match": "\"a\", \"b\""], ["If-None-Match": "*"],
            ["If-Modified-Since": "Mon"], [:],
        ] { #expect(!confirms([:], stored, condition), "\(condition)") }
        #expect(confirms([:], stored, ["If-None-Match": "W/\"a\""]))
    }

    @Test("unsafe methods invalidate stored responses, on the same origin only (section 4.4)")
    func invalidation() {
        func urls(_ method: HTTPMethod, _ status: Int, _ headers: HTTPHeaders) -> [String] {
            let response = HTTPResponse(url: url, status: status, headers: headers)
            return HTTPCacheRules.invalidated(by: response, to: HTTPRequest(method, url))
        }
        let both: HTTPHeaders = ["Location": "/b", "Content-Location": "https://EXAMPLE.com:443/c"]
        #expect(urls(.post, 200, [:]) == ["https://example.com/a"])
        let written = ["https://example.com/a", "https://example.com/a%20b?c%5B%5D=%20"]
        #expect(urls(.post, 200, ["Location": "/a%20b?c[]=%20#f"]) == written)
        #expect(urls(.post, 200, ["Location": "\\a b?c[]=%20"]) == written)
        #expect(urls(.post, 200, ["Location": "//[", "Content-Location": "/%61/../a"]) == ["https://example.com/a"])
        #expect(urls("M-SEARCH", 302, both).count == 3)
        #expect(urls(.delete, 200, ["Location": "https://other.com/b"]) == ["https://example.com/a"])
        #expect(urls(.delete, 200, ["Location": "http://example.com/b"]) == ["https://example.com/a"])
        #expect(urls(.put, 500, both) == [])
        #expect(urls(.put, 404, both) == [])
        #expect(urls(.get, 200, both) == [])
        #expect(urls(.options, 200, both) == [])
    }

    @Test("the response to a POST may serve a GET if it allows that (RFC 9110, section 9.3.3)")
    func postResponses() {
        func isStored(_ headers: HTTPHeaders, status: Int = 200) -> Bool {
            HTTPCacheRules.isStorableForGet(
                HTTPResponse(url: url, status: status, headers: headers), to: HTTPRequest(.post, url))
        }
        #expect(isStored(["Cache-Control": "max-age=9", "Content-Location": "/a"]))
        #expect(isStored(["Cache-Control": "max-age=9", "Content-Location": "HTTPS://Example.com:443/x\\..\\a"]))
        #expect(!isStored(["Cache-Control": "max-age=9", "Content-Location": "/b"]))
        #expect(!isStored(["Content-Location": "/a"]))
        #expect(!isStored(["Cache-Control": "max-age=9"]))
        #expect(!isStored(["Cache-Control": "max-age=9", "Content-Location": "/a"], status: 201))
    }

    @Test(
        "the caller's own conditions and ranges are evaluated (section 4.3.2, RFC 9110, sections 13, 14)",
        arguments: conditionsTable)
    func conditions(_ row: (HTTPHeaders, HTTPHeaders, HTTPConditions.Outcome)) {
        let outcome = HTTPConditions.evaluate(
            HTTPRequest(.get, url, headers: row.0), status: 200, headers: row.1, length: 10,
            received: now)
        #expect(outcome == row.2)
    }

    @Test("values that Vary names are compared without white space around commas (section 4.1)")
    func vary() {
        func value(_ values: String...) -> String? {
            var headers = HTTPHeaders()
            values.forEach { headers.add("Foo", $0) }
            return VaryRule.value(of: "foo", in: headers)
        }
        #expect(value("1,2") == value(" 1, 2 ") && value("1", "2") == value("1, 2"))
        #expect(value("1") != value("2") && value() == nil && value("") != nil)
        #expect(value("1", "2") != value("1") && value("1", "2") != value("2"))
        #expect(value("A") != value("a") && value("1,2") != value("2,1"))
        #expect(VaryRule(["Vary": "B, a ,,A"]).names == ["a", "b"])
    }
}

private let plansTable: [(String, HTTPHeaders, HTTPHeaders, Double, String)] = [
    ("fresh", ["Cache-Control": "max-age=10"], [:], 9, "hit; ttl=1"),
    ("as old as its lifetime is stale", ["Cache-Control": "max-age=10"], [:], 10, "fwd=stale"),
    ("heuristic", ["Last-Modified": httpDate(now - 1000)], [:], 10, "hit; ttl=90; detail=\"heuristic\""),
    ("no-cache", ["Cache-Control": "max-age=10, no-cache"], [:], 0, "fwd=stale; detail=\"no-cache\""),
    ("no-cache of fields", ["Cache-Control": "max-age=10, no-cache=\"a\""], [:], 0, "hit; ttl=10"),
    ("must-revalidate, fresh", ["Cache-Control": "max-age=10, must-revalidate"], [:], 5, "hit; ttl=5"),
    (
        "must-revalidate, stale", ["Cache-Control": "max-age=10, must-revalidate"], ["Cache-Control": "max-stale"],
        50, "fwd=stale; detail=\"must-revalidate\""
    ),
    (
        "request no-cache", ["Cache-Control": "max-age=10"], ["Cache-Control": "no-cache"], 0,
        "fwd=request; detail=\"no-cache\""
    ),
    ("pragma", ["Cache-Control": "max-age=10"], ["Pragma": "no-cache"], 0, "fwd=request; detail=\"no-cache\""),
    (
        "request max-age, young enough", ["Cache-Control": "max-age=99"], ["Cache-Control": "max-age=5"], 5,
        "hit; ttl=94"
    ),
    (
        "request max-age, too old", ["Cache-Control": "max-age=99"], ["Cache-Control": "max-age=5"], 6,
        "fwd=request; detail=\"max-age\""
    ),
    (
        "request max-age=0", ["Cache-Control": "max-age=99"], ["Cache-Control": "max-age=0"], 0,
        "fwd=request; detail=\"max-age\""
    ),
    (
        "immutable and max-age=0", ["Cache-Control": "max-age=99, immutable"], ["Cache-Control": "max-age=0"], 0,
        "hit; ttl=99"
    ),
    (
        "immutable, stale", ["Cache-Control": "max-age=9, immutable"], ["Cache-Control": "max-age=0"], 9,
        "fwd=request; detail=\"max-age\""
    ),
    (
        "immutable and no-cache", ["Cache-Control": "max-age=99, immutable"], ["Cache-Control": "no-cache"], 0,
        "fwd=request; detail=\"no-cache\""
    ),
    (
        "min-fresh", ["Cache-Control": "max-age=99"], ["Cache-Control": "min-fresh=100"], 0,
        "fwd=request; detail=\"min-fresh\""
    ),
    ("min-fresh, enough", ["Cache-Control": "max-age=99"], ["Cache-Control": "min-fresh=99"], 0, "hit; ttl=99"),
    (
        "max-stale", ["Cache-Control": "max-age=9"], ["Cache-Control": "max-stale=5"], 14,
        "hit; ttl=-5; detail=\"max-stale\""
    ),
    ("max-stale, too stale", ["Cache-Control": "max-age=9"], ["Cache-Control": "max-stale=5"], 15, "fwd=stale"),
    (
        "max-stale without end", ["Cache-Control": "max-age=9"], ["Cache-Control": "max-stale"], 9999,
        "hit; ttl=-9990; detail=\"max-stale\""
    ),
    (
        "stale-while-revalidate", ["Cache-Control": "max-age=9, stale-while-revalidate=5"], [:], 14,
        "hit; ttl=-5; detail=\"stale-while-revalidate\" and revalidate"
    ),
    (
        "stale-while-revalidate, too late", ["Cache-Control": "max-age=9, stale-while-revalidate=5"], [:], 15,
        "fwd=stale"
    ),
    (
        "stale-while-revalidate and must-revalidate",
        ["Cache-Control": "max-age=9, stale-while-revalidate=5, must-revalidate"], [:], 10,
        "fwd=stale; detail=\"must-revalidate\""
    ),
    (
        "the clock was set back", ["Cache-Control": "max-age=9"], [:], -3600,
        "fwd=stale; detail=\"the clock was set back\""
    ),
    ("no word about freshness", [:], [:], 0, "fwd=stale"),
]

private let storingTable: [(HTTPMethod, Int, HTTPHeaders, HTTPHeaders, Bool)] = [
    (.get, 200, [:], [:], true), (.get, 200, ["Cache-Control": "no-store, max-age=9"], [:], false),
    (.get, 200, ["Cache-Control": "no-store, must-understand"], [:], true),
    (.get, 299, ["Cache-Control": "no-store, must-understand"], [:], false),
    (.get, 299, ["Cache-Control": "max-age=9"], [:], true), (.get, 599, ["Cache-Control": "max-age=9"], [:], true),
    (.get, 599, [:], [:], false), (.get, 201, [:], [:], false), (.get, 201, ["Expires": "0"], [:], true),
    (.get, 404, [:], [:], true), (.get, 403, ["Cache-Control": "private"], [:], true),
    (.get, 206, ["Cache-Control": "max-age=9"], [:], false), (.get, 304, ["Cache-Control": "max-age=9"], [:], false),
    (.get, 200, ["Vary": "*"], [:], false), (.get, 200, ["Vary": "Foo, *"], [:], false),
    (.get, 200, ["Vary": ", *"], [:], false), (.get, 200, [:], ["Cache-Control": "no-store"], false),
    (.get, 200, [:], ["Authorization": "x"], true), (.post, 200, ["Cache-Control": "max-age=9"], [:], false),
    (.head, 200, ["Cache-Control": "max-age=9"], [:], false),
]

private let conditionsTable: [(HTTPHeaders, HTTPHeaders, HTTPConditions.Outcome)] = [
    ([:], [:], .whole), (["If-None-Match": "\"a\""], ["ETag": "\"a\""], .notModified),
    (["If-None-Match": "W/\"a\""], ["ETag": "\"a\""], .notModified),
    (["If-None-Match": "\"x,y\", \"a\""], ["ETag": "W/\"a\""], .notModified),
    (["If-None-Match": "*"], ["ETag": "\"a\""], .notModified), (["If-None-Match": "\"b\""], ["ETag": "\"a\""], .whole),
    (["If-None-Match": "*"], [:], .notModified), (["If-None-Match": " * "], ["ETag": "a"], .notModified),
    (["If-None-Match": "a, *"], ["ETag": "b"], .whole), (["If-None-Match": "*"], ["ETag": ""], .notModified),
    (["If-None-Match": "\"a\""], [:], .whole), (["If-None-Match": #""x\", "a""#], ["ETag": "\"a\""], .notModified),
    (["If-None-Match": #""x\", a"#], ["ETag": "a"], .notModified),
    (["If-None-Match": "\u{301}a"], ["ETag": "W/\u{301}a"], .notModified),
    (["If-None-Match": #""x\", ", a, ""#], ["ETag": "a"], .whole),
    (
        ["If-None-Match": "\"b\"", "If-Modified-Since": httpDate(now)],
        ["ETag": "\"a\"", "Last-Modified": httpDate(now - 9)], .whole
    ),
    (["If-Modified-Since": httpDate(now)], ["Last-Modified": httpDate(now)], .notModified),
    (["If-Modified-Since": httpDate(now - 1)], ["Last-Modified": httpDate(now)], .whole),
    (["If-Modified-Since": httpDate(now)], [:], .notModified), (["If-Modified-Since": "x"], [:], .whole),
    (["If-Match": "\"a\""], ["ETag": "\"a\""], .forward), (["If-Unmodified-Since": httpDate(now)], [:], .forward),
    (["Range": "bytes=0-1"], [:], .part(0..<2)), (["Range": "bytes=8-"], [:], .part(8..<10)),
    (["Range": "bytes=-3"], [:], .part(7..<10)), (["Range": "bytes=-99"], [:], .part(0..<10)),
    (["Range": "bytes=5-99"], [:], .part(5..<10)), (["Range": "bytes=10-"], [:], .forward),
    (["Range": "bytes=-0"], [:], .forward), (["Range": "bytes=3-2"], [:], .forward),
    (["Range": "bytes=0-1,4-5"], [:], .forward), (["Range": "lines=0-1"], [:], .forward),
    (["Range": "bytes=0-9223372036854775807"], [:], .part(0..<10)),
    (["Range": "bytes=99999999999999999999-"], [:], .forward), (["Range": "bytes=-"], [:], .forward),
    (["Range": "bytes=0-1", "If-Range": "\"a\""], ["ETag": "\"a\""], .part(0..<2)),
    (["Range": "bytes=0-1", "If-Range": "\"b\""], ["ETag": "\"a\""], .whole),
    (["Range": "bytes=0-1", "If-Range": "W/\"a\""], ["ETag": "W/\"a\""], .whole),
    (["Range": "bytes=0-1", "If-Range": "W/\u{301}a"], ["ETag": "W/\u{301}a"], .whole),
    (["Range": "bytes=0-1", "If-Range": httpDate(now)], ["Last-Modified": httpDate(now)], .part(0..<2)),
]
