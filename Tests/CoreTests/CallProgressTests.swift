import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

@Suite("The progress of a call", .leakChecked) struct CallProgressTests {
    private struct Get: Request { let path = "file" }

    private final class ReportedProgress: Sendable {
        private let reported = Mutex<[TransferProgress]>([])
        func add(_ progress: TransferProgress) { reported.withLock { $0.append(progress) } }
        var all: [TransferProgress] { reported.withLock { $0 } }
    }

    private let steps = [1, 2, 3].map { TransferProgress(received: $0, totalToReceive: 3) }

    @Test("a closure and an accessory receive it in order, at the same time", arguments: [false, true])
    func request(isWatched: Bool) async throws {
        let (reported, recording) = (ReportedProgress(), RecordingAccessory())
        let stub = StubTransport(
            .status(200).reporting(.progress(steps[0]), .progress(steps[1]), .progress(steps[2])))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, accessories: isWatched ? [recording] : [])
        let handle = agent.start(Get(), options: CallOptions(progress: reported.add))
        _ = try await handle.value
        #expect(reported.all == steps)
        #expect(handle.progress == steps[2])
        #expect(recording.names(transport: true).filter { $0 == "progress" }.count == (isWatched ? 3 : 0))
    }

    @Test("bytes that were sent are reported for every method that has a body")
    func uploads() async throws {
        for method in [HTTPMethod.post, .put, .patch, .delete, "REPORT"] {
            let reported = ReportedProgress()
            let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.status(200)))
            let call = Call<Void>(method, "up", body: .text("12345"))
            try await agent.send(call, options: CallOptions(progress: reported.add))
            #expect(reported.all == [TransferProgress(sent: 5, totalToSend: 5)])
            #expect(reported.all.last?.fraction == 1)
        }
    }

    @Test("a retry and a redirect that send the body again begin a new transfer, with zero bytes sent")
    func transfers() async throws {
        let reported = ReportedProgress()
        let stub = StubTransport()
        stub.on("/a", response: .status(307).header("Location", "/b"))
        stub.on("/b", response: .status(503), .status(200))
        let again = ClosureFilter(.hop) { exchange, next in
            let response = try await next(exchange)
            return response.status == 503 ? try await next(exchange) : response
        }
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub, filters: [again])
        let call = Call<Void>(.put, "a", body: .text("12345"))
        try await agent.send(call, options: CallOptions(progress: reported.add))
        #expect(reported.all.map(\.transfer) == [1, 2, 2, 3, 3])
        #expect(reported.all.map(\.sent) == [5, 0, 5, 0, 5])
        #expect(reported.all.allSatisfy { $0.totalToSend == 5 })
    }

    @Test("within a transfer, numbers and the fraction never decrease, regardless of the transport's reports")
    func monotonic() async throws {
        let reported = ReportedProgress()
        let steps = [
            TransferProgress(sent: 10, totalToSend: 10), TransferProgress(sent: 4, totalToSend: 10),
            TransferProgress(sent: 10, totalToSend: 10, received: 0, totalToReceive: 10),
            TransferProgress(sent: 10, totalToSend: 10, received: 10, totalToReceive: 10),
        ]
        let stub = StubTransport(
            .status(200).reporting(
                .progress(steps[0]), .progress(steps[1]), .progress(steps[2]), .progress(steps[3])))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        try await agent.send(Call<Void>(.get, "x"), options: CallOptions(progress: reported.add))
        #expect(reported.all.map(\.sent) == [10, 10, 10, 10])
        #expect(reported.all.map(\.received) == [0, 0, 0, 10])
        #expect(reported.all.map(\.fraction) == [1, 1, 1, 1])
    }

    @Test("a prepared body is encoded once, by the agent's encoder, and the request isn't sent if the encoding fails")
    func prepared() async throws {
        struct Own: Error {}
        let (stub, made) = (StubTransport(), Counter())
        stub.on("/a", response: .status(307).header("Location", "/b"))
        stub.on("/b", response: .status(200))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub)
        let body = RequestBody.prepared(contentType: "text/own") { encoder in
            made.increment()
            return .data(try encoder.encode([1, 2]))
        }
        try await agent.send(Call<Void>(.put, "a", body: body))
        #expect(made.value == 1)
        #expect(stub.received.map(\.body.data) == [Data("[1,2]".utf8), Data("[1,2]".utf8)])
        #expect(stub.received.allSatisfy { $0.headers[.contentType] == "text/own" })
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Call<Void>(.put, "a", body: .prepared { _ in throw Own() }))
        }
        #expect(error?.code == .encodingFailed)
        #expect(error?.underlying is Own)
        #expect(stub.received.count == 2)
    }

    @Test("your own activity reports its progress and notes, and stops once it is over")
    func ownKind() async throws {
        let (reported, recording) = (ReportedProgress(), RecordingAccessory())
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub, accessories: [recording])
        let options = CallOptions(progress: reported.add)
        let activity = try await agent.run(ActivityKind(rawValue: "own"), options: options) { activity in
            activity.report(.progress(TransferProgress(fraction: 0.5)))
            activity.note("own", "halfway")
            return activity
        }
        activity.report(.progress(TransferProgress(fraction: 1)))
        activity.note("own", "too late")
        #expect(reported.all.map(\.fraction) == [0.5])
        #expect(activity.progress.fraction == 0.5)
        let names = recording.names(transport: true)
        #expect(names == ["willStart", "progress", "note", "willStop", "didStop"])
    }
}
