import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import ErrandXML
import Testing

private struct GetFeed: XMLRequest {
    var path: String { "feed.xml" }
}

private struct Feed: XMLReadable, Equatable {
    let titles: [String]
    init(xml: XMLTree) throws {
        struct NoFeed: Error {}
        guard xml.name.local == "feed" else { throw NoFeed() }
        titles = xml.all("entry").map { $0["title"]?.text ?? "" }
    }
}

private struct GetTitles: XMLRequest {
    typealias Output = Feed
    var path: String { "feed.xml" }
    var xmlLimits: XMLLimits {
        var limits = XMLLimits.standard
        limits.maximumDepth = 4
        return limits
    }
}

private struct Both: XMLReadable, Decodable {
    let name: String
    init(xml: XMLTree) { name = xml.name.local }
}

private struct GetBoth: XMLRequest { typealias Output = Both }

private struct GetEvents: XMLRequest {
    typealias Output = XMLEvents
    var path: String { "feed.xml" }
}

@Suite("A request for XML", .leakChecked) struct XMLRequestTests {
    private func agent(_ text: String, _ type: String = "application/xml") -> NetworkAgent {
        NetworkAgent(
            baseURL: "http://stub",
            transport: .stub(StubResponse(headers: ["Content-Type": type], body: Data(text.utf8))))
    }

    @Test("an XML request returns a tree, a value that is read from a tree, or a stream")
    func outputs() async throws {
        let agent = agent(atom)
        #expect(try await agent.send(GetFeed()).value.name.local == "feed")
        #expect(try await agent.send(GetTitles()).value.titles == ["a < b and more", "", ""])
        #expect(try await agent.send(GetBoth()).value.name == "feed")
        #expect(try await agent.send(Call<XMLTree>(.get, "a")).value["title"] != nil)
        #expect(try await agent.send(Call<Feed>(.get, "a")).value.titles.count == 3)
        let events = try await agent.send(GetEvents()).value.all()
        #expect(events.last == .end(XMLName("feed", in: atomNamespace)))
        #expect(try await agent.send(Call<XMLEvents>(.get, "a")).value.elements("entry").all().count == 3)
    }

    @Test(
        "an XML request accepts only XML types",
        arguments: ["application/xml", "text/xml; charset=utf-8", "image/svg+xml"])
    func types(_ type: String) async throws {
        _ = try await agent("<a/>", type).send(GetFeed())
        let error = await #expect(throws: ErrandError.self) { try await agent("<a/>", "text/html").send(GetFeed()) }
        #expect(error?.code == .unacceptableContentType)
    }

    @Test("an XML request fails for JSON, because of its type or its text")
    func json() async throws {
        for output in [true, false] {
            let typed = await #expect(throws: ErrandError.self) {
                let agent = agent("{}", "application/json")
                if output { _ = try await agent.send(GetFeed()) } else { _ = try await agent.send(GetEvents()) }
            }
            #expect(typed?.code == .unacceptableContentType)
        }
        let error = await #expect(throws: ErrandError.self) { try await agent("{\"a\": 1}").send(GetFeed()) }
        #expect(error?.code == .decodingFailed && error?.xml?.code == .malformed && error?.response?.data.count == 8)
        await #expect(throws: XMLError.self) { _ = try await agent("{\"a\": 1}").send(GetEvents()).value.all() }
    }

    @Test("uses the charset of the header and the limits of the request, and errors have positions")
    func details() async throws {
        let server = try TestServer()
        let latin = Data("<a>\u{E9}</a>".unicodeScalars.map { UInt8($0.value) })
        server.on(
            .get, "/feed.xml", TestResponse(headers: ["Content-Type": "text/xml; charset=iso-8859-1"], body: latin))
        let real = NetworkAgent(baseURL: server.url, transport: .system)
        #expect(try await real.send(GetFeed()).value.text == "\u{E9}")
        #expect(joined(try await real.send(GetEvents()).value.all()).contains(.text("\u{E9}")))
        let deep = await #expect(throws: ErrandError.self) {
            try await agent("<feed>\n<a><b><c><d/></c></b></a></feed>").send(GetTitles())
        }
        #expect(deep?.xml?.code == .tooDeep && deep?.xml?.line == 2)
        let empty = await #expect(throws: ErrandError.self) { try await agent("").send(GetFeed()) }
        #expect(empty?.code == .decodingFailed && empty?.xml?.code == .truncated)
    }
}
