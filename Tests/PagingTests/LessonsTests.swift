import Errand
import ErrandEssentials
import ErrandPaging
import ErrandTesting
import Testing

/// Faults that users of other paging libraries have reported. Tests/Lessons.md has the reports.
@Suite("Bugs of other paging libraries", .endsInTime, .leakChecked) struct PagingLessonsTests {
    private static func agent(_ first: StubResponse, _ second: StubResponse) -> (NetworkAgent, StubTransport) {
        let stub = StubTransport()
        stub.on("/v1/numbers", response: first, second)
        return (NetworkAgent(baseURL: "https://api.example.com/v1", transport: stub), stub)
    }

    @Test("an empty cursor ends a list like a missing cursor", arguments: [#","next":"""#, #","next":null"#, ""])
    func emptyCursor(next: String) async throws {
        let (agent, stub) = Self.agent(.json(#"{"items":[1],"next":"a"}"#), .json(#"{"items":[2]\#(next)}"#))
        var items: [Int] = []
        for try await item in agent.items(of: GetNumbers(page: .cursor())) { items.append(item) }
        #expect(items == [1, 2] && stub.received.count == 2)
    }

    @Test("after the first page failed, the next load requests the first page, and it is shown once")
    func failedFirstPage() async throws {
        for position in PagePosition.all {
            let server = NumberServer(position.style, 25)
            let controller = PageController(GetNumbers(page: position), on: server.agent)
            server.fail(at: 1)
            await #expect(throws: ErrandError.self) { try await controller.next() }
            for _ in 0..<4 { try await controller.next() }
            #expect(controller.state.items == Array(0..<25) && server.requests.count == 4)
            server.fail(at: 5)
            await #expect(throws: ErrandError.self) { try await controller.reload() }
            #expect(try await controller.next() == nil && controller.state.items == Array(0..<25))
        }
    }

    @Test(
        "a list that has become shorter doesn't show a page twice, and the user can go back",
        arguments: PagePosition.all)
    func shorterList(position: PagePosition) async throws {
        let server = NumberServer(position.style, 15)
        let controller = PageController(GetNumbers(page: position), on: server.agent)
        for _ in 0..<2 { try await controller.next() }
        server.count = 10
        try await controller.refresh()
        #expect(controller.state.items == Array(0..<10) && controller.state.isLast)
        #expect(try await controller.next() == nil)
        #expect(try await controller.previous()?.items == Array(0..<10))
        server.count = 4
        try await controller.reload()
        #expect(controller.state.items == Array(0..<4) && controller.state.pages.count == 1 && controller.state.isLast)
        #expect(try await controller.next() == nil)
    }

    @Test("a next link is requested unchanged, without parameters of the first page")
    func plainLink() async throws {
        let first = StubResponse.json(#"{"items":[1]}"#).header("Link", "</v1/numbers?after=7>; rel=\"next\"")
        let (agent, stub) = Self.agent(first, .json(#"{"items":[2]}"#))
        var items: [Int] = []
        for try await item in agent.items(of: GetNumbers(page: .link())) { items.append(item) }
        #expect(items == [1, 2])
        #expect(stub.received.map(\.urlText).last == "https://api.example.com/v1/numbers?after=7")
        #expect(stub.received.first?.urlText.hasSuffix("?size=10") == true)
    }

    @Test(
        "the next link is found among other links, in any notation",
        arguments: [
            [#"</v1/numbers?page=2&f=a,b,c>; rel="next""#],
            [#"</v1/numbers?x=1,2>; rel="prev", </v1/numbers?page=2&f=a,b,c>; rel="next""#],
            [#"</a>; rel="previous"; title="start, index>; rel=next", </v1/numbers?page=2&f=a,b,c>; rel=next"#],
            [#"</a>;rel=stylesheet;title, </v1/numbers?page=2&f=a,b,c>;type="a;b";rel="next""#],
            [#"</a>; rel="self""#, #"</v1/numbers?page=2&f=a,b,c>; rel="next""#],
            [#"</a>; rel=boo; title=t, </b>; rel="self", </v1/numbers?page=2&f=a,b,c>; type=x; rel="next"; title=y"#],
            [#"</v1/numbers?page=2&f=a,b,c>; rel="last NEXT""#], [#" ,</v1/numbers?page=2&f=a,b,c> ;REL = next ,"#],
        ])
    func linkForms(fields: [String]) async throws {
        let first = fields.reduce(StubResponse.json(#"{"items":[1]}"#)) { $0.header("Link", $1) }
        let (agent, stub) = Self.agent(first, .json(#"{"items":[2]}"#))
        var items: [Int] = []
        for try await item in agent.items(of: GetNumbers(page: .link())) { items.append(item) }
        #expect(items == [1, 2] && stub.received.count == 2)
        #expect(stub.received.last?.urlText == "https://api.example.com/v1/numbers?page=2&f=a,b,c")
    }

    @Test(
        "if an item is deleted during reading, numbered pages skip an item, and cursors don't")
    func deletion() async throws {
        for (position, expected) in [(PagePosition.offset(), 1...21), (.cursor(), 1...20)] {
            let (all, log) = (Array(1...21), Log<[Int]>())
            let stub = StubTransport { request in
                let items = URLComponents(url: request.url, resolvingAgainstBaseURL: false)?.queryItems ?? []
                let at = items.first { $0.name == "at" }?.value
                // The first item is deleted after the first page.
                let list = log.count == 0 ? all : Array(all.dropFirst())
                let start =
                    position.style == .offset
                    ? Int(at ?? "") ?? 0 : list.firstIndex { $0 > Int(at?.dropFirst() ?? "") ?? 0 } ?? list.count
                let page = Array(list.dropFirst(start).prefix(10))
                log.add(page)
                let next = page.count == 10 ? #","next":"c\#(page.last ?? 0)""# : ""
                return .json(#"{"items":\#(page)\#(next)}"#)
            }
            let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: stub)
            var items: [Int] = []
            for try await item in agent.items(of: GetNumbers(page: position, hasTotal: false)) { items.append(item) }
            #expect(Set(items).count == items.count)
            #expect(Set(expected).subtracting(items) == (position.style == .offset ? [11] : []))
        }
    }

    @Test(
        "a relation counts as a whole word in any case, anywhere among the parameters, and a link may be relative",
        arguments: [
            (#"<?page=2>; rel="NeXt""#, "/v1/numbers?page=2"), (#"<numbers?page=2>;rel=next"#, "/v1/numbers?page=2"),
            (#"<//api.example.com/v1/numbers?page=2>; rel="next""#, "/v1/numbers?page=2"),
            (#"</v1/numbers?page=2>; type="application/json"; title="rel=prev"; rel="next""#, "/v1/numbers?page=2"),
            (#"</v1/numbers?page=2>; rel="up\#tnext  last""#, "/v1/numbers?page=2"),
            (#"</v1/numbers?page=2>; rel="foo_next_bar""#, nil), (#"</v1/numbers?page=2>; rel="nextpage""#, nil),
            (#"</v1/numbers?page=2>; rel="http://a.test/next""#, nil), (#"</v1/numbers?page=2>; rev="next""#, nil),
            (#"</v1/numbers?page=2>; rel='next'"#, "/v1/numbers?page=2"),
            (#"</v1/numbers?page=2>; title="next""#, nil), (#"</v1/numbers?page=2>"#, nil),
            (#"</v1/numbers?page=2>; rel="prev"; rel="next""#, nil),
            (#"</a>; rel="next", </v1/numbers?page=3>; rel="next""#, "/a"),
        ] as [(String, String?)])
    func relations(field: String, next: String?) async throws {
        let first = StubResponse.json(#"{"items":[1]}"#).header("Link", field)
        let stub = StubTransport()
        stub.on("*", response: first, .json(#"{"items":[2]}"#))
        let agent = NetworkAgent(baseURL: "https://api.example.com/v1", transport: stub)
        var items: [Int] = []
        for try await item in agent.items(of: GetNumbers(page: .link())) { items.append(item) }
        #expect(items == (next == nil ? [1] : [1, 2]))
        if let next { #expect(stub.received.last?.urlText == "https://api.example.com\(next)") }
    }
}
