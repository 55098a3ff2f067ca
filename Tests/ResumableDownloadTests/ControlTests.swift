import Errand
import ErrandCache
import ErrandSupport
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Synchronization
import Testing

@testable import ErrandResumableDownload
@testable import ErrandTransfers

@Suite("Progress, pause and cancellation", .leakChecked) struct ControlTests {
    private let folder: Folder
    private let film = bytes(800_000)
    private let origin: Origin

    init() throws {
        folder = try Folder()
        origin = try Origin(film)
    }

    @Test(
        "progress is reported first and the file last, never decreasing, up to the total", arguments: Wire.allCases,
        [1, 4])
    func events(wire: Wire, segments: Int) async throws {
        origin.set { $0.twist = { number, _, response in number == 2 ? response.truncated(to: 70_000) : response } }
        let reported = Mutex<[Int64]>([])
        let options = CallOptions(progress: { progress in reported.withLock { $0.append(progress.received) } })
        var received: [Int64] = []
        var file: URL?
        for try await event in agent(origin.server, wire, quick(segments: segments)).download(
            Get(folder.file("a")), options: options)
        {
            switch event {
            case .progress(let progress):
                #expect(file == nil)
                received.append(progress.transferred)
                if progress.transferred == progress.total {
                    #expect(progress.fraction == 1 && progress.timeLeft == .zero)
                }
            case .notice(.retrying): #expect(file == nil)
            case .notice(let notice): Issue.record("\(notice)")
            case .finished(let response): file = response.value
            }
        }
        #expect(file == folder.file("a") && received == received.sorted() && received.last == 800_000)
        let all = reported.withLock { $0 }
        #expect(all == all.sorted() && all.last == 800_000)
    }

    @Test("a later start continues the progress of the first start")
    func progressOfTheRest() async throws {
        origin.breakFirst(after: 500_000)
        _ = await failure {
            try await agent(origin.server).send(Get(folder.file("a")).with { $0.downloadOptions = quick(tries: 1) })
        }
        let first = Mutex<TransferStatus?>(nil)
        let options = CallOptions.watching { progress in first.withLock { $0 = $0 ?? progress } }
        try await agent(origin.server).send(Get(folder.file("a")), options: options)
        let progress = try #require(first.withLock { $0 })
        #expect(progress.transferred > 0 && progress.total == 800_000)
    }

    @Test("reports are as rare as requested, and the rate follows the clock")
    func meter() throws {
        let time = ManualTimeSource()
        let reported = Mutex<[TransferStatus]>([])
        let meter = TransferMeter(interval: .milliseconds(100), moving: .receiving, mayFall: false, time: time) {
            progress in
            reported.withLock { $0.append(progress) }
        }
        meter.begin(at: 1000, total: 101_000)
        for _ in 0..<1000 {
            time.advance(by: .milliseconds(10))
            meter.add(100)
        }
        meter.end(at: 101_000)
        let all = reported.withLock { $0 }
        #expect(all.count >= 100 && all.count <= 103)
        #expect(all.map(\.transferred) == all.map(\.transferred).sorted() && all.last?.transferred == 101_000)
        let middle = all[50]
        #expect(abs(middle.rate - 10_000) < 1000)
        let left = try #require(middle.timeLeft)
        #expect(abs(left.seconds - Double(101_000 - middle.transferred) / middle.rate) < 0.01)
        // Neither a shorter new version nor a wait may produce absurd values.
        meter.begin(at: 0, total: 50_000)
        #expect(reported.withLock { $0.last?.transferred } == 50_000)
        #expect(Throughput().value(.now) == 0)
    }

