import Errand
import ErrandResumableUpload
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("Progress, pause and cancellation of uploads", .leakChecked) struct ControlTests {
    private let film = bytes(800_000)

    @Test("progress ends with all bytes confirmed, and reports the bytes that a broken request lost", arguments: kinds)
    func progress(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        origin.set { $0.fault = { number, _ in number == kind.firstRequest ? .cut(300_000) : nil } }
        let reported = Mutex<[TransferProgress]>([])
        let options = CallOptions(progress: { progress in reported.withLock { $0.append(progress) } })
        var all: [TransferStatus] = []
        var isOver = false
        for try await event in agent(origin).upload(Send(.data(film)), options: options) {
            #expect(!isOver)
            switch event {
            case .progress(let progress): all.append(progress)
            case .finished: isOver = true
            default: break
            }
        }
        let last = try #require(all.last)
        #expect(isOver && last.transferred == 800_000 && last.state == .finished && last.fraction == 1)
        #expect(
            all.allSatisfy {
                $0.acknowledged <= $0.transferred && $0.transferred <= 800_000 && ($0.total ?? 800_000) == 800_000
            })
        #expect(all.contains { $0.acknowledged == 300_000 })
        let transfers = reported.withLock { $0 }
        #expect(transfers.last?.sent == 800_000)
        for (a, b) in zip(transfers, transfers.dropFirst()) where a.transfer == b.transfer { #expect(a.sent <= b.sent) }
    }

    @Test("a later start begins its progress with the server's bytes")
    func progressOfTheRest() async throws {
        let (origin, folder) = (try UploadOrigin(.draft(8)), try Folder())
        origin.set { $0.fault = { number, _ in number == 2 ? .cut(500_000) : nil } }
        _ = await failure {
            _ = try await agent(origin, quick(in: folder.url, tries: 1)).send(Send(.data(film)))
        }
        let sending = Mutex<[TransferStatus]>([])
        let options = CallOptions.watching { progress in
            sending.withLock { if progress.state == .sending { $0.append(progress) } }
        }
        _ = try await agent(origin, quick(in: folder.url)).send(Send(.data(film)), options: options)
        #expect(sending.withLock { $0.first?.transferred } ?? 0 >= 500_000)
    }

    @Test("a paused upload closes its connection, and continues after the bytes that the server has", arguments: kinds)
    func pause(kind: UploadOrigin.Kind) async throws {
        let origin = try UploadOrigin(kind)
        let first = kind.firstRequest
        origin.set {
            $0.fault = { number, _ in
                number == first ? .cut(300_000) : number == first + 2 ? .cut(100_000, .stall) : nil
            }
        }
        let upload = agent(origin).upload(Send(.data(film)))
        try await eventually { origin.snapshot.uploads["1"]?.count == 400_000 }
        upload.pause()
        #expect(upload.isPaused)
        try await origin.server.waitUntilNoConnections()
        #expect(origin.snapshot.bodies.isEmpty)
        upload.resume()
        _ = try await upload.response
        #expect(origin.snapshot.bodies.map { Data($0) } == [film])
    }

    @Test("an upload that is paused before it begins sends no bytes until it is resumed")
    func pausedFirst() async throws {
        let origin = try UploadOrigin(.tus)
        let control = TransferControl()
        control.pause()
        var wasPaused = false
        for try await event in agent(origin).upload(Send(.data(film)), control: control) {
            guard case .progress(let progress) = event, progress.state == .paused else { continue }
            wasPaused = true
            #expect(origin.snapshot.log.isEmpty)
            control.resume()
        }
        #expect(wasPaused)
        #expect(origin.snapshot.bodies.map { Data($0) } == [film])
    }

    @Test("leaving the loop cancels the upload, and closes its connection")
    func left() async throws {
        let origin = try UploadOrigin(.draft(8))
        origin.set { $0.fault = { number, _ in number == 2 ? .cut(300_000, .stall) : nil } }
        for try await event in agent(origin).upload(Send(.data(film))) {
            if case .progress(let progress) = event, progress.transferred > 0 { break }
        }
        try await origin.server.waitUntilNoConnections()
        #expect(origin.snapshot.bodies.isEmpty)
    }

    @Test("waits are reported with their end, and follow Retry-After; a wait that is too long ends the upload")
    func waits() async throws {
        let origin = try UploadOrigin(.tus)
        origin.set { $0.fault = { number, _ in number == 2 ? .respond(503, [.retryAfter: "30"]) : nil } }
        let time = ManualTimeSource()
        let agent = NetworkAgent(baseURL: origin.url, transport: .system, filters: [.uploads(quick())], time: time)
        var waited: Duration?
        for try await event in agent.upload(Send(.data(film))) {
            guard case .notice(.retrying(let attempt, let wait, let until, let reason)) = event else { continue }
            #expect(attempt == 1 && reason.contains("503") && until > time.date)
            waited = wait
            try await time.waitForSleepers()
            time.advance(by: .seconds(31))
        }
        #expect(waited == .seconds(30))
        origin.set { $0.log = [] }
        origin.set { $0.fault = { number, _ in number == 2 ? .respond(503, [.retryAfter: "61"]) : nil } }
        let error = await failure { _ = try await agent.send(Send(.data(film))) }
        #expect((error as? ErrandError)?.response?.status == 503)
    }

    @Test("an accessory receives the events of the upload, as notes")
    func notes() async throws {
        let origin = try UploadOrigin(.draft(6))
        origin.set { $0.fault = { number, _ in number == 2 ? .cut(300_000) : nil } }
        let recorder = RecordingAccessory()
        let agent = NetworkAgent(
            baseURL: origin.url, transport: .system, filters: [.uploads(quick())], accessories: [recorder])
        _ = try await agent.send(Send(.data(film)))
        let notes = recorder.records().compactMap { record -> TransferNotice? in
            guard case .note(let note) = record.event, note.name == "upload" else { return nil }
            return note.details as? TransferNotice
        }
        #expect(notes.map(\.name) == ["retrying", "continuing"] && notes.last?.description.contains("300000") == true)
    }

    @Test("the explanation names the protocol, and reports an outer signature as a problem")
    func explanation() {
        let options = UploadOptions(uploadProtocol: .tus, maximumSegments: 4)
        #expect(ResumableUploadFilter(options).explanation == "uploads in 4 segments that resume after failures (tus)")
        #expect(!ResumableUploadFilter().explanation.contains("segments"))
        struct Signing: Filter {
            var traits: FilterTraits { .signs }
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
        }
        #expect(
            ResumableUploadFilter().orderProblem(after: Signing()) != nil && ResumableUploadFilter().traits == .unique)
        #expect(ResumableUploadFilter().orderProblem(after: ResumableUploadFilter()) == nil)
    }
}
