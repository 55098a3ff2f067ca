import Errand
import ErrandMultipart
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite("Files in multipart bodies", .endsInTime, .leakChecked) struct FileTests {
    enum Change: CaseIterable, Sendable {
        case grows, shrinks, isReplaced, vanishes, isRewritten

        func apply(to url: URL) throws {
            switch self {
            case .grows, .shrinks:
                let handle = try FileHandle(forWritingTo: url)
                let size = try handle.seekToEnd()
                if self == .grows {
                    try handle.write(contentsOf: Data("more".utf8))
                } else {
                    try handle.truncate(atOffset: size / 2)
                }
                try handle.close()
            case .isReplaced:
                // Written to a temporary file and renamed: another file of the same size.
                try Data(contentsOf: url).write(to: url, options: .atomic)
            case .vanishes: try FileManager.default.removeItem(at: url)
            case .isRewritten:
                // Sets an explicit date, because the file system's clock may be too coarse.
                let date = Date(timeIntervalSince1970: 1_000_000_000)
                try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: url.path)
            }
        }
    }

    private let size = 900_000

    private func folder() throws -> Folder {
        let folder = try Folder()
        try Data((0..<size).map { UInt8(truncatingIfNeeded: $0) }).write(to: folder.file("f"))
        return folder
    }

    private func built(_ folder: Folder) async throws -> RequestBody {
        let stub = StubTransport(.status(200))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let planned = Log<RequestBody>()
        let seen = ClosureFilter { exchange, _ in
            planned.add(exchange.http.body)
            return HTTPResponse(url: exchange.http.url, status: 200)
        }
        var call = Call<Void>(.post, "up", body: .multipart(.field("a", "b"), .file(folder.file("f"), name: "f")))
        call.filters = [seen]
        try await agent.send(call)
        return try #require(planned.all.first)
    }

    @Test("a file that changes before it is sent throws a typed error", arguments: Change.allCases)
    func before(change: Change) async throws {
        let folder = try folder()
        let body = try await built(folder)
        #expect(body.length.map { $0 > size } == true)
        try change.apply(to: folder.file("f"))
        let (code, own) = try await reason { _ = try await body.open().collect(upTo: 2 * size) }
        #expect(code == .fileFailed)
        #expect(own == .fileChanged)
    }

    @Test(
        "a file that changes while it is sent throws a typed error, without a complete body", arguments: Change.allCases
    )
    func within(change: Change) async throws {
        let folder = try folder()
        let body = try await built(folder)
        var iterator = try body.open().makeAsyncIterator()
        var count = Int64(try #require(try await iterator.next()).count)
        try change.apply(to: folder.file("f"))
        let (code, own) = try await reason {
            while let chunk = try await iterator.next() { count += Int64(chunk.count) }
        }
        #expect(code == .fileFailed)
        #expect(own == .fileChanged)
        #expect(count < body.length ?? 0)
    }

    @Test(
        "a server doesn't get a complete request from a file that changes while it is sent", arguments: Change.allCases)
    func wire(change: Change) async throws {
        let folder = try folder()
        let server = try TestServer { _ in .status(200) }
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let file = folder.file("f")
        let first = Data(repeating: 0x61, count: 100)
        // When the stream ends, the request has been built and is being sent.
        let body = RequestBody.multipart(
            .stream(length: 100, name: "s") {
                let rest = Log<Data>()
                return HTTPBody(next: {
                    rest.add(first)
                    if rest.count > 1 {
                        try change.apply(to: file)
                        return nil
                    }
                    return first
                })
            }, .file(file, name: "f"))
        let (code, own) = try await reason { try await agent.send(Call<Void>(.post, "up", body: body)) }
        #expect(code == .fileFailed)
        #expect(own == .fileChanged)
        #expect(server.requestCount == 0)
    }

    @Test("a path that isn't a readable file throws before anything is sent")
    func unreadable() async throws {
        let folder = try Folder()
        let stub = StubTransport(.status(200))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let urls = [folder.file("none"), folder.url, URL(filePath: "/dev/zero"), URL(string: "https://a.b/c")]
        for url in urls.compactMap(\.self) {
            let (code, own) = try await reason {
                try await agent.send(Call<Void>(.post, "up", body: .multipart(.file(url, name: "f"))))
            }
            #expect(code == .fileFailed)
            #expect(own == .fileUnreadable)
        }
        #expect(stub.received.isEmpty)
    }

    @Test("an empty file is an empty part, and one file may be sent twice")
    func empty() async throws {
        let folder = try Folder(["e": "", "f": "abc"])
        let parts: [Multipart.Part] = [
            .file(folder.file("e"), name: "e"), .file(folder.file("f"), name: "f"), .file(folder.file("f"), name: "g"),
        ]
        let (data, request) = try await sent(.multipart(Multipart(parts: parts)))
        let whole = try await read(data, request.headers[.contentType])
        #expect(whole.map { String(decoding: $0.data, as: UTF8.self) } == ["", "abc", "abc"])
        #expect(request.body.length == Int64(data.count))
    }
}