    @Test("a paused download closes its connection and continues with a range", arguments: Wire.allCases, [1, 4])
    func pause(wire: Wire, segments: Int) async throws {
        let gate = Gate()
        origin.set {
            $0.twist = { number, _, response in
                number <= segments ? response.waiting(for: gate, afterBodyBytes: 40_000) : response
            }
        }
        let download = agent(origin.server, wire, quick(segments: segments)).download(Get(folder.file("a")))
        try await origin.server.wait(forRequests: 1)
        download.pause()
        #expect(download.isPaused)
        gate.open()
        let left = try ResumableDownloadFilter.partialDownloads(in: folder.url)
        #expect(left.count == 1 && left[0].isActive && download.activity.outcome == nil)
        download.resume()
        #expect(try await download.file == folder.file("a"))
        #expect(try folder.data("a") == film && origin.server.requestCount > 1)
    }

    @Test("a body that can't be resumed is held during a pause, and fetched once")
    func pauseWithoutRanges() async throws {
        let gate = Gate()
        origin.set { resource in
            resource.etag = nil
            resource.twist = { _, _, response in response.waiting(for: gate, afterBodyBytes: 300_000) }
        }
        let control = TransferControl()
        let agent = agent(origin.server)
        let download = agent.download(Get(folder.file("a")), control: control)
        try await eventually { download.activity.progress.received > 0 }
        control.pause()
        gate.open()
        #expect(!download.activity.isOver && download.isPaused)
        control.resume()
        _ = try await download.file
        #expect(try folder.data("a") == film && origin.server.requestCount == 1)
    }

    @Test("a download can be paused before the start, and cancelled during a pause")
    func pausedBefore() async throws {
        let control = TransferControl()
        control.pause()
        let agent = agent(origin.server)
        let download = agent.download(Get(folder.file("a")), control: control)
        try await eventually { try !ResumableDownloadFilter.partialDownloads(in: folder.url).isEmpty }
        download.cancel()
        #expect(await failure { _ = try await download.file } != nil && download.activity.isCancelled)
        #expect(origin.server.requestCount == 0 && folder.names.isEmpty)
        control.resume()
        _ = try await agent.download(Get(folder.file("a")), control: control).file
    }

    @Test("a hundred pauses at random moments don't lose bytes", arguments: [1, 4])
    func manyPauses(segments: Int) async throws {
        origin.set { $0.twist = { _, _, response in response.slowly(bytesPerChunk: 8 << 10, every: .zero) } }
        let download = agent(origin.server, .system, quick(segments: segments)).download(Get(folder.file("a")))
        var random = SeededGenerator(seed: 5)
        for _ in 0..<100 {
            for _ in 0..<Int.random(in: 0..<200, using: &random) { await Task.yield() }
            download.pause()
            for _ in 0..<Int.random(in: 0..<20, using: &random) { await Task.yield() }
            download.resume()
        }
        _ = try await download.file
        #expect(try folder.data("a") == film && folder.names == ["a"])
    }

