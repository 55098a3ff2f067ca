import Errand
import ErrandSupport
import ErrandSystemTransport
import ErrandTesting
import ErrandTransfers
import Foundation
import Synchronization
import Testing

@testable import ErrandResumableDownload

@Suite("Reports of a download", .endsInTime, .leakChecked) struct EventTests {
    private let folder: Folder
    private let film = bytes(800_000)
    private let origin: Origin

    init() throws {
        folder = try Folder()
        origin = try Origin(film)
    }

    private func agent(_ time: any TimeSource = SystemTimeSource(), _ options: DownloadOptions = quick())
        -> NetworkAgent
    {
        NetworkAgent(baseURL: origin.server.url, transport: .system, filters: [.downloads(options)], time: time)
    }

    @Test("delayed progress is reported when the interval is over, and a stall after it")
    func trailing() async throws {
        let time = ManualTimeSource()
        let reports = Mutex<[TransferStatus]>([])
        let meter = TransferMeter(interval: .milliseconds(100), moving: .receiving, mayFall: false, time: time) {
            report in
            reports.withLock { $0.append(report) }
        }
        meter.begin(at: 0, total: 1000)
        meter.add(400)
        #expect(reports.withLock { $0.map(\.transferred) } == [0])
        try await time.waitForSleepers()
        time.advance(by: .milliseconds(100))
        try await eventually { reports.withLock { $0.last?.transferred } == 400 }
        #expect(reports.withLock { $0.last?.state } == .receiving)
        try await time.waitForSleepers()
        time.advance(by: TransferMeter.stall)
        try await eventually { reports.withLock { $0.last?.state } == .stalled }
        let stalled = try #require(reports.withLock { $0.last })
        #expect(stalled.transferred == 400 && stalled.rate == 0 && stalled.timeLeft == nil)
        // The timer's thread may still be delivering, and would then deliver the next report too.
        await meter.allDelivered()
        meter.add(1)
        meter.set(.paused)
        #expect(reports.withLock { $0.last?.transferred } == 401 && reports.withLock { $0.last?.state } == .paused)
        meter.end(at: 1000)
        await meter.allDelivered()
        #expect(reports.withLock { $0.last?.fraction } == 1 && reports.withLock { $0.last?.state } == .finished)
        #expect(reports.withLock { $0.map(\.transferred) } == [0, 400, 400, 401, 1000])
        try await eventually { time.sleeperCount == 0 }
    }

