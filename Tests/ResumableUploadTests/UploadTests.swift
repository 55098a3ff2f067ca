import Errand
import ErrandResumableUpload
import ErrandTesting
import Foundation
import Synchronization
import Testing

let kinds: [UploadOrigin.Kind] = [.draft(8), .draft(6), .tus]

@Suite("Uploads", .leakChecked) struct UploadTests {
    private let folder: Folder
    private let film = bytes(700_000)

    init() throws {
        folder = try Folder()
        try film.write(to: folder.file("film.mp4"))
    }

    private func bodies(of origin: UploadOrigin) -> [Data] { origin.snapshot.bodies.map { Data($0) } }

    @Test("a body of each kind arrives once, unchanged", arguments: kinds)
    func whole(kind: UploadOrigin.Kind) async throws {
        for body in [.file(folder.file("film.mp4")), .data(film), .stream { [film] in HTTPBody(film) }] as [RequestBody]
        {
            if kind == .tus, body.length == nil, body.data == nil, !body.opensAtOffset { continue }
            let origin = try UploadOrigin(kind)
            let response = try await agent(origin).send(Send(body)).value
            #expect(bodies(of: origin) == [film] && (200...299).contains(response.status))
        }
    }

    @Test("the response that ends the upload is the output, and with tus it names the upload")
    func output() async throws {
        let draft = try UploadOrigin(.draft(8))
        let first = try await agent(draft).send(Send(.data(film))).value
        #expect(first.status == 201 && String(decoding: first.data, as: UTF8.self) == "stored")
        let tus = try UploadOrigin(.tus)
        let second = try await agent(tus).send(Send(.data(film)).with { $0.uploadMetadata = ["filename": "a"] }).value
        #expect(second.location?.path() == "/files/1")
        #expect(tus.snapshot.uploads["1"]?.metadata == "filename YQ==")
    }

    @Test(
        "a server without a resumable protocol gets one ordinary request, and the notice reports that",
        arguments: [true, false])
    func ordinary(asks: Bool) async throws {
        let origin = try UploadOrigin(.ordinary)
        let upload = agent(origin, quick(asks ? .automatic : .draft8)).upload(Send(.file(folder.file("film.mp4"))))
        #expect(try await notices(of: upload) == [.ordinary])
        #expect(origin.snapshot.log == (asks ? ["OPTIONS", "POST"] : ["POST"]) && bodies(of: origin) == [film])
    }

    @Test("an empty file is an upload too", arguments: kinds + [.ordinary])
    func empty(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        _ = try await agent(origin).send(Send(.data(Data())))
        #expect(bodies(of: origin) == [Data()])
    }

    @Test("an interrupted upload continues after the bytes that the server has", arguments: kinds)
    func interrupted(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        let first = kind.firstRequest
        origin.set {
            $0.fault = { number, _ in number == first ? .cut(300_000) : number == first + 2 ? .cut(100_000) : nil }
        }
        let upload = agent(origin).upload(Send(.file(folder.file("film.mp4"))))
        let names = try await notices(of: upload).map(\.name)
        #expect(names == ["retrying", "continuing", "retrying", "continuing"])
        #expect(bodies(of: origin) == [film])
        let begin = kind == .tus ? ["OPTIONS", "POST", "PATCH 0"] : ["OPTIONS", "POST"]
        #expect(origin.snapshot.log == begin + ["HEAD", "PATCH 300000", "HEAD", "PATCH 400000"])
    }

    @Test("a body that can't be opened at an offset starts over, and reports that")
    func unseekable() async throws {
        let origin = try UploadOrigin(.draft(8))
        origin.set { $0.fault = { number, _ in number == 2 ? .cut(300_000) : nil } }
        let upload = agent(origin).upload(Send(.stream(length: 700_000) { [film] in HTTPBody(film) }))
        #expect(try await notices(of: upload).map(\.name) == ["retrying", "continuing", "restarting"])
        #expect(bodies(of: origin) == [film])
    }

    @Test("a body that can be read only once fails with the first attempt's error", arguments: kinds)
    func once(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        origin.set { $0.fault = { _, request in request.method == .options ? nil : .cut(300_000) } }
        let body = RequestBody.stream(HTTPBody(length: 700_000, source: Once(film)))
        let error = await failure { _ = try await agent(origin).send(Send(body)) }
        #expect((error as? ErrandError)?.isRetryable == true)
        #expect(bodies(of: origin).isEmpty)
    }

    @Test("a source that ends before the announced length fails the upload after a few requests", arguments: kinds)
    func shortSource(kind: UploadOrigin.Kind) async throws {
        let short = film.prefix(400_000)
        let shortBodies: [RequestBody] = [
            .stream(length: 700_000) { HTTPBody(source: Once(short)) },
            .stream(HTTPBody(length: 700_000, source: Once(short))),
        ]
        for body in shortBodies {
            let origin = try UploadOrigin(kind)
            let error = await failure { _ = try await agent(origin).send(Send(body)) }
            #expect(error != nil && bodies(of: origin).isEmpty)
            #expect(origin.snapshot.log.count < 20, "\(origin.snapshot.log)")
        }
    }

