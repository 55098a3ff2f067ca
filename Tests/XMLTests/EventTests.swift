import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import ErrandXML
import Synchronization
import Testing

@Suite("A stream of XML", .leakChecked) struct XMLEventTests {
    @Test("a document has the same events at every split, and the same events as its tree")
    func splits() async throws {
        let data = Data(atom.utf8)
        let whole = joined(try await XMLEvents(HTTPBody(data)).all())
        #expect(
            whole.first == .start(XMLName("feed", in: atomNamespace), [XMLName("lang", in: XMLName.xmlNamespace): "de"])
        )
        for place in stride(from: 1, to: data.count, by: 3) {
            let body = HTTPBody(chunks: [Data(data.prefix(place)), Data(data.dropFirst(place))])
            #expect(joined(try await XMLEvents(body).all()) == whole, "\(place)")
        }
        let bytes = HTTPBody(chunks: data.map { Data([$0]) } + [Data()])
        #expect(joined(try await XMLEvents(bytes).all()) == whole)
    }

    @Test("delivers elements as trees as soon as they have ended")
    func elements() async throws {
        let fed = Mutex(0)
        let body = HTTPBody {
            let count = fed.withLock { count in
                count += 1
                return count
            }
            if count > 100 { return Data("</rows>".utf8) }
            return Data(((count == 1 ? "<rows>" : "") + "<row n='\(count)'><row>x</row>\(count)</row>\n").utf8)
        }
        var rows = XMLEvents(body).elements("row").makeAsyncIterator()
        let first = try await rows.next()
        #expect(first?.attribute("n") == "1" && first?.text == "x1" && first?["row"]?.text == "x")
        #expect(fed.withLock { $0 } <= 3)
        for expected in 2...5 { #expect(try await rows.next()?.attribute("n") == "\(expected)") }
    }

    @Test("an element beyond its limits ends the elements with an error and its line")
    func limits() async throws {
        var limits = XMLLimits.standard
        limits.maximumNodes = 3
        let text = "<a><b><c/></b>\n<b><c/><c/><c/></b>\n<b/></a>"
        var elements = XMLEvents(HTTPBody(Data(text.utf8))).elements(XMLName("b"), limits: limits).makeAsyncIterator()
        #expect(try await elements.next()?.children.count == 1)
        let error = await #expect(throws: XMLError.self) { try await elements.next() }
        #expect(error?.code == .tooLarge && (error?.line ?? 0) >= 2)
        #expect(try await elements.next() == nil)
    }

    @Test("throws once after the earlier events, and has ended then")
    func errors() async throws {
        var events = XMLEvents(HTTPBody(Data("<a><b/>\n</c>".utf8))).makeAsyncIterator()
        var seen: [XMLEvent] = []
        let error = await #expect(throws: XMLError.self) {
            while let event = try await events.next() { seen.append(event) }
        }
        #expect(error?.code == .malformed && error?.line == 2 && seen.count >= 3)
        #expect(try await events.next() == nil)
    }

    @Test("a broken transfer throws the connection's error, and a document that ends too early is truncated")
    func wire() async throws {
        struct Broken: Error {}
        let sent = Mutex(false)
        let body = HTTPBody {
            if sent.withLock({ sent in
                defer { sent = true }
                return sent
            }) {
                throw Broken()
            }
            return Data("<a><b/>".utf8)
        }
        var count = 0
        await #expect(throws: Broken.self) { for try await _ in XMLEvents(body) { count += 1 } }
        #expect(count == 3)
        #expect(try await streamFailure(of: Data("<a><b/>".utf8))?.code == .truncated)
    }

    @Test("leaving the loop cancels the transfer, and a second reader gets an error")
    func leaving() async throws {
        let isCancelled = Mutex(false)
        let body = HTTPBody(cancel: { isCancelled.withLock { $0 = true } }) { Data("<a>".utf8) }
        do {
            let events = XMLEvents(body)
            for try await _ in events { break }
            await #expect(throws: ErrandError.self) { for try await _ in events {} }
        }
        #expect(isCancelled.withLock { $0 })
    }

    @Test("many concurrent streams on a socket each end with their last element")
    func many() async throws {
        let server = try TestServer()
        let rows = (0..<500).map { "<row n='\($0)'>text of \($0)</row>" }.joined(separator: "\n")
        server.on(
            .get, "/rows",
            TestResponse(headers: ["Content-Type": "application/xml"], body: Data("<rows>\(rows)</rows>".utf8)))
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let events = try await agent.send(Call<XMLEvents>(.get, "rows")).value
                    return try await events.elements("row").all().count
                }
            }
            for try await count in group { #expect(count == 500) }
        }
    }
}
