import Errand
import ErrandResumableDownload
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// A server with one file. It behaves as a test requires, and counts the bytes it sends.
final class Origin: Sendable {
    struct Resource: Sendable {
        var data: Data
        var etag: String? = "\"1\""
        /// Changes the response to a request, given its number, counted from 1.
        var twist: @Sendable (Int, RecordedRequest, TestResponse) -> TestResponse = { _, _, response in response }
    }

    let server: TestServer
    private let state: Mutex<(resource: Resource, count: Int)>

    init(_ data: Data, path: String = "/film.mp4") throws {
        server = try TestServer()
        state = Mutex((Resource(data: data), 0))
        server.on(path) { [weak self] request in
            guard let self else { return .status(500) }
            let (resource, count) = state.withLock { state in
                state.count += 1
                return (state.resource, state.count)
            }
            let whole = TestResponse.ranges(resource.data, etag: resource.etag)
            return resource.twist(count, request, whole)
        }
    }

    /// Changes the resource. The change takes effect with the next request, which is number 1 again.
    func set(_ change: (inout Resource) -> Void) {
        state.withLock { state in
            change(&state.resource)
            state.count = 0
        }
    }

    /// Ends the first response after this many bytes of its body.
    func breakFirst(after count: Int) {
        set { $0.twist = { number, _, response in number == 1 ? response.truncated(to: count) : response } }
    }

    /// Holds the first response at a gate after this many bytes of its body.
    func holdFirst(at gate: Gate, after count: Int) {
        set {
            $0.twist = { number, _, response in
                number == 1 ? response.waiting(for: gate, afterBodyBytes: count) : response
            }
        }
    }

    var ranges: [String?] { server.received.map(\.range) }
}

@Suite("Continuing an interrupted download", .leakChecked) struct ResumeTests {
    private let folder: Folder
    private let film = bytes(900_000)
    private let origin: Origin

    init() throws {
        folder = try Folder()
        origin = try Origin(film)
    }