    private final class Once: HTTPBodySource {
        private let data: Mutex<Data?>
        init(_ data: Data) { self.data = Mutex(data) }
        func nextChunk() async throws -> Data? { data.withLock { $0.take() } }
        func cancel() {}
    }

    @Test("requests don't exceed the size that the app allows or the server accepts", arguments: kinds, [true, false])
    func parts(kind: UploadOrigin.Kind, byServer: Bool) async throws {
        let origin = try UploadOrigin(kind)
        if byServer, kind == .tus { return }
        if byServer { origin.set { $0.limits = "max-append-size=200000" } }
        let options = quick(part: byServer ? nil : 200_000, digest: true)
        _ = try await agent(origin, options).send(Send(.file(folder.file("film.mp4"))))
        #expect(bodies(of: origin) == [film])
        #expect(origin.snapshot.log == ["OPTIONS", "POST", "PATCH 200000", "PATCH 400000", "PATCH 600000"])
    }

    @Test("a short body is sent with the creating request, completely only if that can be repeated")
    func short() async throws {
        let key: HTTPHeaders = [.idempotencyKey: "k"]
        for (extensions, headers, log) in [
            ("creation,creation-with-upload", key, ["OPTIONS", "POST"]),
            ("creation,creation-with-upload", [:], ["OPTIONS", "POST", "PATCH 999"]),
            ("creation", key, ["OPTIONS", "POST", "PATCH 0"]),
        ] {
            let origin = try UploadOrigin(.tus)
            origin.set { $0.extensions = extensions }
            _ = try await agent(origin).send(Send(.data(bytes(1000))).with { $0.headers = headers })
            #expect(origin.snapshot.log == log && bodies(of: origin) == [bytes(1000)])
        }
    }

    @Test("a draft server without 104 names the upload in its response to an empty creating request")
    func withoutInterim() async throws {
        let origin = try UploadOrigin(.draft(8))
        origin.set {
            $0.fault = { number, _ in number == 2 ? .cutSilently(300_000) : number == 4 ? .cut(100_000) : nil }
        }
        _ = try await agent(origin).send(Send(.file(folder.file("film.mp4"))))
        #expect(origin.snapshot.log == ["OPTIONS", "POST", "POST", "PATCH 0", "HEAD", "PATCH 100000"])
        #expect(bodies(of: origin) == [film])
    }

    @Test("a body above the server's limit isn't sent")
    func tooLarge() async throws {
        let origin = try UploadOrigin(.draft(8))
        origin.set { $0.limits = "max-size=699999" }
        let error = await failure { _ = try await agent(origin).send(Send(.data(film))) }
        #expect((error as? TransferError)?.code == .tooLarge && origin.snapshot.log == ["OPTIONS"])
        #expect((error as? TransferError)?.request != nil)
    }

    @Test("the digest of the whole body is sent with the creation, and with tus a digest of each part")
    func digests() async throws {
        let seen = Mutex<[String]>([])
        for kind in [UploadOrigin.Kind.draft(8), .tus] {
            let origin = try UploadOrigin(kind)
            origin.set {
                $0.fault = { _, request in
                    let found = request.headers["Repr-Digest"] ?? request.headers["Upload-Checksum"]
                    if let found { seen.withLock { $0.append(String(found.prefix(7))) } }
                    return nil
                }
                $0.extensions = "creation,checksum"
            }
            _ = try await agent(origin, quick(digest: true)).send(Send(.data(film)))
            #expect(bodies(of: origin) == [film])
        }
        #expect(seen.withLock { $0 } == ["sha-256", "sha256 "])
    }

    @Test("a request with the protocol's own fields is refused, and so is an upload without a body")
    func invalid() async throws {
        let origin = try UploadOrigin(.draft(8))
        for send in [Send(.none), Send(.data(film)).with { $0.headers = ["Upload-Offset": "3"] }] {
            let error = await failure { _ = try await agent(origin).send(send) }
            #expect((error as? TransferError)?.code == .invalidRequest)
        }
        #expect(origin.snapshot.log.isEmpty)
    }

    @Test("the request's fields are sent with each request, except for fields that describe the body")
    func headers() async throws {
        let origin = try UploadOrigin(.draft(8))
        let seen = Mutex<[String]>([])
        origin.set {
            $0.fault = { number, request in
                let headers = request.headers
                seen.withLock {
                    $0.append(
                        "\(request.method) \(headers["X-User"] ?? "") \(headers[.contentType] ?? "")"
                            + " \(headers[.idempotencyKey] ?? "")")
                }
                return number == 2 ? .cut(1000) : nil
            }
        }
        let send = Send(.data(film, contentType: "video/mp4")).with {
            $0.headers = ["X-User": "7", .idempotencyKey: "k"]
        }
        _ = try await agent(origin).send(send)
        #expect(
            seen.withLock { $0 } == [
                "OPTIONS 7  ", "POST 7 video/mp4 k", "HEAD 7  ", "PATCH 7 application/partial-upload ",
            ])
    }

    @Test("requests that aren't uploads pass unchanged")
    func others() async throws {
        let origin = try UploadOrigin(.ordinary)
        let response = try await agent(origin).send(Call<HTTPResponse>(.post, "files", body: .data(film))).value
        #expect(response.status == 201 && origin.snapshot.log == ["POST"])
    }
}