    @Test("leaving the loop cancels, and the next start continues", arguments: Wire.allCases)
    func leavingTheLoop(wire: Wire) async throws {
        let gate = Gate()
        origin.holdFirst(at: gate, after: 500_000)
        let agent = agent(origin.server, wire)
        for try await event in agent.download(Get(folder.file("a"))) {
            if case .progress(let progress) = event, progress.transferred > 0 { break }
        }
        try await eventually { agent.activities.isEmpty }
        gate.open()
        try await agent.send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && origin.ranges.last != .some(nil))
        let task = Task { [folder] in
            for try await _ in agent.download(Get(folder.file("b"))) {}
        }
        task.cancel()
        #expect((await task.result).isFailure)
    }

    @Test("a download that is cancelled at any moment and started again never creates a wrong file", arguments: [1, 4])
    func cancelledAnywhere(segments: Int) async throws {
        let agent = agent(origin.server, .system, quick(segments: segments))
        var random = SeededGenerator(seed: 7)
        for round in 0..<100 {
            let handle = agent.start(Get(folder.file("a")))
            for _ in 0..<Int.random(in: 0..<400, using: &random) { await Task.yield() }
            handle.cancel()
            _ = await handle.result
            let extra = folder.names.filter { $0 != "a" && !$0.hasPrefix("errand-") }
            #expect(extra.isEmpty, "round \(round)")
            if let data = try? folder.data("a") {
                #expect(data == film)
                try FileManager.default.removeItem(at: folder.file("a"))
            }
        }
        try await agent.send(Get(folder.file("a")))
        #expect(try folder.data("a") == film && folder.names == ["a"])
    }

    @Test("a download continues after a close or reset at every byte of head and body")
    func everyByte() async throws {
        let small = bytes(120)
        let other = try Origin(small)
        let agent = agent(other.server)
        for count in 0..<300 {
            other.set { resource in
                resource.twist = { number, _, response in
                    if number > 1 { return response }
                    return count % 2 == 0 ? response.closing(afterBytes: count) : response.resetting(afterBytes: count)
                }
            }
            try await agent.send(Get(folder.file("a")))
            #expect(try folder.data("a") == small, "\(count)")
        }
        #expect(folder.names == ["a"])
    }

    @Test("waits between attempts use the agent's clock, and last as long as the server asks")
    func retryAfter() async throws {
        let time = ManualTimeSource()
        origin.set {
            $0.twist = { number, _, response in number == 1 ? .status(503, headers: ["Retry-After": "30"]) : response }
        }
        var configuration = AgentConfiguration(baseURL: origin.server.url)
        configuration.filters = [.downloads]
        let agent = NetworkAgent(configuration: configuration, transport: .system, time: time)
        let task = Task { [folder] in try await agent.send(Get(folder.file("a"))).value }
        try await origin.server.wait(forRequests: 1)
        let start = time.now
        try await eventually { time.nextWake == start + .seconds(30) }
        time.advance(by: .seconds(30))
        _ = try await task.value
        #expect(try folder.data("a") == film)
    }

    @Test("a silent server times out, and the next attempt continues", arguments: [1, 4])
    func silence(segments: Int) async throws {
        let time = ManualTimeSource()
        origin.set {
            $0.twist = { number, _, response in number == 2 ? response.stalled(afterBodyBytes: 30_000) : response }
        }
        if segments == 1 {
            origin.set {
                $0.twist = { number, _, response in number == 1 ? response.stalled(afterBodyBytes: 300_000) : response }
            }
        }
        let agent = NetworkAgent(
            baseURL: origin.server.url, transport: .system, filters: [.downloads(quick(segments: segments))], time: time
        )
        let handle = agent.start(Get(folder.file("a")).with { $0.timeout = .seconds(15) })
        _ = try await handle.value(passing: time, by: .seconds(1))
        #expect(try folder.data("a") == film)
    }

    @Test("a download isn't read from the response cache or stored in it", arguments: [true, false])
    func cache(isFirst: Bool) async throws {
        struct Plain: Request { var path: String { "film.mp4" } }
        let store = MemoryStore()
        let cache = ResponseCache(store, policy: .timed(.seconds(1_000_000)))
        let agent = NetworkAgent(
            baseURL: origin.server.url, transport: .system,
            filters: isFirst ? [cache, .downloads] : [.downloads, cache])
        try await agent.send(Plain())
        try await agent.send(Get(folder.file("a")))
        // On a loaded machine a download may send one more request.
        let count = origin.server.requestCount
        #expect(try folder.data("a") == film && count >= 2)
        try await agent.send(Plain())
        #expect(origin.server.requestCount == count)
    }

    @Test("five hundred downloads run concurrently")
    func many() async throws {
        let small = bytes(20_000)
        origin.server.on("/many/*", .ranges(small, etag: "\"1\""))
        let agent = agent(origin.server)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<500 {
                group.addTask { try await agent.send(Get(folder.file("\(index)"), path: "many/\(index)")) }
            }
            try await group.waitForAll()
        }
        #expect(folder.names.count == 500)
        for index in 0..<500 { #expect(try folder.data("\(index)") == small) }
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