    @Test("one call resumes after each interruption", arguments: Wire.allCases)
    func withinOneCall(wire: Wire) async throws {
        origin.set { $0.twist = { number, _, response in number < 4 ? response.truncated(to: 200_000) : response } }
        try await agent(origin.server, wire).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && folder.names == ["a"])
        #expect(origin.ranges.count == 4 && origin.ranges[0] == nil)
        #expect(origin.server.received.dropFirst().allSatisfy { $0.headers["If-Range"] == "\"1\"" })
        let firsts = origin.ranges.compactMap { $0.flatMap { Int($0.dropFirst(6).prefix { $0 != "-" }) } }
        #expect(firsts == firsts.sorted() && Set(firsts).count == 3)
    }

    @Test("an entity tag that isn't UTF-8 is sent back with the same bytes, even by a later start")
    func entityTagBytes() async throws {
        let tag = Array("\"caf".utf8) + [0xE9] + Array("\"".utf8)
        let total = 10
        @Sendable func head(_ lines: String) -> Data {
            Data("HTTP/1.1 \(lines)\r\nETag: ".utf8 + tag + "\r\n\r\n".utf8)
        }
        let server = try TestServer()
        server.on("/film.mp4") { request in
            request.range == "bytes=4-"
                ? .raw(
                    head("206 Partial Content\r\nContent-Length: 6\r\nContent-Range: bytes 4-9/\(total)")
                        + Data("456789".utf8))
                : .raw(head("200 OK\r\nContent-Length: \(total)") + Data("0123".utf8))
        }
        let sent = Mutex<[HTTPHeaders.Field]>([])
        let record = ClosureFilter(.hop) { exchange, next in
            sent.withLock { $0 += exchange.http.headers.filter { $0.name == "If-Range" } }
            return try await next(exchange)
        }
        func agent() -> NetworkAgent {
            NetworkAgent(
                baseURL: server.url, transport: Wire.system.transport, filters: [.downloads(quick(tries: 1)), record])
        }
        _ = await failure { _ = try await agent().send(Get(folder.file("a"))) }
        try await agent().send(Get(folder.file("a")))
        #expect(try folder.data("a") == Data("0123456789".utf8))
        #expect(sent.withLock { $0.map(\.value) } == ["\"caf\u{E9}\""])
        #if os(Linux)
        #expect(sent.withLock { $0.allSatisfy(\.isLatin1) })
        #endif
    }

    @Test("a later start resumes, into a file and into a directory", arguments: Wire.allCases)
    func inALaterStart(wire: Wire) async throws {
        for destination in [folder.file("a"), folder.url] {
            origin.breakFirst(after: 400_000)
            let request = Get(destination).with { $0.downloadOptions = quick(tries: 1) }
            #expect(await failure { try await agent(origin.server, wire).send(request) } != nil)
            #expect(folder.names.filter { $0.hasPrefix("errand-") }.count == 2)
            origin.set { $0.twist = { _, _, response in response } }
            let file = try await agent(origin.server, wire).send(request).value
            #expect(try Data(contentsOf: file) == film)
            let range = origin.ranges.last.flatMap { $0 } ?? ""
            #expect(range.hasPrefix("bytes=") && range != "bytes=0-")
        }
        #expect(folder.names == ["a", "film.mp4"])
    }

    @Test("a later start uses its own headers and URL, and only the version has to be the same")
    func ownHeaders() async throws {
        let other = try Folder()
        let signed = try Origin(film, path: "/signed")
        signed.breakFirst(after: 300_000)
        var request = Get(folder.file("a"), path: "signed?token=1").with { $0.downloadKey = "film 7" }
        request.headers = ["X-Token": "old"]
        request.downloadOptions = quick(tries: 1)
        #expect(await failure { try await agent(signed.server).send(request) } != nil)
        // The app's directory has moved.
        for name in folder.names {
            try FileManager.default.moveItem(at: folder.file(name), to: other.file(name))
        }
        (request.path, request.destination) = ("signed?token=2", other.file("a"))
        request.headers = ["X-Token": "new"]
        try await agent(signed.server).send(request)
        let last = try #require(signed.server.received.last)
        #expect(last.headers["X-Token"] == "new" && last.target.hasSuffix("token=2") && last.range != nil)
        #expect(try other.data("a") == film && other.names == ["a"])
    }

    @Test("two URLs in one directory don't share partial files")
    func twoURLs() async throws {
        let second = bytes(500_000, seed: 2)
        origin.breakFirst(after: 300_000)
        origin.server.on("/other.bin", .ranges(second, etag: "\"1\""))
        let request = Get(folder.url).with { $0.downloadOptions = quick(tries: 1) }
        #expect(await failure { try await agent(origin.server).send(request) } != nil)
        try await agent(origin.server).send(Get(folder.url, path: "other.bin"))
        #expect(try folder.data("other.bin") == second)
        #expect(origin.ranges.last == .some(nil))
        try await agent(origin.server).send(request)
        #expect(try folder.data("film.mp4") == film && origin.ranges.last != .some(nil))
    }

    @Test("a start right after a stop resumes", arguments: Wire.allCases)
    func stopAndStart(wire: Wire) async throws {
        let gate = Gate()
        origin.holdFirst(at: gate, after: 500_000)
        let agent = agent(origin.server, wire)
        let handle = agent.start(Get(folder.file("a")))
        try await eventually { handle.progress.received > 0 }
        handle.cancel()
        #expect((await handle.result).isFailure)
        gate.open()
        try await agent.send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && origin.ranges.last != .some(nil))
    }

    @Test("bytes of another version are never joined", arguments: Wire.allCases, [1, 2, 8])
    func changed(wire: Wire, segments: Int) async throws {
        let new = bytes(910_000, seed: 3)
        for hasConditions in [true, false] {
            origin.set { ($0.data, $0.etag) = (film, "\"1\"") }
            origin.breakFirst(after: 400_000)
            let request = Get(folder.file("a")).with { $0.downloadOptions = quick(segments: segments, tries: 1) }
            _ = await failure { try await agent(origin.server, wire).send(request) }
            origin.set { resource in
                (resource.data, resource.etag) = (new, "\"2\"")
                // A server without If-Range support sends the range anyway.
                if !hasConditions { resource.twist = { _, request, _ in Self.part(new, "\"2\"", request) } }
            }
            try await agent(origin.server, wire, quick(segments: segments)).send(Get(folder.file("a")))
            #expect(try folder.data("a") == new, "\(hasConditions)")
        }
        #expect(folder.names == ["a"])
    }

    @Test("a file that changes between two segments or attempts starts over", arguments: Wire.allCases, [1, 2, 8])
    func changesMeanwhile(wire: Wire, segments: Int) async throws {
        let new = bytes(1_200_000, seed: 4)
        origin.set { resource in
            resource.twist = { number, request, response in
                if number == 1 { return segments == 1 ? response.truncated(to: 300_000) : response }
                return TestResponse.ranges(new, etag: "\"2\"")
            }
        }
        try await agent(origin.server, wire, quick(segments: segments)).send(Get(folder.file("a")))
        #expect(try folder.data("a") == new && folder.names == ["a"])
    }

    /// Returns the requested range, regardless of `If-Range`.
    private static func part(_ data: Data, _ etag: String?, _ request: RecordedRequest) -> TestResponse {
        guard let text = request.range, let first = Int(text.dropFirst(6).prefix { $0 != "-" }), first < data.count
        else {
            return TestResponse.ranges(data, etag: etag)
        }
        let last = min(data.count - 1, text.split(separator: "-").dropFirst().first.flatMap { Int($0) } ?? .max)
        var response = TestResponse(status: 206, body: data[first...last])
        response.headers.add("Content-Range", "bytes \(first)-\(last)/\(data.count)")
        if let etag { response.headers.add("ETag", etag) }
        return response
    }
}

extension Result {
    var isFailure: Bool { if case .failure = self { true } else { false } }
}
