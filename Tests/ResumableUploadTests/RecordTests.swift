import Errand
import ErrandDigests
import ErrandSupport
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandResumableUpload

@Suite("Files of an upload", .leakChecked) struct RecordTests {
    private let folder: Folder
    private let records: URL
    private let film = bytes(600_000)

    init() throws {
        folder = try Folder()
        records = folder.file("records/uploads")
        try film.write(to: folder.file("film.mp4"))
    }

    private var send: Send { Send(.file(folder.file("film.mp4"))) }

    private func agent(_ origin: UploadOrigin, tries: Int = 5) -> NetworkAgent {
        ErrandResumableUploadTests.agent(origin, quick(in: records, tries: tries))
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: records.path)) ?? [] }

    private func leave(_ origin: UploadOrigin, _ count: Int = 250_000, _ send: Send? = nil) async {
        origin.set { $0.fault = { _, request in request.method == .options ? nil : .cut(count) } }
        _ = await failure { _ = try await agent(origin, tries: 1).send(send ?? self.send) }
        origin.set {
            $0.fault = { _, _ in nil }
            $0.log = []
        }
    }

    @Test("a later start continues after the first start, and leaves no files at the end", arguments: kinds)
    func resumed(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        await leave(origin)
        let pending = try ResumableUploadFilter.pendingUploads(in: records)
        #expect(pending.count == 1 && pending.first?.name == "film.mp4" && pending.first?.total == 600_000)
        #expect(pending.first?.isActive == false && pending.first?.url == origin.url + "/files")
        let upload = agent(origin).upload(send)
        #expect(try await notices(of: upload) == [.continuing(at: 250_000)])
        #expect(origin.snapshot.log == ["HEAD", "PATCH 250000"])
        #expect(origin.snapshot.bodies.map { Data($0) } == [film] && names.isEmpty)
    }

    @Test("a records directory without permission, and a file that is gone, aren't retried")
    func lastingFailures() async throws {
        let origin = try UploadOrigin(.draft(8))
        let agent = ErrandResumableUploadTests.agent(origin, quick(in: URL(filePath: "/sys/errand"), tries: 5))
        let error = await failure { _ = try await agent.send(send) } as? TransferError
        #expect(error?.code == .noPermission && error?.isRetryable == false, "\(String(describing: error))")
        #expect(error?.message.contains("/sys/errand") == true)
        let body = try UploadBody(.file(folder.file("film.mp4")))
        try FileManager.default.removeItem(at: folder.file("film.mp4"))
        let missing = #expect(throws: TransferError.self) { try body.check() }
        #expect(missing?.code == .notAFile && missing?.isRetryable == false)
    }

    #if canImport(Glibc)
    @Test("if the disk is full, writing a record throws noSpace, which isn't retried")
    func fullDisk() async {
        // In a separate process, whose file size limit simulates a full disk.
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let folder = try Folder()
            let file = try UploadRecordFile("a", in: folder.path("records"))
            var limit = rlimit()
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
            getrlimit(resource, &limit)
            limit.rlim_cur = 10
            setrlimit(resource, &limit)
            let record = UploadRecord(
                request: "r", user: nil, url: "u", name: nil,
                source: SourceFingerprint(size: 1, modified: nil, digest: "d"),
                server: UploadServer(.draft8))
            let error = #expect(throws: TransferError.self) { try file.write(record) }
            #expect(error?.code == .noSpace && error?.isRetryable == false)
        }
    }
    #endif

    @Test("an upload that is interrupted again and again stays the one that the first start created", arguments: kinds)
    func interruptedAgain(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        for _ in 0..<3 { await leave(origin, 150_000) }
        #expect(try ResumableUploadFilter.pendingUploads(in: records).count == 1)
        _ = try await agent(origin).send(send)
        #expect(origin.snapshot.log == ["HEAD", "PATCH 450000"])
        #expect(origin.snapshot.uploads.count == 1 && bodies(of: origin) == [film] && names.isEmpty)
    }

    @Test("a proxy that refuses each part as too large ends the upload with its response", arguments: kinds)
    func tooLargeForProxy(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        await leave(origin)
        origin.set { $0.fault = { _, request in request.method == .patch ? .respond(413) : nil } }
        let error = await failure { _ = try await agent(origin).send(send) }
        #expect((error as? ErrandError)?.response?.status == 413 && origin.snapshot.log.count <= 4)
        origin.set { $0.fault = { _, _ in nil } }
        _ = try await agent(origin).send(send)
        #expect(bodies(of: origin) == [film])
    }

    @Test("a later start reports progress from the end of the first start", arguments: kinds)
    func progress(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        await leave(origin)
        let found = Mutex<[TransferStatus]>([])
        var options = CallOptions()
        options.tags[TransferCall.self] = TransferCall { report in
            if case .progress(let status) = report { found.withLock { $0.append(status) } }
        }
        _ = try await agent(origin).send(send, options: options)
        let statuses = found.withLock { $0 }
        #expect(statuses.allSatisfy { $0.transferred >= 250_000 && $0.total == 600_000 }, "\(statuses)")
    }

    @Test(
        "a start after a failure can use the record, even if the transport still holds the body", arguments: kinds)
    func held(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        let transport = Keeping()
        let agent = NetworkAgent(
            baseURL: origin.url, transport: transport, filters: [.uploads(quick(in: records, tries: 1))])
        origin.set { $0.fault = { _, request in request.method == .options ? nil : .cut(250_000) } }
        #expect(await failure { _ = try await agent.send(send) } != nil)
        origin.set { $0.fault = { _, _ in nil } }
        _ = try await agent.send(send)
        #expect(transport.kept.count > 0 && bodies(of: origin) == [film] && names.isEmpty)
    }

    @Test("a changed file starts over, and the server's bytes are discarded", arguments: kinds)
    func changed(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        await leave(origin)
        var other = film
        other[300_000] ^= 1
        try other.write(to: folder.file("film.mp4"))
        let upload = agent(origin).upload(send)
        #expect(try await notices(of: upload).map(\.name) == ["restarting"])
        #expect(origin.snapshot.bodies.map { Data($0) } == [other])
        #expect(origin.snapshot.log.first == "DELETE" && origin.snapshot.uploads["1"] == nil)
    }

    @Test("an upload that the server has reported as forgotten isn't requested again")
    func expired() async throws {
        let origin = try UploadOrigin(.tus)
        origin.set { $0.expires = "Sun, 06 Nov 1994 08:49:37 GMT" }
        await leave(origin)
        #expect(try ResumableUploadFilter.pendingUploads(in: records).first?.expiry != nil)
        _ = try await agent(origin).send(send)
        #expect(origin.snapshot.log == ["OPTIONS", "POST", "PATCH 0"])
    }

    @Test("a damaged record isn't trusted", arguments: 0..<24)
    func damaged(seed: Int) async throws {
        let origin = try UploadOrigin(.draft(8))
        await leave(origin)
        let path = records.appending(path: try #require(names.first))
        var record = try Data(contentsOf: path)
        var random = SeededGenerator(seed: UInt64(seed) + 1)
        switch seed % 3 {
        case 0: record = record.prefix(Int.random(in: 0..<record.count, using: &random))
        case 1: record = Data((0..<40_000).map { _ in UInt8.random(in: 0...255, using: &random) })
        default:
            for _ in 0..<50 { record[Int.random(in: 0..<record.count, using: &random)] ^= 0x55 }
        }
        try record.write(to: path)
        _ = try await agent(origin).send(send)
        #expect(origin.snapshot.bodies.map { Data($0) } == [film] && names.isEmpty)
    }

    @Test("a record with the last possible sequence number is treated as damaged")
    func lastSequence() async throws {
        let origin = try UploadOrigin(.draft(8))
        await leave(origin)
        let name = try #require(names.first)
        let found = try UploadRecordFile(#require(UploadRecordFile.id(of: name)), in: records.path).found
        let payload = try JSONEncoder().encode(#require(found))
        let slot = try #require(RecordSlot.bytes(payload, sequence: .max, magic: UploadRecord.magic))
        try (Data(count: RecordSlot.size) + slot).write(to: records.appending(path: name))
        _ = try await agent(origin).send(send)
        #expect(origin.snapshot.bodies.map { Data($0) } == [film] && names.isEmpty)
    }

    @Test("an upload that the server rejects leaves no file", arguments: kinds)
    func refused(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        origin.set { $0.fault = { _, request in request.method == .options ? nil : .respond(403) } }
        #expect(await failure { _ = try await agent(origin).send(send) } != nil)
        #expect(names.isEmpty)
    }

    @Test("a record of another request, or with a location of another scheme than http, isn't used")
    func foreign() async throws {
        let origin = try UploadOrigin(.draft(8))
        for change in [
            { (record: inout UploadRecord) in record.request = "another" },
            { (record: inout UploadRecord) in
                record.resource = URL(string: "file:///etc/passwd").map { UploadResource(url: $0) }
            },
            { (record: inout UploadRecord) in record.resource = nil },
        ] {
            await leave(origin)
            let id = try #require(names.first.flatMap(UploadRecordFile.id))
            let file = try UploadRecordFile(id, in: records.path)
            var record = try #require(file.found)
            change(&record)
            try file.write(record)
            _ = consume file
            _ = try await agent(origin).send(send)
            #expect(origin.snapshot.log.contains("POST"))
        }
    }

    @Test("the same upload runs once at a time, and different uploads run concurrently")
    func busy() async throws {
        let origin = try UploadOrigin(.draft(8))
        let gate = Gate()
        origin.set { $0.fault = { _, request in request.method == .patch ? .wait(gate) : nil } }
        let (agent, send) = (agent(origin), send)
        let first = agent.start(send)
        try await eventually { !origin.snapshot.bodies.isEmpty }
        #expect(try ResumableUploadFilter.pendingUploads(in: records).first?.isActive == true)
        let error = await failure { _ = try await agent.send(send) }
        #expect((error as? TransferError)?.code == .busy)
        gate.open()
        _ = try await first.value
        let other = agent.start(send.with { $0.uploadKey = "another" })
        _ = try await other.value
        #expect(origin.snapshot.bodies.count == 2)
    }

    @Test("no secret of the request is on the disk, and only the owner can read the files")
    func secrets() async throws {
        let origin = try UploadOrigin(.draft(8))
        let send = send.with {
            $0.path = "files?signature=hidden"
            $0.headers = [.authorization: "Bearer hidden"]
        }
        await leave(origin, 1000, send)
        let path = records.appending(path: try #require(names.first)).path
        #expect(!String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self).contains("hidden"))
        #expect(try FileStatus(at: path).permissions == 0o600 && FileStatus(at: records.path).permissions == 0o700)
    }

    @Test("a pending upload can be removed, and then begins again")
    func removed() async throws {
        let origin = try UploadOrigin(.tus)
        await leave(origin)
        try #require(ResumableUploadFilter.pendingUploads(in: records).first).remove()
        _ = try await agent(origin).send(send)
        #expect(names.isEmpty && origin.snapshot.log.first == "OPTIONS")
        #expect(throws: TransferError.self) { try ResumableUploadFilter.pendingUploads(in: folder.file("none")) }
    }

    @Test("a file that is modified during the upload never arrives completely", arguments: kinds)
    func changedMeanwhile(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        let path = folder.file("film.mp4")
        let other = bytes(500_000, seed: 3)
        origin.set {
            $0.extensions = "creation,termination"
            $0.fault = { number, request in
                let isBody = kind == .tus ? request.method == .patch : request.method == .post
                if isBody, number < 4 {
                    try? other.write(to: path, options: .atomic)
                    return .cut(100_000)
                }
                return nil
            }
        }
        _ = try await agent(origin).send(send)
        #expect(origin.snapshot.bodies.map { Data($0) } == [other])
    }
}

/// Keeps its options, as a transport does whose event loop is still finishing a request.
private struct Keeping: Transport {
    let base: any Transport = .system
    let kept = Log<TransportOptions>()

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        kept.add(options)
        return try await base.send(request, options: options)
    }
}