    @Test("reports from many threads are in order")
    func order() async throws {
        let reports = Mutex<[Int64]>([])
        let meter = TransferMeter(interval: .zero, moving: .receiving, mayFall: false, time: SystemTimeSource()) {
            report in
            reports.withLock { $0.append(report.transferred) }
        }
        meter.begin(at: 0, total: nil)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { for _ in 0..<2000 { meter.add(1) } } }
        }
        await meter.allDelivered()
        let all = reports.withLock { $0 }
        #expect(all == all.sorted() && all.last == 16_000 && all.count == 16_001)
    }

    @Test("a stalled download shows the bytes on disk")
    func stalls() async throws {
        let gate = Gate()
        defer { gate.open() }
        origin.holdFirst(at: gate, after: 320_000)
        var options = quick()
        options.progressInterval = .milliseconds(100)
        for try await event in agent(SystemTimeSource(), options).download(Get(folder.file("a"))) {
            if case .progress(let progress) = event, progress.transferred == 320_000 { break }
        }
        #expect(!gate.isOpen)
    }

    @Test("a failed download reports its bytes, and why it waited", arguments: [Duration.zero, .seconds(3600)])
    func failing(interval: Duration) async throws {
        origin.set {
            $0.twist = { number, _, response in number == 1 ? response.truncated(to: 300_000) : .status(503) }
        }
        var options = quick(tries: 3)
        options.progressInterval = interval
        let events = try await events(of: agent(SystemTimeSource(), options).download(Get(folder.file("a"))))
        #expect((events.failure as? ErrandError)?.response?.status == 503)
        let last = try #require(events.progress.last)
        #expect(last.transferred == 300_000 && last.total == 800_000 && last.state == .interrupted && last.rate == 0)
        #expect(try ResumableDownloadFilter.partialDownloads(in: folder.url).first?.received == last.transferred)
        let retries = events.notices.compactMap { notice -> (Int, String)? in
            if case .retrying(let attempt, _, _, let reason) = notice { (attempt, reason) } else { nil }
        }
        #expect(
            retries.map(\.0) == [1, 2, 3] && retries.last?.1 == "the server responded with 503 Service Unavailable")
    }

    @Test("a wait is reported with its end on the agent's clock, and as a note with details")
    func waits() async throws {
        let time = ManualTimeSource()
        origin.set {
            $0.twist = { number, _, response in number == 1 ? .status(503, headers: ["Retry-After": "30"]) : response }
        }
        let recorder = RecordingNotes()
        let date = time.date.addingTimeInterval(30)
        let download = agent(time).download(Get(folder.file("a")), options: CallOptions(accessories: [recorder]))
        let expected = TransferNotice.retrying(
            attempt: 1, wait: .seconds(30), until: date, reason: "the server responded with 503 Service Unavailable")
        var (states, notices): ([TransferState], [TransferNotice]) = ([], [])
        for try await event in download {
            switch event {
            case .progress(let progress):
                states.append(progress.state)
                if progress.state == .waiting(until: date) {
                    try await time.waitForSleepers()
                    time.advance(by: .seconds(30))
                }
            case .notice(let notice): notices.append(notice)
            case .finished: break
            }
        }
        #expect(notices == [expected] && recorder.notices == [expected])
        #expect(states.contains(.waiting(until: date)) && states.last == .finished)
        #expect(!"\(expected)".contains("TransferNotice"))
    }

    @Test("a restart is reported with the number of discarded bytes")
    func restarts() async throws {
        origin.set { [film] in
            $0.twist = { number, _, response in
                if number == 1 { return response.truncated(to: 300_000) }
                return TestResponse.ranges(film, etag: "\"2\"")
            }
        }
        let events = try await events(of: agent().download(Get(folder.file("a"))))
        #expect(events.failure == nil && events.progress.last?.fraction == 1)
        #expect(
            events.notices.last
                == .restarting(reason: "the file has changed on the server", discarded: 300_000))
    }

    @Test("a pause is reported, with everything that arrived before it")
    func paused() async throws {
        let gate = Gate()
        defer { gate.open() }
        origin.holdFirst(at: gate, after: 300_000)
        var options = quick()
        options.progressInterval = .seconds(3600)
        let download = agent(SystemTimeSource(), options).download(Get(folder.file("a")))
        var states: [TransferState] = []
        try await eventually { try ResumableDownloadFilter.partialDownloads(in: folder.url).first?.received == 300_000 }
        download.pause()
        for try await event in download {
            guard case .progress(let progress) = event else { continue }
            states.append(progress.state)
            if progress.state == .paused {
                #expect(progress.transferred == 300_000)
                download.resume()
            }
        }
        #expect(try states.contains(.paused) && states.last == .finished && folder.data("a") == film)
    }

    @Test("a late reader receives every notice and the newest progress")
    func late() async throws {
        origin.set { $0.twist = { number, _, response in number < 4 ? response.truncated(to: 100_000) : response } }
        let download = agent().download(Get(folder.file("a")))
        _ = try await download.file
        let events = try await events(of: download)
        #expect(events.notices.count == 3 && events.progress.last?.state == .finished)
        #expect(events.progress.count <= 4)
    }
}

private final class RecordingNotes: Accessory {
    private let state = Mutex<[TransferNotice]>([])
    var notices: [TransferNotice] { state.withLock { $0 } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        if case .note(let note) = event, note.name == "download", let notice = note.details as? TransferNotice {
            state.withLock { $0.append(notice) }
        }
    }
}
