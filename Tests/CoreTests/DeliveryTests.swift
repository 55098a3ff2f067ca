import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

private func text(of file: URL) throws -> String { String(decoding: try Data(contentsOf: file), as: UTF8.self) }

private func stream(_ pieces: String...) -> HTTPBody {
    let rest = Mutex(pieces)
    return HTTPBody { rest.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) } }
}

private func body(_ make: @escaping @Sendable () throws -> HTTPBody) -> ClosureFilter {
    ClosureFilter { exchange, next in
        var response = try await next(exchange)
        response.body = try make()
        return response
    }
}

private let streaming = ClosureFilter { exchange, next in
    var exchange = exchange
    exchange.delivery = .stream
    return try await next(exchange)
}

private struct Refused: Error {}

@Suite("The delivery of a body", .leakChecked) struct DeliveryTests {
    private func agent(_ filters: [any Filter], _ response: StubResponse = .text("wire"), limit: Int = 64 << 20)
        -> NetworkAgent
    {
        var configuration = AgentConfiguration(baseURL: base)
        configuration.filters = filters
        configuration.maximumBodyBytes = limit
        return NetworkAgent(configuration: configuration, transport: .stub(response))
    }

    @Test("a data request gets the bytes of a stream from a filter or the transport, and of a file")
    func collected() async throws {
        let folder = try Folder(["a": "filed"])
        let file = folder.file("a")
        #expect(try await agent([body { stream("str", "eam") }]).send(Plain()).value == Data("stream".utf8))
        #expect(try await agent([body { HTTPBody(file: file) }]).send(Plain()).value == Data("filed".utf8))
        let chunks = StubResponse.chunks([Data("ch".utf8), Data("unks".utf8)])
        let response = try await agent([streaming], chunks).send(Plain())
        #expect(response.value == Data("chunks".utf8) && response.http.data == Data("chunks".utf8))
        let json = StubResponse.chunks([Data(#"{"id":7,"#.utf8), Data(#""name":"Ada"}"#.utf8)])
        #expect(try await agent([streaming], json).send(GetUser()).value == User(id: 7, name: "Ada"))
        let checked = Plain { $0.checks = [ResponseCheck("bytes") { if $0.data.isEmpty { throw Refused() } }] }
        #expect(try await agent([streaming], chunks).send(checked).value == Data("chunks".utf8))
    }

    @Test("a filter's stream is collected up to the limit of a body in memory", arguments: [10, 11])
    func limit(count: Int) async throws {
        let cancelled = Gate()
        let endless = body {
            let left = Atomic(count)
            return HTTPBody(cancel: cancelled.open) {
                left.subtract(1, ordering: .relaxed).newValue >= 0 ? Data(count: 1) : nil
            }
        }
        let found = await code { try await agent([endless], limit: 10).send(Plain()) }
        #expect(found == (count > 10 ? .bodyTooLarge : nil))
        if count > 10 { try await cancelled.wait() }
    }

    @Test("a body that a filter has read without replacing it is an error, not an empty success")
    func consumed() async throws {
        let reading = ClosureFilter { exchange, next in
            var exchange = exchange
            exchange.delivery = .stream
            let response = try await next(exchange)
            for try await _ in response.body {}
            return response
        }
        let agent = agent([reading], .chunks([Data("x".utf8)]))
        #expect(await code { try await agent.send(Plain()) } == .bodyAlreadyRead)
    }

    @Test("a rejected stream of a data request throws the status error, with a bounded copy of the body")
    func refused() async throws {
        let agent = agent([streaming], .chunks([Data("long".utf8)]).status(503), limit: 2)
        let error = await #expect(throws: ErrandError.self) { try await agent.send(Plain()) }
        #expect(error?.code == .unacceptableStatus && error?.response?.data == Data("long".utf8))
    }

    @Test("judging early sees the bytes of a stream, and the response keeps them")
    func judged() async throws {
        let judged = Log<String>()
        let judging = ClosureFilter { exchange, next in
            var exchange = exchange
            exchange.delivery = .stream
            let response = try await next(exchange)
            try await exchange.judge(response)
            judged.add(String(decoding: response.data, as: UTF8.self))
            return response
        }
        let request = Plain { $0.checks = [ResponseCheck("bytes") { if $0.data.isEmpty { throw Refused() } }] }
        let agent = agent([judging], .chunks([Data("a".utf8), Data("b".utf8)]))
        #expect(try await agent.send(request).value == Data("ab".utf8))
        #expect(judged.all == ["ab"])
    }

    @Test("a stream or file request gets a filter's response, whether it's data, a stream or a file")
    func others() async throws {
        let folder = try Folder(["source": "own", "place": "old"])
        let (source, place) = (folder.file("source"), folder.file("place"))
        for make: @Sendable () -> HTTPBody in [
            { HTTPBody(Data("own".utf8)) }, { stream("o", "wn") }, { HTTPBody(file: source) },
        ] {
            let streamed = try await agent([body(make)]).send(Plain<HTTPBody>.streamed()).value
            #expect(try await streamed.collect(upTo: 10) == Data("own".utf8))
            try Data("old".utf8).write(to: place)
            let save = Save(file: place)
            #expect(try await agent([body(make)]).send(save).value == place)
            #expect(try text(of: place) == "own")
        }
        #expect(folder.names == ["place", "source"])
    }
}

struct Save: Request {
    typealias Output = URL
    let file: URL
    var acceptableContentTypes = ContentTypes.any
    var checks: [ResponseCheck] = []
    var filters: [any Filter] = []
    var delivery: BodyDelivery { .file(file) }
}

@Suite("A body in a file", .leakChecked) struct FileDeliveryTests {
    private func agent(_ response: StubResponse = .text("new")) -> NetworkAgent {
        NetworkAgent(baseURL: base, transport: .stub(response))
    }

    @Test("the temporary file of a process that was killed is removed by a later download to the same directory")
    func abandoned() async throws {
        let folder = try Folder([".errand-1-1.partial": "left", ".errand-1-2.partial": "recent"])
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1e9)], ofItemAtPath: folder.file(".errand-1-1.partial").path
        )
        _ = try await agent().send(Save(file: folder.file("a")))
        #expect(folder.names == [".errand-1-2.partial", "a"])
    }

