import Errand
import ErrandResumableDownload
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Interruptions and names that other downloaders got wrong. Tests/Lessons.md has the reports.
@Suite("Interruptions and names that other downloaders got wrong", .endsInTime, .leakChecked)
struct DownloadReportTests {
    private let folder: Folder
    private let film = bytes(800_000)
    private let origin: Origin

    init() throws {
        folder = try Folder()
        origin = try Origin(film)
    }

    @Test("each of several interruptions continues where the last one ended", arguments: Wire.allCases, [true, false])
    func interruptions(wire: Wire, inOneStart: Bool) async throws {
        origin.set { $0.twist = { number, _, response in number < 4 ? response.truncated(to: 200_000) : response } }
        let seen = Mutex<[TransferStatus]>([])
        let watched = CallOptions.watching { status in seen.withLock { $0.append(status) } }
        let request = Get(folder.file("a")).with { $0.downloadOptions = quick(tries: inOneStart ? 5 : 1) }
        let agent = agent(origin.server, wire)
        for _ in 0..<4 {
            if await failure({ _ = try await agent.send(request, options: watched) }) == nil { break }
        }
        #expect(try folder.data("a") == film && folder.names == ["a"])
        #expect(origin.ranges == [nil, "bytes=200000-", "bytes=400000-", "bytes=600000-"])
        #expect(seen.withLock { $0.allSatisfy { $0.transferred <= 800_000 } })
    }

    @Test(
        "a download whose token has expired continues with the new one, in the same start or a later one",
        arguments: [true, false])
    func expiredToken(inOneStart: Bool) async throws {
        origin.set {
            $0.twist = { number, request, response in
                if number == 1 { return response.truncated(to: 300_000) }
                return request.headers["Authorization"] == "Bearer new" ? response : .text("expired", status: 401)
            }
        }
        let token = Mutex("old")
        @Sendable func authorized(_ exchange: Exchange) -> Exchange {
            var exchange = exchange
            exchange.http.headers.set(.authorization, "Bearer \(token.withLock { $0 })", sensitive: true)
            let fields = exchange.http.headers.filter { $0.name == .authorization }
            exchange.assign(to: UserMark("ada", source: "account"), carriedBy: Array(fields))
            return exchange
        }
        let session = ClosureFilter(.hop) { exchange, next in
            let response = try await next(authorized(exchange))
            guard response.status == 401, inOneStart else { return response }
            await exchange.discard(response)
            token.withLock { $0 = "new" }
            return try await next(authorized(exchange))
        }
        let request = Get(folder.file("a")).with { $0.downloadOptions = quick(tries: inOneStart ? 5 : 1) }
        let agent = NetworkAgent(
            baseURL: origin.server.url, transport: .system, filters: [.downloads(quick()), session])
        if !inOneStart {
            for _ in 0..<2 { #expect(await failure { try await agent.send(request) } != nil) }
            token.withLock { $0 = "new" }
        }
        try await agent.send(request)
        #expect(try folder.data("a") == film && folder.names == ["a"])
        #expect(origin.ranges == [nil, "bytes=300000-", "bytes=300000-"])
    }

    @Test("a page with the status 416 isn't appended to a file, complete or not", arguments: Wire.allCases, [1, 4])
    func rangePage(wire: Wire, segments: Int) async throws {
        let page = "<html><body><h1>416 Requested Range Not Satisfiable</h1></body></html>"
        origin.set {
            $0.twist = { number, request, response in
                if number == 1 { return segments == 1 ? response.truncated(to: 300_000) : response }
                guard request.range != nil, number < 4 else { return response }
                return .text(page, status: 416).header("Content-Type", "text/html")
            }
        }
        try await agent(origin.server, wire, quick(segments: segments)).send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && folder.names == ["a"])
    }

    @Test(
        "a download that fails leaves the file at its place as it was",
        arguments: [NameCollisionPolicy.number, .replace])
    func existing(policy: NameCollisionPolicy) async throws {
        let old = Data("old".utf8)
        try old.write(to: folder.file("a"))
        let responses: [TestResponse] = [
            .status(404), .text("page", status: 500), .data(film).truncated(to: 0), .data(film).truncated(to: 1000),
        ]
        for response in responses {
            origin.set { $0.twist = { _, _, _ in response } }
            let request = Get(folder.file("a")).with { $0.downloadOptions = quick(tries: 1, clash: policy) }
            #expect(await failure { try await agent(origin.server).send(request) } != nil)
            #expect(try folder.data("a") == old)
        }
    }

