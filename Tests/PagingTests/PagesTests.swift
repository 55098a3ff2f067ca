import Errand
import ErrandEssentials
import ErrandPaging
import ErrandTesting
import Synchronization
import Testing

@Suite("Pages as sequences", .endsInTime, .leakChecked) struct PagesTests {
    @Test(
        "each style returns all items once and in order, for lists of every length, with and without a total",
        arguments: PagePosition.all, [0, 1, 9, 10, 11, 1_000])
    func lengths(position: PagePosition, count: Int) async throws {
        for (hasTotal, isPrefetching) in [(true, false), (false, false), (true, true), (false, true)] {
            let server = NumberServer(position.style, count)
            let request = GetNumbers(page: position, hasTotal: hasTotal)
            var items: [Int] = []
            for try await item in server.agent.items(of: request, prefetching: isPrefetching) { items.append(item) }
            #expect(items == Array(0..<count))
            // Without a total, only a page shorter than an earlier page is known to be the last.
            let isNamed = position.style == .cursor || position.style == .link
            let isShort = count > 10 && count % 10 != 0
            let asksOnce = hasTotal || isNamed || isShort || count == 0
            #expect(server.requests.count == max(1, (count + 9) / 10) + (asksOnce ? 0 : 1))
        }
    }

    @Test(
        "with a total of 0, the first page is delivered empty and is the last page", arguments: PagePosition.all)
    func empty(position: PagePosition) async throws {
        let server = NumberServer(position.style, 0)
        var pages: [Page<Int, Numbers>] = []
        for try await page in server.agent.pages(of: GetNumbers(page: position)) { pages.append(page) }
        #expect(pages.count == 1 && pages.first?.isLast == true && pages.first?.isFirst == true)
        #expect(pages.first?.total == 0 && pages.first?.items.isEmpty == true && server.requests.count == 1)
    }

    @Test("the first page's number and size default to 1 and 10, and can be set")
    func requests() async throws {
        func queries(_ position: PagePosition) async throws -> [String] {
            let server = NumberServer(position.style, 25)
            for try await _ in server.agent.pages(of: GetNumbers(page: position)) {}
            return server.requests.map { $0.query ?? "" }
        }
        #expect(try await queries(.number()) == ["at=1&size=10", "at=2&size=10", "at=3&size=10"])
        #expect(try await queries(.number(first: 0, size: 20)) == ["at=0&size=20", "at=1&size=20"])
        #expect(try await queries(.offset(size: 9)) == ["at=0&size=9", "at=9&size=9", "at=18&size=9"])
        #expect(try await queries(.cursor()) == ["size=10", "at=c10&size=10", "at=c20&size=10"])
        #expect(try await queries(.link()) == ["size=10", "at=10&size=10", "at=20&size=10"])
        #expect(PagePosition.number(size: -5).size == 1)
    }

    @Test("an iterator that is used again after a failure requests the same page, so no item is lost or repeated")
    func failure() async throws {
        for isPrefetching in [false, true] {
            let server = NumberServer(.offset, 35)
            server.fail(at: 3)
            var iterator = server.agent.items(of: GetNumbers(page: .offset()), prefetching: isPrefetching)
                .makeAsyncIterator()
            var (items, errors): ([Int], Int) = ([], 0)
            while true {
                do {
                    guard let item = try await iterator.next() else { break }
                    items.append(item)
                } catch let error as ErrandError {
                    // Any other failure, such as a cancellation, would repeat endlessly.
                    guard error.response?.status == 503 else { throw error }
                    errors += 1
                }
            }
            #expect(items == Array(0..<35) && errors == 1 && server.requests.count == 5)
        }
    }

    @Test("a list can continue after a page that you already have")
    func resumed() async throws {
        let server = NumberServer(.cursor, 35)
        var first: Page<Int, Numbers>?
        for try await page in server.agent.pages(of: GetNumbers(page: .cursor())) {
            first = page
            break
        }
        var rest: [Int] = []
        for try await page in server.agent.pages(of: GetNumbers(page: .cursor()), from: first?.next) {
            rest += page.items
        }
        #expect(rest == Array(10..<35))
    }

