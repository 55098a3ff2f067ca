import Errand
import ErrandEssentials
import ErrandPaging
import ErrandTesting
import Synchronization
import Testing

@Suite("Pages on a screen", .endsInTime, .leakChecked) struct ControllerTests {
    private func controller(
        _ position: PagePosition, _ count: Int
    ) -> (PageController<Int, Numbers>, NumberServer) {
        let server = NumberServer(position.style, count)
        return (PageController(GetNumbers(page: position), on: server.agent), server)
    }

    @Test("next adds a page until the last page, and then doesn't send requests", arguments: PagePosition.all)
    func next(position: PagePosition) async throws {
        let (controller, server) = controller(position, 25)
        #expect(controller.state.isFirst && !controller.state.isLast && controller.state.page == nil)
        for page in 1...3 {
            let loaded = try #require(try await controller.next())
            #expect(loaded.position.index == page - 1 && controller.state.items == Array(0..<min(25, page * 10)))
            #expect(controller.state.isLast == (page == 3) && controller.state.isFirst == (page == 1))
        }
        #expect(controller.state.total == 25)
        #expect(try await controller.next() == nil && server.requests.count == 3)
    }

    @Test("an empty list is its own last page", arguments: PagePosition.all)
    func empty(position: PagePosition) async throws {
        let (controller, server) = controller(position, 0)
        try await controller.next()
        #expect(controller.state.isLast && controller.state.isFirst && controller.state.total == 0)
        #expect(try await controller.next() == nil && server.requests.count == 1)
    }

    @Test("a hundred concurrent calls of next load one page")
    func pressedOften() async throws {
        let gate = Gate()
        let (controller, server) = controller(.number(), 100)
        server.gate = gate
        let first = Task { try await controller.next() }
        try await gate.reached()
        #expect(controller.state.isLoading)
        let ignored = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { try await controller.next() == nil } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        gate.open()
        #expect(try await first.value?.number == 1 && ignored == 100 && server.requests.count == 1)
        #expect(controller.state.items == Array(0..<10) && !controller.state.isLoading)
    }

    @Test("a failure in the middle doesn't lose or repeat a page: the same page is requested again")
    func failure() async throws {
        let (controller, server) = controller(.offset(), 25)
        server.fail(at: 2)
        try await controller.next()
        let error = await #expect(throws: ErrandError.self) { try await controller.next() }
        #expect(error?.response?.status == 503 && controller.state.error is ErrandError)
        #expect(controller.state.items == Array(0..<10) && !controller.state.isLoading)
        try await controller.next()
        try await controller.next()
        #expect(controller.state.items == Array(0..<25) && controller.state.error == nil && server.requests.count == 4)
    }

    @Test("a reload while a page is loading starts over and drops the late response")
    func reload() async throws {
        let gate = Gate()
        let (controller, server) = controller(.cursor(), 25)
        try await controller.next()
        server.gate = gate
        let late = Task { try await controller.next() }
        try await gate.reached()
        server.gate = nil
        #expect(try await controller.reload()?.number == 1)
        gate.open()
        #expect(try await late.value == nil)
        #expect(controller.state.items == Array(0..<10) && server.requests.count == 3)
        try await controller.next()
        #expect(controller.state.items == Array(0..<20))
    }

    @Test("a failed reload keeps the visible items")
    func failedReload() async throws {
        let (controller, server) = controller(.number(), 25)
        try await controller.next()
        try await controller.next()
        server.fail(at: 3)
        await #expect(throws: ErrandError.self) { try await controller.reload() }
        #expect(controller.state.items == Array(0..<20))
        try await controller.next()
        #expect(controller.state.items == Array(0..<25))
    }

    @Test("the previous page, any page and the same page can be loaded")
    func anyPage() async throws {
        let (controller, _) = controller(.number(), 95)
        #expect(try await controller.previous() == nil)
        #expect(try await controller.load(page: 7)?.items == Array(60..<70))
        #expect(try await controller.previous()?.items == Array(50..<60))
        #expect(try await controller.next()?.number == 7 && controller.state.items == Array(50..<70))
        #expect(try await controller.refresh()?.number == 7 && controller.state.items == Array(50..<70))
        #expect(try await controller.load(page: 10)?.items == Array(90..<95))
        for number in [0, -1, Int.min, Int.max] {
            let error = await #expect(throws: PagingError.self) { try await controller.load(page: number) }
            #expect(error?.code == .unreachablePage)
        }
        #expect(controller.state.items == Array(90..<95))
    }