    @Test(
        "a refusal of the rest is the error, and the bytes on disk are continued later", arguments: Wire.allCases,
        [401, 403, 404, 429, 503])
    func refusedRest(wire: Wire, status: Int) async throws {
        origin.set {
            $0.twist = { number, request, response in
                number == 1 ? response.truncated(to: 300_000) : .text("<html>no</html>", status: status)
            }
        }
        let request = Get(folder.file("a")).with { $0.downloadOptions = quick(tries: 2) }
        let error = await failure { try await agent(origin.server, wire).send(request) }
        #expect("\(try #require(error))".contains("\(status)"), "\(String(describing: error))")
        #expect(!folder.names.contains("a"))
        origin.set { $0.twist = { _, _, response in response } }
        let before = origin.ranges.count
        try await agent(origin.server, wire).send(request)
        #expect(try folder.data("a") == film && folder.names == ["a"])
        #expect(Array(origin.ranges[before...]) == ["bytes=300000-"])
    }

    @Test("a cancelled download leaves only files that its app can list and remove")
    func discarded() async throws {
        let gate = Gate()
        origin.holdFirst(at: gate, after: 300_000)
        let handle = agent(origin.server).start(Get(folder.file("a")))
        try await eventually { handle.progress.received > 0 }
        handle.cancel()
        _ = await handle.result
        gate.open()
        let left = try ResumableDownloadFilter.partialDownloads(in: folder.url)
        #expect(left.count == 1 && folder.names.allSatisfy { $0.hasPrefix("errand-") })
        #expect(try ResumableDownloadFilter.removePartialDownloads(in: folder.url) == 1 && folder.names.isEmpty)
    }

    @Test("a name that is too long for a file is shortened before its extension, and so is a number after it")
    func longNames() async throws {
        let names = [String(repeating: "x", count: 400), String(repeating: "日本", count: 90), "x." + "y".padded(400)]
        for (index, name) in names.enumerated() {
            let own = try Folder()
            let escaped = name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? name
            origin.server.on("/\(index)", .data(film).header("Content-Disposition", "filename*=UTF-8''\(escaped).mp4"))
            origin.server.on("/\(escaped).mp4", .data(film))
            for path in ["\(index)", "\(index)", "\(escaped).mp4"] {
                let file = try await agent(origin.server).send(Get(own.url, path: path)).value
                #expect(try Data(contentsOf: file) == film && file.lastPathComponent.utf8.count <= 255)
                #expect(file.pathExtension == "mp4")
            }
            #expect(Set(own.names).count == 3)
        }
    }

    @Test("the progress of a compressed response grows with its bytes; a download counts decoded bytes without a total")
    func codedProgress() async throws {
        let (coded, agent) = (gzip(film), agent(origin.server))
        func hold() -> Gate {
            let gate = Gate()
            origin.set { resource in
                resource.twist = { _, _, _ in
                    .data(coded).header("Content-Encoding", "gzip").waiting(for: gate, afterBodyBytes: coded.count / 2)
                }
            }
            return gate
        }
        var gate = hold()
        let call = agent.start(Call<Data>(.get, "film.mp4"))
        try await eventually { (0.3...0.7).contains(call.progress.fraction ?? 0) }
        gate.open()
        _ = try await call.value
        gate = hold()
        let download = agent.start(Get(folder.file("a")))
        try await eventually { download.progress.received > 300_000 }
        #expect(download.progress.fraction == nil)
        gate.open()
        _ = try await download.value
        #expect(call.progress.fraction == 1 && download.progress.fraction == 1)
    }

    @Test("two downloads that end with the same name at the same time get two files", arguments: Wire.allCases)
    func sameName(wire: Wire) async throws {
        let (server, gate, other) = (try TestServer(), Gate(), bytes(400_000, seed: 2))
        for (path, body) in [("/one", film), ("/two", other)] {
            server.on(
                path,
                .data(body).header("Content-Disposition", "attachment; filename=\"film.mp4\"")
                    .waiting(for: gate, afterBodyBytes: 200_000))
        }
        let agent = agent(server, wire)
        let handles = ["one", "two"].map { agent.start(Get(folder.url, path: $0)) }
        try await eventually { handles.allSatisfy { $0.progress.received > 0 } }
        gate.open()
        for handle in handles { _ = try await handle.value }
        #expect(folder.names == ["film (2).mp4", "film.mp4"])
        let files = [try folder.data("film.mp4"), try folder.data("film (2).mp4")]
        #expect(files == [film, other] || files == [other, film])
    }

