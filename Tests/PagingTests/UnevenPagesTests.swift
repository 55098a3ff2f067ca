import Errand
import ErrandEssentials
import ErrandPaging
import ErrandTesting
import Synchronization
import Testing

@Suite("Pages that differ from the request", .endsInTime, .leakChecked)
struct UnevenPagesTests {
    /// Returns a server's response for a page number or offset and a requested size.
    private typealias Answer = @Sendable (_ at: Int, _ size: Int) -> String

    private struct Server {
        let agent: NetworkAgent
        let requests: Counter

        init(_ answer: @escaping Answer) {
            let requests = Counter()
            self.requests = requests
            let transport = StubTransport(maximumRecordedRequests: 0) { request in
                let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
                func value(_ name: String) -> Int { items.first { $0.name == name }?.value.flatMap { Int($0) } ?? 0 }
                // Without this limit, an endless list would never fail.
                if requests.increment() > 3_000 { return .status(429) }
                return .json(answer(value("at"), value("size")))
            }
            agent = NetworkAgent(baseURL: "https://api.example.com", transport: transport)
        }
    }

    private static func json(_ items: some Sequence<Int>, total: Int? = nil, extra: String = "") -> String {
        let list = items.map(String.init).joined(separator: ",")
        return "{\"items\":[\(list)]\(total.map { ",\"total\":\($0)" } ?? "")\(extra)}"
    }

    private static func capped(_ count: Int, limit: Int, total: Int? = nil, isOffset: Bool) -> Answer {
        { at, size in
            let size = min(size, limit)
            let start = min(count, isOffset ? at : (at - 1) * size)
            return json(start..<min(count, start + size), total: total)
        }
    }

    private func items(
        _ server: Server, _ page: PagePosition, hasTotal: Bool = true, isPrefetching: Bool = false
    ) async throws -> [Int] {
        var items: [Int] = []
        let request = GetNumbers(page: page, hasTotal: hasTotal)
        for try await item in server.agent.items(of: request, prefetching: isPrefetching) { items.append(item) }
        return items
    }

    @Test(
        "if a server returns fewer items than requested, the next page is requested until there are no more",
        arguments: [0, 1, 5, 19, 20, 21, 40, 45, 100], [false, true])
    func capped(count: Int, isOffset: Bool) async throws {
        let position = isOffset ? PagePosition.offset(size: 100) : .number(size: 100)
        for (hasTotal, isPrefetching) in [(false, false), (false, true), (true, false)] {
            let server = Server(Self.capped(count, limit: 20, total: count, isOffset: isOffset))
            let found = try await items(server, position, hasTotal: hasTotal, isPrefetching: isPrefetching)
            #expect(found == Array(0..<count))
            // Without a total, the last page is one shorter than an earlier page, or else an empty page.
            let isShort = count > 20 && count % 20 != 0
            #expect(server.requests.value == max(1, (count + 19) / 20) + (hasTotal || isShort || count == 0 ? 0 : 1))
        }
    }

    @Test("a screen shows a server's complete list with short pages, in every style of paging")
    func cappedScreen() async throws {
        for isOffset in [false, true] {
            let position = isOffset ? PagePosition.offset(size: 100) : .number(size: 100)
            for hasTotal in [false, true] {
                let server = Server(Self.capped(45, limit: 20, total: 45, isOffset: isOffset))
                let controller = PageController(GetNumbers(page: position, hasTotal: hasTotal), on: server.agent)
                while try await controller.next() != nil {}
                #expect(controller.state.items == Array(0..<45) && controller.state.isLast)
                #expect(try await controller.load(page: 2)?.items == Array(20..<40))
                #expect(!controller.state.isLast)
                #expect(try await controller.next()?.items == Array(40..<45))
                #expect(controller.state.isLast && controller.state.isFirst == false)
                #expect(try await controller.previous()?.items == Array(20..<40))
            }
            // The first page shows how many items the other pages have.
            let server = Server(Self.capped(45, limit: 20, total: 45, isOffset: isOffset))
            let controller = PageController(GetNumbers(page: position), on: server.agent)
            try await controller.next()
            #expect(try await controller.load(page: 3)?.items == Array(40..<45))
            #expect(controller.state.isLast)
        }
        // The first page to be loaded is a numbered one.
        let server = Server(Self.capped(45, limit: 20, total: 45, isOffset: false))
        let controller = PageController(GetNumbers(page: .number(size: 100)), on: server.agent)
        #expect(try await controller.load(page: 2)?.items == Array(20..<40))
        #expect(try await controller.next()?.items == Array(40..<45))
        #expect(try await controller.next() == nil && controller.state.isLast)
    }

    private static func same(_ count: Int, total: Int? = nil, varying: Bool = false) -> Answer {
        let requests = Counter()
        return { _, _ in
            json(0..<count, total: total, extra: varying ? ",\"next\":\"at \(requests.increment())\"" : "")
        }
    }

    @Test(
        "a list ends when the server repeats a page, because it ignores page numbers or has no more",
        arguments: [1, 5, 10, 45, 100], [PagePosition.number(size: 10), .offset(size: 10), .number(size: 100)])
    func repeatedPages(count: Int, position: PagePosition) async throws {
        for varying in [false, true] {
            for isPrefetching in [false, true] {
                let server = Server(Self.same(count, varying: varying))
                let found = try await items(server, position, isPrefetching: isPrefetching)
                #expect(found == Array(0..<count) && server.requests.value == 3)
            }
            let server = Server(Self.same(count, varying: varying))
            let controller = PageController(GetNumbers(page: position), on: server.agent)
            while try await controller.next() != nil { try #require(server.requests.value < 100) }
            #expect(controller.state.items == Array(0..<count) && controller.state.isLast)
            #expect(controller.state.pages.count == 1)
            // Displayed pages may be loaded again.
            #expect(try await controller.refresh()?.items == Array(0..<count))
        }
    }

    @Test("a list ends if the server repeats its last page for later pages", arguments: [false, true])
    func lastPageAgain(isOffset: Bool) async throws {
        let position = isOffset ? PagePosition.offset() : .number()
        let server = Server { at, size in
            let start = isOffset ? at : (at - 1) * size
            return Self.json(min(start, 20)..<min(start, 20) + 10)
        }
        #expect(try await items(server, position, hasTotal: false) == Array(0..<30))
        #expect(server.requests.value == 5)
    }

    @Test("a repeated page is an error if the total is higher, not a list with gaps")
    func repeatedWithTotal() async throws {
        for position in [PagePosition.number(), .offset()] {
            let server = Server(Self.same(10, total: 45))
            let error = await #expect(throws: PagingError.self) { try await items(server, position) }
            #expect(error?.code == .repeatedPage && error?.page == 2 && server.requests.value == 3)
            let controller = PageController(GetNumbers(page: position), on: server.agent)
            try await controller.next()
            await #expect(throws: PagingError.self) { try await controller.next() }
            #expect(controller.state.items == Array(0..<10) && controller.state.error is PagingError)
        }
    }

    @Test("items that move by a whole page between two requests appear once, and the list continues")
    func movedPages() async throws {
        let requests = Counter()
        let server = Server { at, size in
            // From the second request on, ten new items precede the others.
            let moved = requests.increment() > 1 ? 10 : 0
            let start = (at - 1) * size
            return Self.json((start..<min(35 + moved, start + size)).map { $0 - moved })
        }
        #expect(try await items(server, .number(), hasTotal: false) == Array(0..<35))
    }

    @Test("items at the border of two pages that appear in both are delivered twice, and don't end the list")
    func borders() async throws {
        // Each page begins with the previous page's last item.
        let server = Server { at, _ in Self.json((at - 1) * 9..<min(40, (at - 1) * 9 + 10)) }
        let found = try await items(server, .number(), hasTotal: false)
        #expect(Set(found) == Set(0..<40) && found.count == 44)
    }

    @Test("pages with identical items may follow one another, but not endlessly")
    func equalItems() async throws {
        let server = Server { at, size in Self.json(Array(repeating: 0, count: at <= 3 ? size : at == 4 ? 4 : 0)) }
        #expect(try await items(server, .number(), hasTotal: false).count == 34)
        let endless = Server { _, size in Self.json(Array(repeating: 0, count: size)) }
        let error = await #expect(throws: PagingError.self) { try await items(endless, .number(size: 2)) }
        #expect(error?.code == .endlessList && error?.errorCode == 4 && endless.requests.value == 1_001)
    }

    @Test("a server that names another page after each empty page gets a thousand requests and no more")
    func emptyPages() async throws {
        let requests = Counter()
        let server = Server { _, _ in Self.json([Int](), extra: ",\"next\":\"c\(requests.increment())\"") }
        let error = await #expect(throws: PagingError.self) { try await items(server, .cursor()) }
        #expect(error?.code == .endlessList && server.requests.value == 1_001)
        // Some empty pages are fine: the server filtered out the items it examined.
        let some = Server { at, _ in
            Self.json(at % 10 == 9 ? [at] : [], extra: at < 99 ? ",\"next\":\"\(at + 1)\"" : "")
        }
        #expect(try await items(some, .cursor()).count == 10)
    }

    @Test("a total below zero is ignored")
    func negativeTotal() async throws {
        let server = Server(Self.capped(45, limit: 20, total: -1, isOffset: false))
        #expect(try await items(server, .number(size: 20)) == Array(0..<45))
    }

    // MARK: Items of other kinds

    private struct Article: Decodable, Identifiable, Sendable {
        let id: Int
        let views: Double
    }
    private struct Note: Decodable, Sendable {
        let text: String
        let place: Place?
    }
    private struct Place: Decodable, Sendable { let name: String }
    private struct Row: Decodable, Identifiable, Sendable {
        let id = UUID()
        let text: String
        private enum CodingKeys: String, CodingKey { case text }
    }
    private struct List<Item: Decodable & Sendable>: Decodable, Sendable { let items: [Item] }

    private func count<Item: Decodable & Sendable>(
        _ type: Item.Type, _ body: @escaping @Sendable (_ request: Int) -> String
    ) async throws -> (items: Int, requests: Int) {
        let requests = Counter()
        let server = Server { _, _ in "{\"items\":[\(body(requests.increment()))],\"time\":\(requests.value)}" }
        let list = PageList(.number(), items: { $0.value.items }) { page in
            Call<List<Item>>(.get, "n", query: page.query("at", size: "size"))
        }
        var items = 0
        for try await _ in server.agent.items(of: list) { items += 1 }
        return (items, server.requests.value)
    }

    @Test("repeated items are recognized by identity, by value, or by the body")
    func kinds() async throws {
        let articles = try await count(Article.self) { "{\"id\":1,\"views\":\($0)},{\"id\":2,\"views\":7}" }
        #expect(articles.items == 2 && articles.requests == 3)
        let notes = try await count(Note.self) { _ in
            #"{"text":"a","place":{"name":"x"}},{"text":"a","place":{"name":"y"}}"#
        }
        #expect(notes.items == 2 && notes.requests == 3)
        // These bodies are equal, but IDs created during decoding can't show that.
        let server = Server { _, _ in #"[{"text":"a"},{"text":"b"}]"# }
        let list = PageList(.offset()) { page in Call<[Row]>(.get, "n", query: page.query("at", size: "size")) }
        var rows = 0
        for try await _ in server.agent.items(of: list) { rows += 1 }
        #expect(rows == 2 && server.requests.value == 3)
    }
}