    @Test(
        "after they were shown, pages that only the previous page names can be found again",
        arguments: [PagePosition.cursor(), .link()])
    func namedPages(position: PagePosition) async throws {
        let (controller, _) = controller(position, 45)
        for _ in 0..<3 { try await controller.next() }
        #expect(try await controller.previous()?.items == Array(10..<20))
        #expect(try await controller.previous()?.items == Array(0..<10))
        #expect(try await controller.previous() == nil)
        await #expect(throws: PagingError.self) { try await controller.load(page: 4) }
        #expect(try await controller.next()?.items == Array(10..<20))
    }

    @Test("cancelling the caller cancels the loading, and the same page can be loaded afterwards")
    func cancellation() async throws {
        let gate = Gate()
        let (controller, server) = controller(.number(), 25)
        server.gate = gate
        let task = Task { try await controller.next() }
        try await gate.reached()
        task.cancel()
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(!controller.state.isLoading && controller.state.error == nil && controller.state.pages.isEmpty)
        let stopped = Task { try await controller.next() }
        try await gate.reached(by: 2)
        controller.cancel()
        #expect(try await stopped.value == nil)
        server.gate = nil
        #expect(try await controller.next()?.number == 1)
    }

    @Test("a list without a total whose last page is full doesn't show an empty page")
    func fullLastPage() async throws {
        let server = NumberServer(.offset, 20)
        let controller = PageController(GetNumbers(page: .offset(), hasTotal: false), on: server.agent)
        try await controller.next()
        try await controller.next()
        #expect(!controller.state.isLast)
        try await controller.next()
        #expect(controller.state.isLast && controller.state.pages.count == 2 && controller.state.items.count == 20)
        #expect(try await controller.next() == nil && server.requests.count == 3)
    }

    @Test("a screen receives the states, and its stream ends with the controller")
    func states() async throws {
        let server = NumberServer(.offset, 15)
        var controller: PageController<Int, Numbers>? = PageController(GetNumbers(page: .offset()), on: server.agent)
        let stream = try #require(controller?.states)
        let reader = Task { await stream.reduce(into: [Int]()) { $0.append($1.items.count) } }
        try await controller?.next()
        try await controller?.next()
        controller = nil
        let counts = await reader.value
        #expect(counts == counts.sorted() && Set(counts).isSubset(of: [0, 10, 15]))
    }

    /// A row of a screen. Its deinitializer queries its list, as an app's may.
    private final class Row: Sendable {
        let number: Int
        private let onEnd: @Sendable () -> Void
        init(_ number: Int, onEnd: @escaping @Sendable () -> Void) { (self.number, self.onEnd) = (number, onEnd) }
        deinit { onEnd() }
    }

    private struct GetRows: PagedRequest {
        typealias Output = Numbers
        var page = PagePosition.offset()
        let onEnd: @Sendable () -> Void

        var path: String { page.path("numbers") }
        var query: Parameters { page.query("at", size: "size") }
        func items(in response: Response<Numbers>) -> [Row] { response.value.items.map { Row($0, onEnd: onEnd) } }
    }

    private final class Screen: Sendable {
        let controller = Mutex<PageController<Row, Numbers>?>(nil)
        let ended = Atomic(0)

        func rowEnded() {
            let controller = controller.withLock { $0 }
            if controller?.state.isLoading != nil { ended.add(1, ordering: .relaxed) }
        }
    }

    @Test("the deinit of an item can use the controller that releases it")
    func items() async throws {
        let (server, screen) = (NumberServer(.offset, 15), Screen())
        let controller = PageController(GetRows { screen.rowEnded() }, on: server.agent)
        screen.controller.withLock { $0 = controller }
        // A stream that isn't read keeps the latest state and releases the previous one.
        let states = controller.states
        try await controller.next()
        try await controller.reload()
        try await controller.load(page: 10)
        withExtendedLifetime(states) {}
        screen.controller.withLock { $0 = nil }
        #expect(screen.ended.load(ordering: .relaxed) >= 10)
    }

    private enum Marked: TagKey { static var defaultValue: String { "" } }

