// A third-party composite that uses only public API.
import Errand
import Synchronization

extension ActivityKind {
    static let race = ActivityKind(rawValue: "race")
}

/// Sends one request to several places. The first success wins, and the others are cancelled.
struct Race<R: Request>: Composite {
    let runners: [R]
    var activityLabel: String?
    /// Whether to start the runners instead of sending them.
    var startsRunners = false
    var observer: (any MemberObserver)?

    init(_ runners: [R], label: String? = nil) { (self.runners, activityLabel) = (runners, label) }

    var activityKind: ActivityKind { .race }

    func run(on agent: ScopedAgent) async throws -> Response<R.Output> {
        let agent = observer.map { agent.observed(by: $0) } ?? agent
        return try await withThrowingTaskGroup(of: Response<R.Output>.self) { group in
            for runner in runners {
                if startsRunners {
                    let handle = agent.start(runner, options: CallOptions(), completion: nil)
                    group.addTask {
                        try await withTaskCancellationHandler {
                            try await handle.value
                        } onCancel: {
                            handle.cancel()
                        }
                    }
                } else {
                    group.addTask { try await agent.send(runner) }
                }
            }
            var failure: any Error = NoRunner()
            while let result = await group.nextResult() {
                switch result {
                case .success(let winner):
                    group.cancelAll()
                    return winner
                case .failure(let error): failure = error
                }
            }
            throw failure
        }
    }
}

struct NoRunner: Error {}

/// A composite with a separate delegate protocol, which receives more events than the end.
struct Relay: Composite {
    let ids: [Int]
    private var notifier: Notifier?

    init(_ ids: [Int]) { self.ids = ids }

    var activityKind: ActivityKind { ActivityKind(rawValue: "relay") }

    func run(on agent: ScopedAgent) async throws -> [String] {
        var names: [String] = []
        for id in ids {
            names.append(try await agent.send(GetUser(id: id)).value.name)
            await notifier?.notify(agent.activity, names)
        }
        return names
    }

    func notifying(_ delegate: any RelayDelegate) -> Relay {
        var copy = self
        copy.notifier = Notifier(delegate)
        return copy
    }

    func completion(notifying delegate: any RelayDelegate) -> Completion<[String]> {
        .main(
            success: { [weak delegate] _, names in delegate?.relayDidEnd("success \(names.count)") },
            failure: { [weak delegate] _, _ in delegate?.relayDidEnd("failure") },
            cancellation: { [weak delegate] _ in delegate?.relayDidEnd("cancelled") })
    }

    private final class Notifier: Sendable {
        private weak let delegate: (any RelayDelegate)?
        init(_ delegate: any RelayDelegate) { self.delegate = delegate }
        func notify(_ activity: Activity, _ names: [String]) async {
            guard let delegate else { return }
            await MainActor.run { delegate.relay(activity, didReach: names.count) }
        }
    }
}

@MainActor protocol RelayDelegate: AnyObject, Sendable {
    func relay(_ activity: Activity, didReach count: Int)
    func relayDidEnd(_ how: String)
}
