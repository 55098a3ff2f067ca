import Errand
import ErrandResumableDownload
import ErrandTesting
import Foundation
import Testing

@Suite("A download, on both transports", .leakChecked) struct DownloadTests {
    private let server: TestServer
    private let folder: Folder
    private let film = bytes(700_000)

    init() throws {
        server = try TestServer()
        folder = try Folder()
    }

    @Test("the file arrives at its destination, and no other file is left", arguments: Wire.allCases)
    func arrives(wire: Wire) async throws {
        server.on("/film.mp4", .ranges(film, etag: "\"1\""))
        let response = try await agent(server, wire).send(Get(folder.file("a.mp4")))
        #expect(response.value == folder.file("a.mp4") && response.http.body.file == folder.file("a.mp4"))
        #expect(response.http.data.isEmpty)
        #expect(try folder.data("a.mp4") == film)
        #expect(folder.names == ["a.mp4"])
        let sent = try #require(server.received.first)
        #expect(sent.headers["Accept-Encoding"] == "identity" && sent.range == nil)
    }

    @Test("a method other than GET downloads in one piece, without ranges", arguments: Wire.allCases)
    func post(wire: Wire) async throws {
        server.on("/film.mp4", .ranges(film, etag: "\"1\"").truncated(to: 100_000))
        let request = Get(folder.file("a.mp4")).with { $0.method = .post }
        let error = await failure { try await agent(server, wire).send(request) } as? ErrandError
        #expect(error?.code == (wire == .system ? .truncated : .transportFailed))
        #expect(server.requestCount == 1 && folder.names.isEmpty)
        server.on("/film.mp4", .ranges(film, etag: "\"1\""))
        try await agent(server, wire).send(request)
        #expect(try folder.data("a.mp4") == film)
        let refused = await failure { try await agent(server, wire).send(request.with { $0.method = .head }) }
        #expect((refused as? TransferError)?.code == .invalidRequest)
    }

    @Test(
        "in a directory, the file gets the server's name, or the name of the final URL", arguments: Wire.allCases
    )
    func directory(wire: Wire) async throws {
        server.on("/start", .redirect(to: "/videos/the%20film.mp4?token=1"))
        server.on("/videos/*", .data(film))
        server.on("/named", .data(film).header("Content-Disposition", "attachment; filename=\"../../etc/passwd\""))
        let agent = agent(server, wire)
        let first = try await agent.send(Get(folder.url, path: "start")).value
        let second = try await agent.send(Get(folder.url, path: "start")).value
        let third = try await agent.send(Get(folder.url, path: "named")).value
        #expect([first, second, third].map(\.lastPathComponent) == ["the film.mp4", "the film (2).mp4", "passwd"])
        #expect(folder.names == ["passwd", "the film (2).mp4", "the film.mp4"])
        let options = quick(clash: .replace)
        try await agent.send(Get(folder.url, path: "named").with { $0.downloadOptions = options })
        #expect(folder.names.count == 3)
    }

    @Test("a URL without a last component never touches the directory")
    func noLastComponent() async throws {
        server.on("/", .data(film))
        let file = try await agent(server).send(Get(folder.url, path: "/")).value
        #expect(file.lastPathComponent == "download" && folder.names == ["download"])
    }