    /// Responds according to the call options.
    private struct Stored: Filter {
        let items: [Int]?
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            guard exchange.tags[Marked.self] == "stored" else { return try await next(exchange) }
            guard let items else { throw ErrandError(.invalidResponse, "nothing is stored") }
            let body = try JSONEncoder().encode(Numbers(items: items, total: 25, next: "c0"))
            return HTTPResponse(to: exchange.http, status: 200, body: HTTPBody(body))
        }
    }

    private static let stored = CallOptions(tags: Tags().with(Marked.self, "stored"))

    @Test("the stored first page is shown until the fresh page arrives, from which the list continues")
    func cachedThenFresh() async throws {
        let gate = Gate()
        let server = NumberServer(.cursor, 25)
        let controller = PageController(
            GetNumbers(page: .cursor()), on: server.agent, options: CallOptions(filters: [Stored(items: [-1, -2])]))
        server.gate = gate
        async let fresh = controller.cachedThenFresh(Self.stored)
        try await gate.reached()
        #expect(controller.state.items == [-1, -2] && controller.state.isLoading)
        #expect(try await controller.next() == nil)
        gate.open()
        #expect(try await fresh?.items == Array(0..<10) && controller.state.items == Array(0..<10))
        server.gate = nil
        try await controller.next()
        #expect(controller.state.items == Array(0..<20) && server.requests.count == 2)
    }

    @Test("if no page is stored, the shown pages stay without an error until the fresh page arrives")
    func nothingStored() async throws {
        let server = NumberServer(.number(first: 1), 25)
        let controller = PageController(
            GetNumbers(page: .number()), on: server.agent, options: CallOptions(filters: [Stored(items: nil)]))
        try await controller.next()
        let gate = Gate()
        server.gate = gate
        async let fresh = controller.cachedThenFresh(Self.stored)
        try await gate.reached()
        #expect(controller.state.items == Array(0..<10) && controller.state.error == nil)
        gate.open()
        #expect(try await fresh?.number == 1)
    }

    @Test("a stored page stays if fetching the fresh page fails")
    func freshFails() async throws {
        let server = NumberServer(.number(first: 1), 25)
        server.fail(at: 1)
        let controller = PageController(
            GetNumbers(page: .number()), on: server.agent, options: CallOptions(filters: [Stored(items: [7])]))
        await #expect(throws: ErrandError.self) { try await controller.cachedThenFresh(Self.stored) }
        #expect(controller.state.items == [7] && controller.state.error != nil && !controller.state.isLoading)
    }

    @Test("the options of a reload apply only to its page, and the controller keeps its own")
    func reloadOptions() async throws {
        let server = NumberServer(.number(first: 1), 25)
        let controller = PageController(
            GetNumbers(page: .number()), on: server.agent, options: CallOptions(filters: [Stored(items: [7])]))
        try await controller.reload(options: Self.stored)
        #expect(controller.state.items == [7] && server.requests.isEmpty)
        try await controller.reload()
        #expect(controller.state.items == Array(0..<10) && server.requests.count == 1)
    }

    @Test("a list continues from a stored position, in every style", arguments: PagePosition.all)
    func storedPosition(first: PagePosition) async throws {
        let (controller, _) = controller(first, 25)
        try await controller.next()
        let next = try #require(controller.state.page?.next)
        let stored = try JSONEncoder().encode(next)
        let position = try JSONDecoder().decode(PagePosition.self, from: stored)
        #expect(position == next)
        let server = NumberServer(first.style, 25)
        let resumed = PageController(GetNumbers(page: first), startingAt: position, on: server.agent)
        try await resumed.next()
        #expect(resumed.state.items == Array(10..<20) && !resumed.state.isFirst && !resumed.state.isLast)
        try await resumed.next()
        #expect(resumed.state.items == Array(10..<25) && resumed.state.isLast && server.requests.count == 2)
    }

    @Test("a list that begins at a stored position notices pages that lead back, like any list")
    func resumedCycle() async throws {
        struct Node: Codable, Sendable {
            var items: [Int]
            var next: String?
        }
        struct GetNodes: PagedRequest {
            typealias Output = Node
            var page: PagePosition
            var path: String { page.path("nodes") }
            var query: Parameters { page.query("at") }
            func items(in response: Response<Node>) -> [Int] { response.value.items }
            func nextCursor(in response: Response<Node>) -> String? { response.value.next }
        }
        let stub = StubTransport { request in
            // A leads to B, B to C, and C back to B.
            let next = ["at=A": "B", "at=B": "C", "at=C": "B"][request.url.query() ?? ""] ?? "A"
            return .json(#"{"items":[1],"next":"\#(next)"}"#)
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let first = PageController(GetNodes(page: .cursor()), on: agent)
        try await first.next()
        let position = try #require(first.state.page?.next)
        for start in [nil, position] {
            let controller = PageController(GetNodes(page: .cursor()), startingAt: start, on: agent)
            let error = await #expect(throws: PagingError.self) {
                for _ in 0..<10 where try await controller.next() == nil { return }
            }
            #expect(error?.code == .repeatedPage)
        }
    }

    @Test(
        "a stored position with an invalid encoding is refused",
        arguments: [
            #"{"style":"page","size":10,"index":0,"offset":0,"largest":0}"#,
            #"{"style":"offset","size":0,"index":0,"offset":0,"largest":0}"#,
            #"{"style":"offset","size":10,"index":-1,"offset":0,"largest":0}"#,
            #"{"style":"offset","size":10,"index":0,"offset":-10,"largest":0}"#,
            #"{"style":"number","size":10,"index":0,"offset":0,"largest":0}"#, "{}", "[]",
        ])
    func brokenPosition(text: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(PagePosition.self, from: Data(text.utf8)) }
    }
}
