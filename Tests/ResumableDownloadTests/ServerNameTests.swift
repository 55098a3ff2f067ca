import Errand
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandResumableDownload

@Suite("Names that servers write in their own way", .leakChecked) struct ServerNameTests {
    @Test(
        "a field that ends with a semicolon, lacks quotes or repeats itself still names the file",
        arguments: [
            ("attachment; filename=\"opensmile-2.3.0.tar.gz\";", "opensmile-2.3.0.tar.gz"),
            ("attachment; filename=a.tar.gz;", "a.tar.gz"), ("attachment;filename=a.txt ; ;", "a.txt"),
            ("attachment; filename*=utf-8'en'filename.jpg; filename=_.jpg", "filename.jpg"),
            (
                "attachment;filename*=utf-8''f3%5FJava8%2064%E4%BD%8D%2Eexe;filename=\"f3_Java8 64%E4%BD%8D.exe\"",
                "f3_Java8 64位.exe"
            ),
            (
                "attachment; filename=e267_Survey results. Leaf disposal, remove from site, burn.txt",
                "e267_Survey results. Leaf disposal, remove from site, burn.txt"
            ),
            ("attachment; filename=a, b.txt", "a, b.txt"), ("attachment; filename=\"a, b;c.txt\"", "a, b;c.txt"),
            ("attachment; filename='a.txt'", "'a.txt'"),
            ("inline; filename=6%2Fdokus%2F60.docx", "6%2Fdokus%2F60.docx"),
            ("attachment; x-filename=no.txt; filename=yes.txt; filename=no.txt", "yes.txt"),
        ])
    func fields(field: String, name: String) throws {
        let url = try #require(URL(string: "https://example.com/download/1318/"))
        #expect(SafeFileName.choose(disposition: field, url: url) == name)
    }

    @Test("a URL that ends with a slash gets the server's name, or else the name of its last folder")
    func folder() async throws {
        let folder = try Folder()
        let server = try TestServer()
        server.on("/foo/bar/", .data(bytes(10)).header("Content-Disposition", "attachment; filename=\"a.zip\""))
        server.on("/foo/baz/", .data(bytes(20)))
        for path in ["foo/bar/", "foo/baz/"] {
            try await agent(server).send(Get(folder.url, path: path))
        }
        #expect(folder.names.sorted() == ["a.zip", "baz"])
    }
}

@Suite("Parts other than the requested range", .leakChecked) struct OtherPartTests {
    private let folder: Folder
    private static let film = bytes(600_000)
    private var film: Data { Self.film }

    init() throws { folder = try Folder() }

    private func partial(_ range: Range<Int>, _ contentRange: String? = nil) -> TestResponse {
        TestResponse(status: 206, body: film[range]).header("ETag", "\"1\"").header(
            "Content-Range", contentRange ?? "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(film.count)")
    }

    private func download(
        segments: Int, _ twist: @escaping @Sendable (Int, RecordedRequest, TestResponse) -> TestResponse
    ) async throws -> [String?] {
        let origin = try Origin(film)
        origin.set { $0.twist = twist }
        let file = folder.file("film\(segments)")
        try await agent(origin.server, .system, quick(segments: segments)).send(Get(file))
        #expect(try Data(contentsOf: file) == film, "\(segments)")
        return origin.server.received.map(\.range)
    }

    @Test("a part that starts before the first missing byte isn't appended as if it started there")
    func earlier() async throws {
        for start in [0, 196_608, 249_999] {
            let ranges = try await download(segments: 1) { [self] number, request, response in
                if number == 1 { return response.truncated(to: 250_000) }
                return request.range == nil ? response : partial(start..<film.count)
            }
            #expect(ranges.count <= 4 && ranges.first == .some(nil))
        }
    }

    @Test(
        "a Content-Range in the form of a Range is ignored: a 200 is a whole file, and a 206 isn't used"
    )
    func requestForm() async throws {
        for segments in [1, 4] {
            _ = try await download(segments: segments) { [self] number, request, response in
                guard let range = request.range, let first = Int(range.dropFirst(6).prefix { $0 != "-" }) else {
                    let whole = response.header("Content-Range", "bytes=0-\(film.count - 1)/\(film.count)")
                    return number == 1 && segments == 1 ? whole.truncated(to: 250_000) : whole
                }
                return partial(first..<film.count, "bytes=\(first)-\(film.count - 1)/\(film.count)")
            }
        }
    }

    @Test("an error page in place of a part isn't written to the file", arguments: [403, 404, 500, 502, 503])
    func errorPage(status: Int) async throws {
        let page = String(repeating: "<p>Too many connections</p>", count: 4_000)
        let refused = Counter()
        _ = try? await download(segments: 4) { _, request, response in
            guard request.range?.hasPrefix("bytes=0-") == false, refused.increment() <= 2 else { return response }
            return TestResponse.text(page, status: status).header("Retry-After", "0")
        }
        if let whole = try? Data(contentsOf: folder.file("film4")) { #expect(whole == film) }
        for name in folder.names where name.hasSuffix(".part") {
            #expect(try Data(contentsOf: folder.file(name)).firstRange(of: Data("<p>Too".utf8)) == nil)
        }
    }

    @Test("if a server drops ranges with an entity tag and sends the whole, the file is right")
    func withoutConditions() async throws {
        for segments in [1, 4] {
            let ranges = try await download(segments: segments) { [self] number, request, response in
                if number == 1, segments == 1 { return response.truncated(to: 250_000) }
                return request.headers["If-Range"] == nil ? response : .data(film).header("ETag", "\"1\"")
            }
            #expect(ranges.count < 12)
        }
    }

    #if os(Linux)
    @Test(
        "the chunks determine the file, with any length announced next to them", arguments: [0, 5, 900_000, 600_000])
    func chunksAndLength(length: Int) async throws {
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                let size = String(Self.film.count, radix: 16)
                peer.send(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: \(length)\r\n\r\n\(size)\r\n")
                peer.send(Array(Self.film))
                peer.send("\r\n0\r\n\r\n")
            }
        }
        let agent = NetworkAgent(baseURL: server.url(""), transport: .system, filters: [.downloads(quick())])
        let file = folder.file("film")
        try await agent.send(Get(file))
        #expect(try Data(contentsOf: file) == film)
    }
    #endif
}
