import Errand
import ErrandResumableUpload
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Returns a tus server that joins segments, and that doesn't accept bytes with the request that creates one.
func joiningOrigin() throws -> UploadOrigin {
    let origin = try UploadOrigin(.tus)
    origin.set { $0.extensions = "creation,expiration,checksum,termination,concatenation" }
    return origin
}

@Suite("Uploads in segments", .leakChecked) struct SegmentTests {
    private let folder: Folder
    private let film = bytes(800_003)

    init() throws {
        folder = try Folder()
        try film.write(to: folder.file("film.mp4"))
    }

    @Test("a body that can be opened at an offset is sent in segments, and joined", arguments: 0..<3)
    func whole(kind: Int) async throws {
        let body: RequestBody =
            switch kind {
            case 0: .file(folder.file("film.mp4"))
            case 1: .data(film)
            default: .stream(length: 800_003) { [film] offset in HTTPBody(film.dropFirst(Int(offset))) }
            }
        let origin = try joiningOrigin()
        let send = Send(body).with { $0.uploadMetadata = ["filename": "a"] }
        let response = try await agent(origin, quick(segments: 4)).send(send).value
        let state = origin.snapshot
        #expect(bodies(of: origin) == [film] && state.joined == ["filename YQ=="])
        #expect(response.status == 201 && response.location?.path() == "/files/5")
        #expect(state.log.first == "OPTIONS" && state.log.last == "POST" && state.log.count == 10)
        #expect(state.log.filter { $0 == "PATCH 0" }.count == 4)
        let lengths = (1...4).map { state.uploads["\($0)"]?.count ?? 0 }.sorted()
        #expect(lengths == [200_000, 200_001, 200_001, 200_001])
        #expect((1...4).allSatisfy { state.uploads["\($0)"]?.metadata == nil })
    }

    @Test("segments are sent concurrently, up to the limit")
    func sideBySide() async throws {
        let origin = try joiningOrigin()
        let gate = Gate()
        origin.set { $0.fault = { _, request in request.method == .patch ? .wait(gate) : nil } }
        let handle = agent(origin, quick(segments: 99)).start(Send(.data(film)))
        try await eventually { origin.snapshot.log.filter { $0 == "PATCH 0" }.count == 16 }
        gate.open()
        _ = try await handle.value
        #expect(bodies(of: origin) == [film])
    }

    @Test("all other bodies are sent over one connection, as without segments")
    func alone() async throws {
        func log(_ options: UploadOptions, _ body: RequestBody, _ change: (inout UploadOrigin.State) -> Void = { _ in })
            async throws -> [String]
        {
            let origin = try joiningOrigin()
            origin.set(change)
            _ = try await agent(origin, options).send(Send(body))
            #expect(bodies(of: origin) == [film] && origin.snapshot.joined.isEmpty)
            return origin.snapshot.log
        }
        let one = ["OPTIONS", "POST", "PATCH 0"]
        #expect(try await log(quick(), .data(film)) == one)
        #expect(try await log(quick(segments: 4), .data(film)) { $0.extensions = "creation,termination" } == one)
        #expect(try await log(quick(segments: 4, minimum: 400_002), .data(film)) == one)
        let stream = RequestBody.stream(length: 800_003) { [film] in HTTPBody(film) }
        #expect(try await log(quick(segments: 4), stream) == one)
        let draft = try UploadOrigin(.draft(8))
        _ = try await agent(draft, quick(segments: 4)).send(Send(.data(film)))
        #expect(bodies(of: draft) == [film] && draft.snapshot.log == ["OPTIONS", "POST", "PATCH 800002"])
    }

    @Test("the maximum request size and checksums apply to each segment's requests")
    func parts() async throws {
        let origin = try joiningOrigin()
        let sums = Counter()
        origin.set {
            $0.extensions = "creation,concatenation,checksum"
            $0.fault = { _, request in
                if request.headers.contains("Upload-Checksum") { sums.increment() }
                return nil
            }
        }
        let options = quick(part: 150_000, segments: 2, digest: true)
        _ = try await agent(origin, options).send(Send(.file(folder.file("film.mp4"))))
        #expect(bodies(of: origin) == [film] && sums.value == 6)
        let patches = origin.snapshot.log.filter { $0.hasPrefix("PATCH") }.sorted()
        #expect(patches == ["PATCH 0", "PATCH 0", "PATCH 150000", "PATCH 150000", "PATCH 300000", "PATCH 300000"])
    }

