import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandResumableUpload

@Suite("Identity of uploads", .leakChecked) struct IdentityTests {
    private let folder: Folder
    private let records: URL
    private let film = bytes(600_000)
    private let other = bytes(600_000, seed: 2)

    init() throws {
        folder = try Folder()
        records = folder.file("records")
        for (name, data) in [("a", film), ("b", other)] {
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
            try data.write(to: folder.file("\(name)/film.mp4"))
        }
    }

    enum Kind: CaseIterable { case data, file, stream }

    /// Returns two bodies of the same length, in files of the same name.
    private func bodies(_ kind: Kind) -> (first: RequestBody, second: RequestBody) {
        func stream(_ data: Data) -> RequestBody {
            .stream(length: Int64(data.count)) { offset in HTTPBody(data.dropFirst(Int(offset))) }
        }
        return switch kind {
        case .data: (.data(film), .data(other))
        case .file: (.file(folder.file("a/film.mp4")), .file(folder.file("b/film.mp4")))
        case .stream: (stream(film), stream(other))
        }
    }

    private func agent(_ origin: UploadOrigin, tries: Int = 5) -> NetworkAgent {
        ErrandResumableUploadTests.agent(origin, quick(in: records, tries: tries))
    }

    private func leave(_ origin: UploadOrigin, _ send: Send) async {
        origin.set { $0.fault = { _, request in request.method == .options ? nil : .cut(250_000) } }
        _ = await failure { _ = try await agent(origin, tries: 1).send(send) }
        origin.set { ($0.fault, $0.log) = ({ _, _ in nil }, []) }
    }

    @Test("two bodies of the same length to the same URL are uploaded concurrently", arguments: Kind.allCases, kinds)
    func sideBySide(kind: Kind, server: UploadOrigin.Kind) async throws {
        let (origin, gate, isFirst) = (try UploadOrigin(server), Gate(), Counter())
        origin.set { state in
            state.fault = { _, request in
                request.method == .patch && isFirst.increment() == 1 ? .wait(gate) : nil
            }
        }
        let (first, second) = bodies(kind)
        let agent = agent(origin)
        let handle = agent.start(Send(first))
        try await eventually { origin.snapshot.bodies.count == 1 }
        _ = try await agent.send(Send(second))
        gate.open()
        _ = try await handle.value
        #expect(ErrandResumableUploadTests.bodies(of: origin) == [film, other])
    }

    @Test("an interrupted upload continues after another upload of the same length", arguments: Kind.allCases, kinds)
    func afterAnother(kind: Kind, server: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(server)
        let (first, second) = bodies(kind)
        await leave(origin, Send(first))
        _ = try await agent(origin).send(Send(second))
        #expect(!origin.snapshot.log.contains("DELETE") && !origin.snapshot.log.contains("HEAD"))
        origin.set { $0.log = [] }
        _ = try await agent(origin).send(Send(first))
        #expect(origin.snapshot.log == ["HEAD", "PATCH 250000"])
        #expect(ErrandResumableUploadTests.bodies(of: origin) == [other, film])
    }

    @Test(
        "the same bytes with other metadata are another upload",
        arguments: ["metadata", "type", "disposition"], kinds)
    func metadata(difference: String, kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        func send(_ name: String) -> Send {
            Send(.data(film)).with {
                switch difference {
                case "metadata": $0.uploadMetadata = ["filename": name]
                case "type": $0.headers["Content-Type"] = "image/\(name)"
                default: $0.headers["Content-Disposition"] = "attachment; filename=\(name)"
                }
            }
        }
        await leave(origin, send("a"))
        _ = try await agent(origin).send(send("b"))
        #expect(!origin.snapshot.log.contains("HEAD"))
        origin.set { $0.log = [] }
        _ = try await agent(origin).send(send("a"))
        #expect(origin.snapshot.log == ["HEAD", "PATCH 250000"])
    }

    @Test("bodies in memory that differ in any byte are never joined", arguments: kinds)
    func oneByte(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        await leave(origin, Send(.data(film)))
        var changed = film
        changed[300_000] ^= 1
        _ = try await agent(origin).send(Send(.data(changed)))
        #expect(ErrandResumableUploadTests.bodies(of: origin) == [changed])
    }

    @Test("an upload continues after the app and its records were moved together")
    func moved() async throws {
        let origin = try UploadOrigin(.draft(8))
        let (old, new) = (folder.file("old"), folder.file("new"))
        try FileManager.default.createDirectory(at: old, withIntermediateDirectories: true)
        try film.write(to: old.appending(path: "film.mp4"))
        func send(from place: URL, tries: Int) async throws {
            let agent = ErrandResumableUploadTests.agent(
                origin, quick(in: place.appending(path: "records/uploads"), tries: tries))
            _ = try await agent.send(Send(.file(place.appending(path: "film.mp4"))))
        }
        origin.set { $0.fault = { number, _ in number == 2 ? .cut(250_000) : nil } }
        #expect(await failure { try await send(from: old, tries: 1) } != nil)
        try FileManager.default.moveItem(at: old, to: new)
        origin.set { ($0.log, $0.fault) = ([], { _, _ in nil }) }
        try await send(from: new, tries: 1)
        #expect(origin.snapshot.log == ["HEAD", "PATCH 250000"])
        #expect(ErrandResumableUploadTests.bodies(of: origin) == [film])
    }

    @Test(
        "a keyed upload that began at one origin doesn't continue at another",
        arguments: kinds)
    func origins(kind: UploadOrigin.Kind) async throws {
        let (staging, production) = (try UploadOrigin(kind), try UploadOrigin(kind))
        let send = Send(.file(folder.file("a/film.mp4"))).with { $0.uploadKey = "film 7" }
        await leave(staging, send)
        _ = try await agent(production).send(send)
        #expect(staging.snapshot.log == [] && ErrandResumableUploadTests.bodies(of: production) == [film])
        _ = try await agent(staging).send(send)
        #expect(staging.snapshot.log == ["HEAD", "PATCH 250000"])
    }

    @Test("a key identifies the upload at one origin, with any URL")
    func signedAgain() async throws {
        let origin = try UploadOrigin(.draft(8))
        let send = Send(.file(folder.file("a/film.mp4"))).with { $0.uploadKey = "film 7" }
        await leave(origin, send.with { $0.path = "files?signature=1" })
        _ = try await agent(origin).send(send.with { $0.path = "files?signature=2" })
        #expect(origin.snapshot.log == ["HEAD", "PATCH 250000"])
    }

    @Test(
        "the relative path from a directory to a file is calculated",
        arguments: [
            ("/a/b/film", "/a/b", "film"), ("/a/film", "/a/b/c", "../../film"), ("/film", "/", "film"),
            ("/a/b/film", "/c", "../a/b/film"), ("/a/./b/../film", "/a//c/", "../film"), ("/../film", "/a", "../film"),
        ])
    func variants(path: String, directory: String, expected: String) {
        #expect(RelativePath.of(path, from: directory) == expected)
    }
}