    @Test("the old file stays until status, type, checks and decoding have accepted the new one")
    func untouched() async throws {
        let folder = try Folder(["a": "old"])
        let file = folder.file("a")
        let seen = Log<String>()
        let refusing = ResponseCheck("content") { response in
            let new = try #require(response.body.file)
            seen.add(try text(of: new) + " " + text(of: file))
            throw ErrandError(.checkFailed, "no", response: response)
        }
        let error = await #expect(throws: ErrandError.self) {
            try await agent().send(Save(file: file, checks: [refusing]))
        }
        #expect(error?.code == .checkFailed && error?.response?.data == Data("new".utf8))
        #expect(seen.all == ["new old"])
        #expect(await code { try await agent(.text("no", status: 500)).send(Save(file: file)) } == .unacceptableStatus)
        let typed = Save(file: file, acceptableContentTypes: .json)
        #expect(await code { try await agent().send(typed) } == .unacceptableContentType)
        struct Undecodable: Request {
            let file: URL
            var delivery: BodyDelivery { .file(file) }
            func decode(_ response: HTTPResponse) async throws -> Data { throw Refused() }
        }
        await #expect(throws: Refused.self) { try await agent().send(Undecodable(file: file)) }
        let broken = StubResponse.chunks([Data("ne".utf8)], failure: ErrandError(.connectionLost, "cut"))
        #expect(await code { try await agent(broken).send(Save(file: file)) } == .connectionLost)
        #expect(try text(of: file) == "old")
        #expect(folder.names == ["a"])
    }

    @Test("a call that is cancelled while it checks its file leaves only the old file")
    func cancelled() async throws {
        let folder = try Folder(["a": "old"])
        let file = folder.file("a")
        for decides in [true, false] {
            let gate = Gate()
            // One check notices the cancellation, the other one continues.
            let waiting = ResponseCheck("gate") { _ in
                do { try await gate.wait() } catch { if decides { throw error } }
            }
            let handle = agent().start(Save(file: file, checks: [waiting]))
            try await gate.reached()
            #expect(folder.names.count == 2)
            handle.cancel()
            #expect(await code { try await handle.value } == .cancelled)
            #expect(try text(of: file) == "old")
            #expect(folder.names == ["a"])
        }
    }

    @Test("an output that contains its file's URL has the final location")
    func places() async throws {
        struct Whole: Request {
            typealias Output = HTTPResponse
            let file: URL
            var delivery: BodyDelivery { .file(file) }
        }
        let folder = try Folder()
        let file = folder.file("a")
        let save = try await agent().send(Save(file: file))
        #expect(save.value == file && save.http.body.file == file)
        let whole = try await agent().send(Whole(file: file)).value
        #expect(whole.body.file == file)
        #expect(try await whole.body.collect(upTo: 10) == Data("new".utf8))
        var plain = Plain<HTTPBody> { $0.body }
        plain.delivery = .file(file)
        let streamed = try await agent().send(plain).value
        #expect(streamed.file == file)
        #expect(try await streamed.collect(upTo: 10) == Data("new".utf8))
        #expect(folder.names == ["a"])
    }

    @Test("checks and decoding each read the file from its beginning")
    func readers() async throws {
        let folder = try Folder()
        let log = Log<String>()
        let reading: @Sendable (HTTPResponse) async throws -> Void = { response in
            log.add(String(decoding: try await response.body.collect(upTo: 10), as: UTF8.self))
        }
        var plain = Plain<Void> { try await reading($0) }
        plain.delivery = .file(folder.file("a"))
        plain.checks = [ResponseCheck("1", judge: reading), ResponseCheck("2", judge: reading)]
        try await agent().send(plain).value
        #expect(log.all == ["new", "new", "new"])
    }

    @Test("a path that can't be written to is an error with the path, and leaves no file")
    func unwritable() async throws {
        let folder = try Folder(["a": "old"])
        try FileManager.default.createDirectory(
            at: folder.url.appending(path: "d"), withIntermediateDirectories: true)
        for path in ["no/such/b", "a/b", "d"].map({ folder.url.path + "/" + $0 }) + ["/proc/errand"] {
            let error = await #expect(throws: ErrandError.self) {
                try await agent().send(Save(file: URL(filePath: path)))
            }
            #expect(error?.code == .fileFailed && error?.message.contains(path) == true, "\(path)")
            #expect(error?.response?.status == 200)
        }
        #expect(folder.names == ["a", "d"])
    }

    @Test("a replaced file keeps its permissions, and a name of the maximum length works")
    func permissions() async throws {
        let name = String(repeating: "n", count: 255)
        let folder = try Folder([name: "old"])
        let file = folder.file(name)
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        _ = try await agent().send(Save(file: file))
        #expect(try text(of: file) == "new")
        #expect(try manager.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)
    }
}
