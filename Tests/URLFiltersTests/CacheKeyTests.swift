import Errand
import ErrandEssentials
import ErrandTesting
import ErrandURLFilters
import Testing

@Suite("URL filters and cache keys", .endsInTime, .leakChecked)
struct CacheKeyTests {
    private func keys(_ filters: any Filter..., path: String = "a") async throws -> (key: String?, url: String) {
        let watch = KeyWatch()
        let bench = Bench("https://example.com")
        bench.agent.configure { $0.filters = filters + [watch] }
        let url = try await bench.url(path)
        return (watch.keys.first.flatMap(\.self), url)
    }

    @Test("a token doesn't split a cache, but a version does")
    func token() async throws {
        let result = try await keys(
            .urls(
                .query(["v": "3"]), .query(["token": "hush"], inCacheKey: false), .prefix("/api"),
                .edit("e") { url, _ in try url.append(["e": "1"]) }, .sign(key: "k")))
        #expect(result.key == "https://example.com/api/a?v=3&e=1")
        #expect(result.url.hasPrefix("https://example.com/api/a?v=3&token=hush&e=1&timestamp=1700000000&sign="))
    }

    @Test("if all changes are in the key, the key is the URL itself, without a second URL")
    func same() async throws {
        let result = try await keys(.urls(.query(["v": "3"]), .prefix("/api")))
        #expect(result.key == nil)
        #expect(result.url == "https://example.com/api/a?v=3")
    }

    @Test("a second list continues with the key of the first list")
    func lists() async throws {
        let result = try await keys(
            .urls(.query(["t": "1"], inCacheKey: false)), .urls(.query(["v": "3"])),
            .urls(.query(["t": "2"], inCacheKey: false), .query(["w": "4"])))
        #expect(result.key == "https://example.com/a?v=3&w=4")
        #expect(result.url == "https://example.com/a?t=1&v=3&t=2&w=4")
    }

    @Test("a filter's function runs once per call, and a filter that returns a URL runs for both URLs if they differ")
    func once() async throws {
        let (computed, edits, closures) = (Counter(), Counter(), Counter())
        let result = try await keys(
            .urls(
                .query(inCacheKey: false) { _ in ["t": computed.increment()] },
                .query { _ in ["n": computed.increment()] },
                .edit("edit") { url, _ in try url.append(["e": edits.increment()]) },
                .closure("closure") { url, _ in
                    closures.increment()
                    return url.appending(path: "x")
                },
                .closure("hidden", inCacheKey: false) { url, _ in
                    closures.increment()
                    return url.appending(path: "y")
                }))
        #expect(result.key == "https://example.com/a/x?n=2&e=1")
        #expect(result.url == "https://example.com/a/x/y?t=1&n=2&e=1")
        #expect((computed.value, edits.value, closures.value) == (2, 1, 3))
    }

    @Test("a retry before the URL filters runs them again, from the original URL")
    func retried() async throws {
        let (runs, watch) = (Counter(), KeyWatch())
        let twice = ClosureFilter { exchange, next in
            _ = try await next(exchange)
            return try await next(exchange)
        }
        let bench = Bench(
            "https://example.com", twice, .urls(.query(inCacheKey: false) { _ in ["n": runs.increment()] }), watch)
        _ = try await bench.agent.send(Call(.get, "a"))
        #expect(
            bench.stub.received.map(\.url.absoluteString) == ["https://example.com/a?n=1", "https://example.com/a?n=2"])
        #expect(watch.keys == ["https://example.com/a", "https://example.com/a"])
    }

    @Test("redirects aren't filtered")
    func redirected() async throws {
        let bench = Bench("https://example.com", .urls(.query(["v": "3"])))
        bench.stub.on("/a", response: .status(302, headers: ["Location": "/b?c"]))
        bench.stub.on("/b", response: .text("ok"))
        _ = try await bench.agent.send(Call(.get, "a"))
        #expect(
            bench.stub.received.map(\.url.absoluteString) == ["https://example.com/a?v=3", "https://example.com/b?c"])
    }

    @Test("the CDN doesn't change the key, and removed items do")
    func others() async throws {
        let cdn = try await keys(
            .urls(.cdn("https://cdn.example.com") { $0.http.url.path.hasSuffix(".png") }), path: "a.png")
        #expect(cdn.key == "https://example.com/a.png")
        #expect(cdn.url == "https://cdn.example.com/a.png")
        let stripped = try await keys(
            .urls(.withoutTracking(and: "ref"), .withoutFragment), path: "a?utm_x=1&b&ref=2&gclid=#f")
        #expect(stripped.key == nil)
        #expect(stripped.url == "https://example.com/a?b")
    }
}