    @Test("the old file stays until the new file is complete", arguments: Wire.allCases)
    func replaces(wire: Wire) async throws {
        let (old, new) = (Data("old".utf8), film)
        try old.write(to: folder.file("a.mp4"))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file("a.mp4").path)
        server.on("/film.mp4", .ranges(new, etag: "\"1\"").truncated(to: 300_000))
        let request = Get(folder.file("a.mp4")).with { $0.downloadOptions = quick(tries: 1) }
        #expect(await failure { try await agent(server, wire).send(request) } != nil)
        #expect(try folder.data("a.mp4") == old)
        server.on("/film.mp4", .ranges(new, etag: "\"1\""))
        try await agent(server, wire).send(request)
        #expect(try folder.data("a.mp4") == new && folder.names == ["a.mp4"])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("a.mp4").path)[.posixPermissions]
        #expect(mode as? Int == 0o640)
    }

    @Test("a rejected status is reported with its body, and doesn't change a file", arguments: Wire.allCases)
    func refused(wire: Wire) async throws {
        try Data("old".utf8).write(to: folder.file("a.mp4"))
        server.on("/film.mp4", .repeating(Data("no such film ".utf8), count: 10_000_000).status(404))
        let error = await failure { try await agent(server, wire).send(Get(folder.file("a.mp4"))) } as? ErrandError
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 404)
        #expect(error?.response?.data.count == 64 << 10)
        #expect(error?.response?.data.starts(with: Data("no such film ".utf8)) == true)
        #expect(try folder.data("a.mp4") == Data("old".utf8) && folder.names == ["a.mp4"])
    }

    @Test("empty files, files without a length and chunked files are downloaded", arguments: Wire.allCases)
    func lengths(wire: Wire) async throws {
        server.on("/empty", .ranges(Data(), etag: "\"1\""))
        server.on("/close", .data(film).untilClose())
        server.on("/chunked", .data(film).chunked(sizes: [1, 100_000, 7]))
        for segments in [1, 4] {
            let agent = agent(server, wire, quick(segments: segments))
            for path in ["empty", "close", "chunked"] {
                try await agent.send(Get(folder.file(path), path: path))
                #expect(try folder.data(path) == (path == "empty" ? Data() : film), "\(path), \(segments)")
            }
        }
        #expect(folder.names == ["chunked", "close", "empty"])
    }

    @Test("checks and content types are judged before the old file is replaced")
    func judged() async throws {
        struct Wrong: Error {}
        try Data("old".utf8).write(to: folder.file("a.mp4"))
        server.on("/film.mp4", .ranges(film, etag: "\"1\"", contentType: "text/html"))
        let typed = Get(folder.file("a.mp4")).with { $0.acceptableContentTypes = ["video/*"] }
        let error = await failure { try await agent(server).send(typed) } as? ErrandError
        #expect(error?.code == .unacceptableContentType)
        let checked = Get(folder.file("a.mp4")).with { request in
            request.checks = [
                ResponseCheck("size") { response in
                    let data = try await response.body.collect(upTo: 1 << 20)
                    if data.count == 700_000 { throw Wrong() }
                }
            ]
        }
        #expect(await failure { try await agent(server).send(checked) } is Wrong)
        #expect(try folder.data("a.mp4") == Data("old".utf8) && folder.names == ["a.mp4"])
    }

    @Test("a download works on an agent without its filter, with every way of sending it", arguments: Wire.allCases)
    func noFilter(wire: Wire) async throws {
        server.on("/film.mp4", .ranges(film, etag: "\"1\""))
        let bare = NetworkAgent(baseURL: server.url, transport: wire.transport)
        #expect(try await bare.send(Get(folder.file("sent"))).value == folder.file("sent"))
        #expect(try await bare.start(Get(folder.file("started"))).value.value == folder.file("started"))
        #expect(try await bare.download(Get(folder.file("watched"))).file == folder.file("watched"))
        for name in ["sent", "started", "watched"] { #expect(try folder.data(name) == film) }
        #expect(folder.names.count == 3)
    }

    @Test("the agent's filter does the work with its options, and so does a filter in the request's own filters")
    func installedFilter() async throws {
        server.on("/film.mp4", .ranges(film, etag: "\"1\""))
        let installed = NetworkAgent(
            baseURL: server.url, transport: Wire.system.transport,
            filters: [.downloads(quick(segments: 4)), .downloads(quick())])
        try await installed.send(Get(folder.file("a")))
        #expect(server.requestCount >= 5 && server.received.allSatisfy { $0.range != nil })
        struct Own: DownloadRequest {
            var path: String { "film.mp4" }
            let destination: URL
            var filters: [any Filter] { [.downloads(quick(segments: 4))] }
        }
        let bare = NetworkAgent(baseURL: server.url, transport: Wire.system.transport)
        let before = server.requestCount
        try await bare.send(Own(destination: folder.file("b")))
        #expect(server.requestCount >= before + 5 && server.received.allSatisfy { $0.range != nil })
        #expect(try folder.data("a") == film && folder.data("b") == film && folder.names == ["a", "b"])
    }

    @Test("a download that a filter sends within another download, with its tags, is performed too")
    func withinAnother() async throws {
        server.on("/film.mp4", .ranges(film, etag: "\"1\""))
        let bare = NetworkAgent(baseURL: server.url, transport: Wire.system.transport)
        let inner = folder.file("inner")
        struct Outer: DownloadRequest {
            var path: String { "film.mp4" }
            let destination: URL
            let filters: [any Filter]
        }
        let sends = ClosureFilter(.hop) { exchange, next in
            _ = try await bare.send(Get(inner), options: CallOptions(tags: exchange.tags))
            return try await next(exchange)
        }
        try await bare.send(Outer(destination: folder.file("outer"), filters: [sends]))
        #expect(try folder.data("outer") == film && folder.data("inner") == film)
    }
}
