import Errand
import ErrandResumableUpload
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite("Responses to uploads that are lost or refused", .leakChecked) struct LostResponseTests {
    private let film = bytes(600_000)

    @Test(
        "a lost response to the creating request never creates two complete uploads", arguments: kinds,
        [0, 1, 2, 1000, 262_144, 262_145, 600_000])
    func creation(kind: UploadOrigin.Kind, count: Int) async throws {
        let (origin, body) = (try UploadOrigin(kind), film.prefix(count))
        origin.set { $0.fault = { number, _ in number == 2 ? .loseResponses : nil } }
        let error = await failure { _ = try await agent(origin).send(Send(.data(Data(body)))) }
        #expect(bodies(of: origin) == [Data(body)], "\(origin.snapshot.log)")
        #expect(origin.snapshot.uploads.values.count { $0.isComplete } == 1)
        // An empty upload is complete once tus has created it.
        #expect((error == nil) == (kind != .tus || count > 0), "\(String(describing: error))")
    }

    @Test("a request that can be received twice carries the whole body, and is sent again", arguments: kinds)
    func repeatable(kind: UploadOrigin.Kind) async throws {
        for (method, headers) in [(HTTPMethod.put, HTTPHeaders()), (.post, [.idempotencyKey: "k"])] {
            let (origin, body) = (try UploadOrigin(kind), bytes(1000))
            // tus begins each upload with a POST.
            if kind == .tus, method == .put { continue }
            _ = try await agent(origin).send(Send(.data(body)).with { ($0.method, $0.headers) = (method, headers) })
            #expect(origin.snapshot.log.count == 2 && bodies(of: origin) == [body])
        }
    }

    @Test("a body that can be read only from its start is also sent completely once", arguments: kinds, [nil, 600_000])
    func fromItsStart(kind: UploadOrigin.Kind, length: Int64?) async throws {
        // tus needs a length.
        if kind == .tus, length == nil { return }
        let origin = try UploadOrigin(kind)
        let film = film
        origin.set { $0.fault = { number, _ in number == 2 ? .loseResponses : nil } }
        let stream = length.map { RequestBody.stream(length: $0) { HTTPBody(film) } } ?? .stream { HTTPBody(film) }
        let error = await failure { _ = try await agent(origin).send(Send(stream)) }
        #expect(bodies(of: origin) == [film], "\(origin.snapshot.log)")
        // The draft can't query an upload without a URL.
        #expect((error == nil) == (kind == .tus))
    }

    @Test("a body of unknown length that was interrupted is sent again", arguments: [true, false])
    func cutBeforeItsEnd(isSilent: Bool) async throws {
        let origin = try UploadOrigin(.draft(8))
        // More than socket buffers hold, in pieces, so the body ends after the cut.
        let (piece, count) = (Data(count: 64 << 10), 512)
        origin.set { $0.fault = { number, _ in number == 2 ? isSilent ? .cutSilently(9000) : .cut(9000) : nil } }
        let body = RequestBody.stream {
            let pulled = Counter()
            return HTTPBody { pulled.increment() <= count ? piece : nil }
        }
        _ = try await agent(origin).send(Send(body))
        #expect(bodies(of: origin) == [Data(count: piece.count * count)])
    }

    @Test("a body that can be read only once is sent with one request", arguments: kinds)
    func once(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        _ = try await agent(origin).send(Send(.stream(HTTPBody(film))))
        #expect(bodies(of: origin) == [film])
    }

    @Test(
        "a server that refuses to report its offset gets the body again", arguments: kinds,
        [400, 403, 405, 422, 451, 501])
    func inquiryRefused(kind: UploadOrigin.Kind, status: Int) async throws {
        let (origin, folder) = (try UploadOrigin(kind), try Folder())
        origin.set { $0.fault = { number, _ in number == kind.firstRequest ? .cut(250_000) : nil } }
        #expect(
            await failure { _ = try await agent(origin, quick(in: folder.url, tries: 1)).send(Send(.data(film))) }
                != nil)
        origin.set { $0.fault = { _, request in request.method == .head ? .respond(status) : nil } }
        let upload = agent(origin, quick(in: folder.url, tries: 1)).upload(Send(.data(film)))
        #expect(try await notices(of: upload).map(\.name) == ["restarting"])
        #expect(bodies(of: origin) == [film] && folder.names.isEmpty)
    }

    @Test(
        "401, 423, 429 and 503 to the offset query keep the upload",
        arguments: [401, 423, 429, 503])
    func inquiryPostponed(status: Int) async throws {
        for kind in kinds {
            let (origin, folder) = (try UploadOrigin(kind), try Folder())
            origin.set { $0.fault = { number, _ in number == kind.firstRequest ? .cut(250_000) : nil } }
            _ = await failure { _ = try await agent(origin, quick(in: folder.url, tries: 1)).send(Send(.data(film))) }
            origin.set { $0.fault = { _, request in request.method == .head ? .respond(status) : nil } }
            let error = await failure {
                _ = try await agent(origin, quick(in: folder.url, tries: 1)).send(Send(.data(film)))
            }
            #expect((error as? ErrandError)?.response?.status == status && folder.names.count == 1)
            origin.set { ($0.fault, $0.log) = ({ _, _ in nil }, []) }
            _ = try await agent(origin, quick(in: folder.url)).send(Send(.data(film)))
            #expect(origin.snapshot.log == ["HEAD", "PATCH 250000"] && bodies(of: origin) == [film])
        }
    }

    @Test("a resumed upload ends with all bytes confirmed", arguments: kinds)
    func acknowledged(kind: UploadOrigin.Kind) async throws {
        let (origin, folder) = (try UploadOrigin(kind), try Folder())
        origin.set { $0.fault = { number, _ in number == kind.firstRequest ? .cut(250_000) : nil } }
        _ = await failure { _ = try await agent(origin, quick(in: folder.url, tries: 1)).send(Send(.data(film))) }
        let reports = Log<TransferStatus>()
        let options = CallOptions.watching { reports.add($0) }
        _ = try await agent(origin, quick(in: folder.url)).send(Send(.data(film)), options: options)
        let last = try #require(reports.all.last)
        #expect(last.state == .finished && last.acknowledged == 600_000 && last.transferred == 600_000)
        #expect(reports.all.contains { $0.acknowledged == 250_000 })
    }

    @Test("with the draft, the server confirms remaining bytes while they arrive")
    func confirmedMeanwhile() async throws {
        let (server, arrived, confirmed) = (try TestServer(), Counter(), Gate())
        server.on(.options, "/files") { _ in .status(204).header("Upload-Limit", "min-size=0") }
        server.on(
            .post, "/files",
            reading: .watched { _, piece in piece.isEmpty ? [.inform(104, ["Location": "/files/1"])] : [.reset] }
        ) { _ in .status(500) }
        server.on(.head, "/files/1") { _ in
            .status(204).header("Upload-Complete", "?0").header("Upload-Offset", "0")
        }
        server.on(
            .patch, "/files/1",
            reading: .watched { _, piece in
                if piece.isEmpty { return [] }
                return arrived.increment() == 1 ? [.inform(104, ["Upload-Offset": "\(piece.count)"])] : []
            }
        ) { _ in .status(201).header("Upload-Complete", "?1").waiting(for: confirmed) }
        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: [.uploads(quick())])
        let reports = Log<TransferStatus>()
        // The end would hide the confirmation from a reader that sees only the newest report.
        let options = CallOptions.watching {
            reports.add($0)
            if 1..<600_000 ~= $0.acknowledged { confirmed.open() }
        }
        _ = try await agent.send(Send(.data(film)), options: options)
        #expect(reports.all.contains { 1..<600_000 ~= $0.acknowledged })
        #expect(reports.all.last?.acknowledged == 600_000)
    }
}
