import Errand
import ErrandTesting
import Synchronization
import Testing

@Suite("The progress of a call", .leakChecked) struct CallProgressTests {
    private struct Get: Request { let path = "file" }

    private final class Heard: Sendable {
        private let told = Mutex<[TransferProgress]>([])
        func add(_ progress: TransferProgress) { told.withLock { $0.append(progress) } }
        var all: [TransferProgress] { told.withLock { $0 } }
    }

    private let steps = [1, 2, 3].map { TransferProgress(received: $0, totalToReceive: 3) }

    @Test("a closure hears it in order, and so does an accessory that is there too", arguments: [false, true])
    func request(isWatched: Bool) async throws {
        let (heard, recording) = (Heard(), RecordingAccessory())
        let stub = StubTransport(
            .status(200).reporting(.progress(steps[0]), .progress(steps[1]), .progress(steps[2])))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, accessories: isWatched ? [recording] : [])
        let handle = agent.start(Get(), options: CallOptions(progress: heard.add))
        _ = try await handle.value
        #expect(heard.all == steps)
        #expect(handle.progress == steps[2])
        #expect(recording.names(transport: true).filter { $0 == "progress" }.count == (isWatched ? 3 : 0))
    }

    @Test("an activity of one's own tells its progress and notes, and nothing once it is over")
    func ownKind() async throws {
        let (heard, recording) = (Heard(), RecordingAccessory())
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: .stub, accessories: [recording])
        let options = CallOptions(progress: heard.add)
        let activity = try await agent.run(ActivityKind(rawValue: "own"), options: options) { activity in
            activity.report(.progress(TransferProgress(fraction: 0.5)))
            activity.note("own", "halfway")
            return activity
        }
        activity.report(.progress(TransferProgress(fraction: 1)))
        activity.note("own", "too late")
        #expect(heard.all.map(\.fraction) == [0.5])
        #expect(activity.progress.fraction == 0.5)
        let names = recording.names(transport: true)
        #expect(names == ["willStart", "progress", "note", "willStop", "didStop"])
    }
}