    @Test("one page is loaded ahead on request, and cancelled when the loop ends")
    func prefetching() async throws {
        let (gate, cancelled) = (Gate(), Gate())
        let transport = StubTransport { request in
            if request.url.query?.contains("at=1&") == true { return .json(#"{"items":[1,2],"total":9}"#) }
            do { try await gate.wait() } catch {
                cancelled.open()
                throw error
            }
            return .status(500)
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: transport)
        for try await page in agent.pages(of: GetNumbers(page: .number(size: 2)), prefetching: true) {
            #expect(page.number == 1)
            try await gate.reached()
            break
        }
        try await cancelled.wait()
    }

    @Test("cancelling the task of a loop cancels the page that it waits for", arguments: [false, true])
    func cancelled(isPrefetching: Bool) async throws {
        let (gate, cancelled) = (Gate(), Gate())
        let transport = StubTransport { request in
            if request.url.query?.contains("at=1&") == true { return .json(#"{"items":[1,2],"total":9}"#) }
            do { try await gate.wait() } catch {
                cancelled.open()
                throw error
            }
            return .status(500)
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: transport)
        let loop = Task {
            for try await _ in agent.pages(of: GetNumbers(page: .number(size: 2)), prefetching: isPrefetching) {}
        }
        try await gate.reached()
        loop.cancel()
        try await cancelled.wait()
        await #expect(throws: (any Error).self) { try await loop.value }
    }

    /// Serves pages with a number each, which link to the closure's result.
    private func linked(_ next: @escaping @Sendable (_ path: String) -> String) -> NetworkAgent {
        let transport = StubTransport(maximumRecordedRequests: 0) { request in
            let target = next(request.url.path + (request.url.query.map { "?\($0)" } ?? ""))
            return .json(#"{"items":[1]}"#).header("Link", "<\(target)>; rel=\"next\"")
        }
        return NetworkAgent(baseURL: "https://api.example.com", transport: transport)
    }

    @Test("links that differ only in a fragment, or lead back to an earlier page, are an error, not an endless list")
    func circles() async throws {
        let fragments = Counter()
        let agents = [
            // Each page links to itself with another fragment.
            (linked { "\($0)#\(fragments.increment())" }, 0),
            (linked { path in path.hasPrefix("/numbers") ? "/b" : "/numbers?size=10" }, 1),
            (linked { path in ["/b": "/c", "/c": "/d", "/d": "/c#x"][path] ?? "/b" }, 3),
        ]
        for (agent, pages) in agents {
            var count = 0
            let error = await #expect(throws: PagingError.self) {
                for try await _ in agent.pages(of: GetNumbers(page: .link())) {
                    count += 1
                    if count > 100 { break }
                }
            }
            #expect(error?.code == .repeatedPage && count == pages)
            let controller = PageController(GetNumbers(page: .link()), on: agent)
            let second = await #expect(throws: PagingError.self) {
                for _ in 0..<100 { _ = try await controller.next() }
            }
            #expect(second?.code == .repeatedPage && controller.state.pages.count == pages)
            #expect(controller.state.error is PagingError)
        }
    }

    @Test(
        "a link may have characters that aren't allowed in a URI, and its escapes are requested unchanged",
        arguments: [
            ("/items?page[number]=2&filter=a%20b", "/items?page%5Bnumber%5D=2&filter=a%20b"),
            ("?cursor=YQ%3D%3D|{x}", "/numbers?cursor=YQ%3D%3D%7C%7Bx%7D"), ("/a b?c=d e", "/a%20b?c=d%20e"),
            ("/100%", "/100%25"), ("?q='a'#f", "/numbers?q=%27a%27"),
        ])
    func writtenFreely(target: String, expected: String) async throws {
        let transport = StubTransport { request in
            let response = StubResponse.json(#"{"items":[1]}"#)
            return request.urlText.contains("size=10") ? response.header("Link", "<\(target)>; rel=next") : response
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: transport)
        var count = 0
        for try await _ in agent.items(of: GetNumbers(page: .link())) { count += 1 }
        #expect(count == 2 && transport.received.last?.urlText == "https://api.example.com" + expected)
    }

    @Test("a next link that isn't a URL is an error, not the end of the list")
    func invalidLinks() async throws {
        for target in ["https://", "//a b/", "https://a.example:99999/", "//[::1"] {
            let agent = linked { _ in target }
            let error = await #expect(throws: PagingError.self, "\(target)") {
                for try await _ in agent.pages(of: GetNumbers(page: .link())) {}
            }
            #expect(error?.code == .invalidLink && error?.page == 1 && error?.errorCode == 3)
        }
    }

    @Test("a page that links to itself in another spelling is an error")
    func spelling() async throws {
        let transport = StubTransport(maximumRecordedRequests: 0) { _ in
            .json("[1]").header("Link", "</numbers?q='a'>; rel=next")
        }
        let agent = NetworkAgent(baseURL: "https://API.example.com:443", transport: transport)
        let list = PageList(.link()) { page in Call<[Int]>(.get, page.path("numbers?q='a'")) }
        let error = await #expect(throws: PagingError.self) { for try await _ in agent.pages(of: list) {} }
        #expect(error?.code == .repeatedPage && error?.page == 1)
    }

    @Test("repeated cursors are an error")
    func repeatedCursors() async throws {
        let transport = StubTransport(maximumRecordedRequests: 0) { request in
            let isB = request.url.query?.contains("at=b") == true
            return .json(#"{"items":[1],"next":"\#(isB ? "a" : "b")"}"#)
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: transport)
        var count = 0
        let error = await #expect(throws: PagingError.self) {
            for try await _ in agent.items(of: GetNumbers(page: .cursor())) {
                count += 1
                if count > 100 { break }
            }
        }
        #expect(error?.code == .repeatedPage && count == 2)
        let controller = PageController(GetNumbers(page: .cursor()), on: agent)
        await #expect(throws: PagingError.self) { for _ in 0..<100 { _ = try await controller.next() } }
        #expect(controller.state.pages.count == 2)
        // A page may be loaded again, and so may the page after it.
        _ = try await controller.refresh()
        #expect(controller.state.pages.count == 2)
    }

    @Test("a page that names itself as the next page is an error, not an endless list")
    func repeated() async throws {
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json(#"{"items":[1],"next":"same"}"#)))
        let error = await #expect(throws: PagingError.self) {
            for try await _ in agent.pages(of: GetNumbers(page: .cursor())) {}
        }
        #expect(error?.code == .repeatedPage && error?.page == 2 && error?.errorCode == 1)
        let looping = NetworkAgent(
            baseURL: "https://api.example.com",
            transport: .stub(.json(#"{"items":[1]}"#).header("Link", "<?size=10>; rel=next")))
        await #expect(throws: PagingError.self) {
            for try await _ in looping.pages(of: GetNumbers(page: .link())) {}
        }
    }

    @Test("an empty page ends a list even if its total is higher, and so does a total that is too low")
    func wrongTotals() async throws {
        let stub = StubTransport()
        stub.on("/numbers", response: .json(#"{"items":[1,2],"total":9}"#), .json(#"{"items":[],"total":9}"#))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        var items: [Int] = []
        for try await item in agent.items(of: GetNumbers(page: .offset(size: 2))) { items.append(item) }
        #expect(items == [1, 2] && stub.received.count == 2)
        let small = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub(.json(#"{"items":[1,2,3],"total":1}"#)))
        var pages = 0
        for try await _ in small.pages(of: GetNumbers(page: .number(size: 3))) { pages += 1 }
        #expect(pages == 1)
    }

    @Test("a next link to another origin is requested without the agent's credentials")
    func foreignLink() async throws {
        let stub = StubTransport { request in
            let response = StubResponse.json(#"{"items":[1]}"#)
            return request.url.host == "api.example.com"
                ? response.header("Link", "<https://evil.example/steal>; rel=next") : response
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        agent.configure { $0.authorization = .bearer("canary") }
        for try await _ in agent.pages(of: GetNumbers(page: .link())) {}
        #expect(stub.received.map { $0.headers.contains(.authorization) } == [true, false])
        #expect(stub.received.last?.url.host == "evil.example")
    }

    /// A page request with its own credentials.
    private struct GetOwn: PagedRequest {
        typealias Output = [Int]
        var page = PagePosition.link()
        var first = "numbers"
        var redirects: RedirectPolicy? = RedirectPolicy(allowsInsecure: true)
        var path: String { page.path(first) }
        var authorization: Authorization? { .bearer("canary") }
        var headers: HTTPHeaders {
            var headers: HTTPHeaders = ["Cookie": "s=canary", "X-Open": "open"]
            headers.set("X-Key", "canary", sensitive: true)
            return headers
        }
    }

    /// Serves a page for each URL of a list, which links to the next URL.
    private func linked(_ urls: [String]) -> StubTransport {
        // Links are resolved as in a browser: the host in lower case, without the scheme's default port.
        let requested = urls.map { $0.replacing("API", with: "api").replacing(":443/", with: "/") }
        return StubTransport { request in
            let place = requested.firstIndex(of: request.url.absoluteString) ?? urls.endIndex
            let response = StubResponse.json("[1]")
            return place + 1 < urls.count ? response.header("Link", "<\(urls[place + 1])>; rel=next") : response
        }
    }

    private func secrets(_ request: HTTPRequest) -> Int {
        [.authorization, .cookie, "X-Key"].count { request.headers.contains($0) }
    }

    @Test("a next link carries the request's own credentials only to its own origin")
    func ownSecrets() async throws {
        let urls = [
            "https://api.example.com/numbers", "https://api.example.com/2", "https://evil.example/3",
            "https://evil.example/4", "http://api.example.com/5", "https://api.example.com:8443/6",
            "https://API.example.com:443/7", "https://sub.api.example.com/8",
        ]
        let expected = [3, 3, 0, 0, 0, 0, 3, 0]
        // With the agent's base URL, and with the request's own.
        for (base, first) in [("https://api.example.com", "numbers"), ("", urls[0])] {
            let stub = linked(urls)
            let agent = NetworkAgent(baseURL: base, transport: stub)
            var next: PagePosition?
            for try await page in agent.pages(of: GetOwn(first: first)) { next = page.number == 2 ? page.next : next }
            #expect(stub.received.map(secrets) == expected)
            #expect(stub.received.allSatisfy { $0.headers["X-Open"] == "open" })
            // From the middle of the list, and with a controller.
            let position = try #require(next)
            for try await _ in agent.pages(of: GetOwn(first: first), from: position, prefetching: true) {}
            let controller = PageController(GetOwn(first: first), on: agent)
            for _ in urls { try await controller.next() }
            #expect(stub.received.map(secrets) == expected + expected.dropFirst(2) + expected)
        }
    }

    @Test("a next link from https to http isn't followed, like a redirect, unless the redirect policy allows it")
    func insecureLink() async throws {
        let urls = ["https://api.example.com/numbers", "https://api.example.com/2", "http://api.example.com/3"]
        let stub = linked(urls)
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let error = await #expect(throws: ErrandError.self) {
            for try await _ in agent.pages(of: GetOwn(redirects: nil)) {}
        }
        #expect(error?.code == .redirectFailed && stub.received.count == 2)
        let calls = PageList(.link()) { page in Call<[Int]>(.get, page.path("numbers")) }
        await #expect(throws: ErrandError.self) { for try await _ in agent.pages(of: calls) {} }
        #expect(stub.received.count == 4)
        agent.configure { $0.redirects.allowsInsecure = true }
        for try await _ in agent.pages(of: GetOwn(redirects: nil)) {}
        #expect(stub.received.suffix(3).map(secrets) == [3, 3, 0])
        agent.configure { configuration in
            configuration.redirects.allowsInsecure = false
            configuration.trustedOrigins = ["http://api.example.com"]
        }
        for try await _ in agent.pages(of: calls) {}
        #expect(stub.received.count == 10)
    }

    @Test("a redirect of the first page doesn't make its target the list's own origin")
    func redirectedList() async throws {
        let stub = StubTransport { request in
            switch request.url.absoluteString {
            case "https://api.example.com/numbers": .redirect(to: "https://evil.example/numbers")
            case "https://evil.example/numbers": .json("[1]").header("Link", "</2>; rel=next")
            case "https://evil.example/2": .json("[2]").header("Link", "<https://api.example.com/3>; rel=next")
            default: .json("[3]")
            }
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        var items: [Int] = []
        for try await item in agent.items(of: GetOwn()) { items.append(item) }
        #expect(items == [1, 2, 3])
        #expect(stub.received.map(secrets) == [3, 0, 0, 3])
    }

    @Test("the other rules for secrets still apply: trusted origins, and a filter that vouches for the service")
    func trustedLinks() async throws {
        let urls = ["https://api.example.com/numbers", "https://b.example/2", "https://c.example/3"]
        let stub = linked(urls)
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        agent.configure { configuration in
            configuration.trustedOrigins = ["https://b.example"]
            configuration.filters = [
                .closure { exchange, next in
                    var exchange = exchange
                    if exchange.http.url.host == "c.example" { exchange.trustOrigin() }
                    return try await next(exchange)
                }
            ]
        }
        for try await _ in agent.pages(of: GetOwn()) {}
        #expect(stub.received.map(secrets) == [3, 3, 3])
    }

    @Test("requests that a closure creates, even complete ones, don't send their secrets to another origin")
    func closures() async throws {
        struct Whole: Request {
            typealias Output = [Int]
            let url: String
            func httpRequest() throws -> HTTPRequest? {
                var http = HTTPRequest(.get, URL(string: url) ?? URL(filePath: "/"))
                http.headers.set("X-Key", "canary", sensitive: true)
                http.headers.set(.authorization, "canary")
                return http
            }
        }
        let urls = ["https://api.example.com/numbers", "https://evil.example/2", "https://api.example.com/3"]
        let stub = linked(urls)
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let calls = PageList(.link()) { page in
            Call<[Int]>(.get, page.path("numbers")) { $0.headers = ["Authorization": "canary"] }
        }
        for try await _ in agent.pages(of: calls) {}
        for try await _ in agent.pages(of: PageList(.link()) { page in Whole(url: page.path(urls[0])) }) {}
        #expect(stub.received.map(secrets) == [1, 0, 1, 2, 0, 2])
    }

    @Test("requests without a type can form a list as well")
    func calls() async throws {
        let stub = StubTransport { request in
            .json(request.url.query?.contains("page=1") == true ? "[1,2]" : "[3]")
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let list = PageList(.number(size: 2)) { page in Call<[Int]>(.get, "n", query: page.query("page")) }
        var items: [Int] = []
        for try await item in agent.items(of: list) { items.append(item) }
        #expect(items == [1, 2, 3])
    }
}
