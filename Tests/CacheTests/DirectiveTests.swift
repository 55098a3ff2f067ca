import Errand
import Testing

@testable import ErrandCache

@Suite("Cache-Control (RFC 9111, section 5.2)", .leakChecked)
struct DirectiveTests {
    @Test(
        "max-age is read as a cautious cache reads it",
        arguments: [
            ("max-age=3600", 3600), ("MaX-aGe=3600", 3600), ("max-age=\"3600\"", 3600), ("max-age='3600'", 0),
            ("max-age=003600", 3600), ("max-age=-100", 0), ("max-age=a100", 0), ("max-age=100a", 0),
            ("max-age=3600.5", 0), ("max-age", 0), ("max-age=", 0), ("max-age= 100", 0),
            ("max-age=99999999999", 1 << 31),
            ("max-age=99999999999999999999999", 1 << 31), ("foobar, max-age=7", 7), (" , ,max-age=7 ,", 7),
            ("max-age=1, max-age=1800", 1), ("max-age=1800, max-age=1", 1), ("extension=\"max-age=100\", max-age=1", 1),
            ("max-age=1, extension=\"max-age=100\"", 1), ("extension=\"a \\\" max-age=100, \", max-age=\"1\"", 1),
            ("s-maxage=3600, max-age=2", 2),
        ] as [(String, Int64)])
    func maxAge(value: String, seconds: Int64) {
        #expect(CacheDirectives(["Cache-Control": value]).maxAge == seconds)
    }

    @Test(
        "text that isn't a directive is ignored",
        arguments: ["max-age =100", "x=\"max-age=5\"", "", "\"", "max-agee=5"])
    func none(value: String) {
        #expect(CacheDirectives(["Cache-Control": value]).maxAge == nil)
    }

    @Test("several field lines count together, and directive names are case-insensitive")
    func lines() {
        var headers: HTTPHeaders = ["cache-CONTROL": "No-StOrE, public"]
        headers.add("Cache-Control", "no-cache=\"A, b\", must-revalidate,immutable")
        headers.add("Cache-Control", "stale-while-revalidate=30, stale-if-error=x, must-understand, private=\"z\"")
        let directives = CacheDirectives(headers)
        #expect(directives.noStore && directives.isPublic && directives.mustRevalidate && directives.isImmutable)
        #expect(!directives.noCache)
        #expect(directives.unstoredFields == ["a", "b"])
        #expect(directives.mustUnderstand && directives.isPrivate)
        #expect(directives.staleWhileRevalidate == 30)
        #expect(directives.staleIfError == 0)
    }

    @Test("a request's directives are read, and Pragma only without Cache-Control (section 5.4)")
    func requests() {
        let directives = CacheDirectives(request: ["Cache-Control": "max-stale, min-fresh=5, only-if-cached"])
        #expect(directives.maxStale == .max && directives.minFresh == 5 && directives.onlyIfCached)
        #expect(CacheDirectives(request: ["Cache-Control": "max-stale=9"]).maxStale == 9)
        #expect(CacheDirectives(request: ["Cache-Control": "max-stale=x"]).maxStale == nil)
        #expect(CacheDirectives(request: ["Pragma": "No-Cache"]).noCache)
        #expect(!CacheDirectives(request: ["Pragma": "no-cache", "Cache-Control": "max-age=5"]).noCache)
        #expect(!CacheDirectives(request: ["Pragma": "something"]).noCache)
    }
}