    @Test("a symbolic link isn't replaced, and the file it points to isn't overwritten", arguments: [true, false])
    func links(exists: Bool) async throws {
        let old = Data("old".utf8)
        if exists { try old.write(to: folder.file("target")) }
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("link").path, withDestinationPath: folder.file("target").path)
        let error = await failure { try await agent(origin.server).send(Get(folder.file("link"))) } as? TransferError
        #expect(error?.code == .notAFile && error?.message.contains("a symbolic link") == true)
        #expect(origin.ranges.isEmpty && folder.names == (exists ? ["link", "target"] : ["link"]))
        #expect(try !exists || folder.data("target") == old)
    }

    @Test("a part of unknown total doesn't give the download a total, and its progress never exceeds one")
    func unknownTotal() async throws {
        let film = film
        origin.set {
            $0.twist = { number, request, response in
                guard number > 1, let first = request.range.flatMap({ Int($0.dropFirst(6).prefix { $0 != "-" }) })
                else { return response.chunked().truncated(to: 300_000) }
                guard first < film.count else {
                    return .status(416).header("Content-Range", "bytes */800000").header("ETag", "\"1\"")
                }
                return TestResponse(status: 206, body: film[first...])
                    .header("Content-Range", "bytes \(first)-\(film.count - 1)/*").header("ETag", "\"1\"")
            }
        }
        let seen = Mutex<[TransferStatus]>([])
        let watched = CallOptions.watching { status in seen.withLock { $0.append(status) } }
        try await agent(origin.server).send(Get(folder.file("a")), options: watched)
        #expect(try folder.data("a") == film && folder.names == ["a"])
        let totals = seen.withLock { $0.compactMap(\.total) }
        #expect(totals.allSatisfy { $0 == 800_000 })
        #expect(seen.withLock { $0.allSatisfy { $0.fraction ?? 0 <= 1 } })
    }

    @Test("unfinished bytes are next to the destination, so the finished file is renamed within one file system")
    func nextToDestination() async throws {
        let gate = Gate()
        origin.holdFirst(at: gate, after: 300_000)
        let handle = agent(origin.server).start(Get(folder.file("a")))
        try await eventually { handle.progress.received > 0 }
        let names = folder.names
        #expect(names.count == 2 && names.allSatisfy { $0.hasPrefix("errand-") })
        gate.open()
        _ = try await handle.value
        #expect(try folder.data("a") == film && folder.names == ["a"])
    }

    #if os(Linux)
    @Test("a name whose bytes are UTF-8, although a field should have ASCII only, isn't read as another charset")
    func plainUTF8() async throws {
        let name = "(日本語まとめ) 佐々木仁子 総まとめN5 かんじ・ことば・ぶんぽう・読む・聞く.zip"
        let server = try RawServer { peer in
            while peer.readHead() != nil {
                peer.send(
                    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Disposition: attachment; filename=\"\(name)\"\r\n\r\nok"
                )
            }
        }
        let agent = NetworkAgent(baseURL: server.url(""), transport: .system, filters: [.downloads(quick())])
        let file = try await agent.send(Get(folder.url)).value
        #expect(file.lastPathComponent == name && folder.names == [name])
    }
    #endif

    @Test(
        "a part in a content coding isn't appended, whatever range it names, and a part in `identity` is",
        arguments: Wire.allCases, ["gzip", "identity", "Identity, identity"])
    func codedPart(wire: Wire, coding: String) async throws {
        let film = film
        origin.set {
            $0.twist = { number, request, response in
                if number == 1 { return response.truncated(to: 250_000) }
                guard request.range != nil else { return response }
                if coding != "gzip" { return response.header("Content-Encoding", coding) }
                let coded = gzip(film[250_000...])
                return TestResponse(status: 206, body: coded).header("ETag", "\"1\"").header("Content-Encoding", "gzip")
                    .header("Content-Range", "bytes 250000-\(250_000 + coded.count - 1)/\(film.count)")
            }
        }
        try await agent(origin.server, wire).send(Get(folder.file("film")))
        #expect(try folder.data("film") == film && folder.names == ["film"])
        // A part in `identity` is the file's own bytes, so nothing is fetched twice.
        if coding != "gzip", wire == .system { #expect(origin.ranges == [nil, "bytes=250000-"]) }
    }

    @Test("a redirect's Content-Disposition doesn't name the file; the last response or its URL does")
    func redirectedName() async throws {
        let server = try TestServer()
        let named = "attachment; filename=\"report.pdf\""
        server.on("/named", .redirect(to: "/blob/7f3a").header("Content-Disposition", named))
        server.on("/blob/7f3a", .data(bytes(10)))
        server.on("/plain", .redirect(to: "/blob/named"))
        server.on("/blob/named", .data(bytes(20)).header("Content-Disposition", named))
        for path in ["named", "plain"] { try await agent(server).send(Get(folder.url, path: path)) }
        #expect(folder.names.sorted() == ["7f3a", "report.pdf"])
    }
}

extension String {
    fileprivate func padded(_ count: Int) -> String { String(repeating: self, count: count) }
}
