import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandBatch

@Suite(.endsInTime, .leakChecked)
struct BatchProgressTests {
    private final class Watch: Accessory {
        private let reported = Mutex<[TransferProgress]>([])
        func activity(_ activity: Activity, did event: ActivityEvent) {
            guard activity.kind == .batch, case .transport(.progress(let progress)) = event else { return }
            reported.withLock { $0.append(progress) }
        }
        var all: [TransferProgress] { reported.withLock { $0 } }
    }

    @Test("if totals are missing, progress counts finished parts, and the handle shows the sum")
    func parts() async throws {
        let watch = Watch()
        let log = Log<String>()
        let handle = Shop().agent.start(
            running: Batch((0..<4).map(GetUser.init), maximumConcurrent: 1),
            options: CallOptions(accessories: [watch], progress: { log.add("\($0.fraction ?? -1)") }))
        _ = try await handle.value
        #expect(log.all == ["0.25", "0.5", "0.75", "1.0"])
        #expect(watch.all.map(\.fraction) == [0.25, 0.5, 0.75, 1])
        #expect(handle.progress.fraction == 1)
    }

    @Test("if all parts have totals, progress counts bytes, added up")
    func bytes() async throws {
        let watch = Watch()
        let stub = StubTransport { request in
            let isBig = request.userID == 1
            return StubResponse.json(#"{"id":1}"#).reporting(
                .progress(TransferProgress(received: 0, totalToReceive: isBig ? 900 : 100)),
                .progress(TransferProgress(received: isBig ? 450 : 100, totalToReceive: isBig ? 900 : 100)))
        }
        let agent = NetworkAgent(baseURL: "https://shop.example", transport: stub)
        let handle = agent.start(
            running: Batch([0, 1].map(GetUser.init), maximumConcurrent: 1), options: CallOptions(accessories: [watch]))
        _ = try await handle.value
        #expect(watch.all.map(\.received) == [0, 100, 100, 100, 550, 550])
        // The fraction counts parts until the second part begins and reports its total; then it counts bytes.
        #expect(watch.all.map(\.totalToReceive) == [nil, nil, nil, 1000, 1000, 550])
        #expect(watch.all.map(\.fraction) == [0, 0.5, 0.5, 0.5, 0.55, 1])
    }

    @Test("uploads count as well")
    func uploads() {
        var sum = ProgressSum(count: 1, needsOne: false)
        sum.begin(0)
        sum.update(0, TransferProgress(sent: 50, totalToSend: 100))
        #expect(sum.whole.fraction == 0.5)
        #expect(sum.whole.totalToSend == 100)
        #expect(sum.whole.totalToReceive == nil)
        sum.update(0, TransferProgress(sent: 100, totalToSend: 100, received: 0, totalToReceive: 100))
        #expect(sum.whole.fraction == 0.5)
        #expect(sum.whole.totalToSend == 100)
        sum.end(0, isSuccess: true)
        #expect(sum.whole == TransferProgress(sent: 100, totalToSend: 100, received: 0, totalToReceive: 0, fraction: 1))
    }

    @Test("the progress of several uploads counts the bytes of each and of all")
    func manyUploads() async throws {
        let watch = Watch()
        let each = Log<String>()
        let agent = NetworkAgent(baseURL: "https://shop.example", transport: .stub(.status(200)))
        let sizes = [900, 100]
        let uploads = sizes.map { Call<Void>(.put, "up", body: .data(Data(count: $0))) }
        let batch = Batch(uploads, maximumConcurrent: 1).reportingEach { index, progress in
            each.add("\(index): \(progress.sent) of \(progress.totalToSend ?? -1)")
        }
        _ = try await agent.run(batch, options: CallOptions(accessories: [watch]))
        #expect(each.all == ["0: 900 of 900", "1: 100 of 100"])
        #expect(watch.all.last?.sent == 1000)
        #expect(watch.all.last?.totalToSend == 1000)
        #expect(watch.all.last?.fraction == 1)
        var sum = ProgressSum(count: 2, needsOne: false)
        sum.begin(0)
        sum.begin(1)
        sum.update(0, TransferProgress(sent: 0, totalToSend: 900))
        sum.update(1, TransferProgress(sent: 100, totalToSend: 100))
        // Parts counted until the first one reported its total.
        #expect(sum.whole.totalToSend == 1000)
        #expect(sum.whole.fraction == 0.1)
    }