    @Test("short segments are sent with their creating requests")
    func short() async throws {
        let origin = try joiningOrigin()
        origin.set { $0.extensions += ",creation-with-upload" }
        _ = try await agent(origin, quick(segments: 3)).send(Send(.data(bytes(1000))))
        #expect(bodies(of: origin) == [bytes(1000)])
        #expect(origin.snapshot.log == ["OPTIONS", "POST", "POST", "POST", "POST"])
    }

    @Test("the server's limit applies to the whole body")
    func tooLarge() async throws {
        let origin = try joiningOrigin()
        origin.set { $0.limits = "800002" }
        let error = await failure { _ = try await agent(origin, quick(segments: 4)).send(Send(.data(film))) }
        #expect((error as? TransferError)?.code == .tooLarge && origin.snapshot.log == ["OPTIONS"])
    }

    @Test("an idempotency key is sent only with the joining request")
    func headers() async throws {
        let origin = try joiningOrigin()
        let seen = Mutex<[String]>([])
        origin.set {
            $0.fault = { _, request in
                let fields = request.headers
                let joins = UploadOrigin.joins(request) ? "joins" : "\(request.method)"
                seen.withLock { $0.append("\(joins) \(fields["X-User"] ?? "") \(fields[.idempotencyKey] ?? "")") }
                return nil
            }
        }
        let send = Send(.data(film)).with { $0.headers = ["X-User": "7", .idempotencyKey: "k"] }
        _ = try await agent(origin, quick(segments: 2)).send(send)
        #expect(
            seen.withLock { $0.sorted() } == [
                "OPTIONS 7 ", "PATCH 7 ", "PATCH 7 ", "POST 7 ", "POST 7 ", "joins 7 k",
            ])
    }

    @Test("the progress of all segments is added up, and decreases only with a new transfer", arguments: 0..<6)
    func progress(seed: Int) async throws {
        let origin = try joiningOrigin()
        let random = Mutex(SeededGenerator(seed: UInt64(seed) + 1))
        origin.set {
            $0.fault = { number, request in
                guard request.method == .patch, number < 20 else { return nil }
                return .cut(random.withLock { Int.random(in: 1..<150_000, using: &$0) })
            }
        }
        let reported = Mutex<[TransferProgress]>([])
        let options = CallOptions(progress: { progress in reported.withLock { $0.append(progress) } })
        var all: [TransferStatus] = []
        for try await event in agent(origin, quick(segments: 4)).upload(Send(.data(film)), options: options) {
            if case .progress(let progress) = event { all.append(progress) }
        }
        let last = try #require(all.last)
        #expect(last.transferred == 800_003 && last.acknowledged == 800_003 && last.state == .finished)
        #expect(
            all.allSatisfy {
                0...$0.transferred ~= $0.acknowledged && $0.transferred <= 800_003 && ($0.total ?? 800_003) == 800_003
            })
        let transfers = reported.withLock { $0 }
        #expect(transfers.last?.sent == 800_003)
        for (a, b) in zip(transfers, transfers.dropFirst()) {
            #expect(a.transfer <= b.transfer && (a.transfer < b.transfer || a.sent <= b.sent))
        }
        #expect(bodies(of: origin) == [film])
    }

    @Test("a pause closes all connections, and then each segment continues")
    func pause() async throws {
        let origin = try joiningOrigin()
        let stalls = Counter()
        origin.set {
            $0.fault = { _, request in
                guard request.method == .patch, stalls.value < 4 else { return nil }
                stalls.increment()
                return .cut(100_000, .stall)
            }
        }
        let upload = agent(origin, quick(segments: 4)).upload(Send(.data(film)))
        try await eventually { origin.snapshot.stalls == 4 }
        upload.pause()
        try await origin.server.waitUntilNoConnections()
        #expect(bodies(of: origin).isEmpty)
        upload.resume()
        _ = try await upload.response
        #expect(bodies(of: origin) == [film])
        #expect(origin.snapshot.log.filter { $0 == "PATCH 100000" }.count == 4 && origin.snapshot.misplaced == 0)
    }
}