    @Test("a part's report never makes the progress decrease, overflow or exceed 1")
    func distrust() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<200 {
            var sum = ProgressSum(count: 5, needsOne: Bool.random(using: &random))
            var last = sum.whole
            for _ in 0..<100 {
                let index = Int.random(in: 0..<5, using: &random)
                func number() -> Int64 {
                    [.min, -1, 0, .random(in: 0...1000, using: &random), .max].randomElement(using: &random) ?? 0
                }
                switch Int.random(in: 0..<8, using: &random) {
                case 0: sum.end(index, isSuccess: Bool.random(using: &random))
                case 1 where sum.runningCount < 5: sum.begin(index)
                default:
                    let fraction: Double? = [nil, nil, .nan, -.infinity, 7, 0.3].randomElement(using: &random) ?? nil
                    sum.update(
                        index,
                        TransferProgress(
                            sent: number(), totalToSend: Bool.random(using: &random) ? number() : nil,
                            received: number(), totalToReceive: Bool.random(using: &random) ? number() : nil,
                            fraction: fraction))
                }
                let whole = sum.whole
                #expect(whole.sent >= last.sent && whole.received >= last.received)
                #expect((whole.fraction ?? -1) >= (last.fraction ?? 0) && (whole.fraction ?? 2) <= 1)
                last = whole
            }
        }
    }

    @Test("concurrent reports of parts are delivered in order, up to the total")
    func concurrent() async throws {
        let stub = StubTransport(maximumRecordedRequests: 0) { _ in
            let steps = (1...4).map { TransferProgress(received: $0 * 25, totalToReceive: 100) }
            return StubResponse.json(#"{"id":1}"#).reporting(
                .progress(steps[0]), .progress(steps[1]), .progress(steps[2]), .progress(steps[3]))
        }
        let watch = Watch()
        let agent = NetworkAgent(baseURL: "https://shop.example", transport: stub)
        let batch = Batch((0..<500).map(GetUser.init), maximumConcurrent: 32)
        let handle = agent.start(running: batch, options: CallOptions(accessories: [watch]))
        _ = try await handle.value
        let reported = watch.all
        for (before, after) in zip(reported, reported.dropFirst()) {
            #expect(before.received <= after.received)
            #expect((before.fraction ?? 2) <= (after.fraction ?? -1))
        }
        #expect(reported.last?.fraction == 1)
        #expect(reported.last?.received == 50_000)
        #expect(handle.progress == reported.last)
    }

    @Test("a listener can cancel the batch during a report")
    func reentrant() async throws {
        struct Canceller: Accessory {
            func activity(_ activity: Activity, did event: ActivityEvent) {
                if activity.kind == .batch, case .transport(.progress) = event { activity.cancel() }
            }
        }
        let shop = Shop()
        let options = CallOptions(accessories: [Canceller()])
        await #expect(throws: ErrandError.self) {
            try await shop.agent.run(Batch((0..<50).map(GetUser.init), maximumConcurrent: 2), options: options)
        }
        #expect(shop.recording.problems() == [])
    }

    @Test("a nested batch contributes its fraction")
    func nested() {
        var sum = ProgressSum(count: 2, needsOne: false)
        sum.begin(0)
        sum.update(0, TransferProgress(received: 10, fraction: 0.5))
        #expect(sum.whole.fraction == 0.25)
    }

    @Test("if one success is enough, the progress is that of the most advanced part")
    func race() {
        var sum = ProgressSum(count: 3, needsOne: true)
        for index in 0..<3 { sum.begin(index) }
        sum.update(0, TransferProgress(received: 30, totalToReceive: 100))
        sum.update(1, TransferProgress(received: 60, totalToReceive: 100))
        #expect(sum.whole.fraction == 0.6)
        sum.end(1, isSuccess: false)
        #expect(sum.whole.fraction == 0.6)
        sum.end(0, isSuccess: true)
        #expect(sum.whole.fraction == 1)
    }
}
