// The code of docs/writing-a-composite.md. DocumentationTests compares the two.
import Dispatch
import Errand
import ErrandStates
import Foundation

private struct GetFile: Request {
    let path: String
    init(_ path: String) { self.path = path }
}

@MainActor private final class RaceScreen: CompositeDelegate {}

nonisolated extension ActivityKind {
    static let race = ActivityKind(rawValue: "race")
}

/// The same request to several places: the first success wins, the others are cancelled.
struct Race<R: Request>: Composite {
    let runners: [R]
    var activityKind: ActivityKind { .race }

    func run(on agent: ScopedAgent) async throws -> Response<R.Output> {
        try await withThrowingTaskGroup(of: Response<R.Output>.self) { group in
            for runner in runners { group.addTask { try await agent.send(runner) } }
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

private func sending(_ agent: NetworkAgent, mirrors: [String], screen: RaceScreen, queue: DispatchQueue) async throws {
    let race = Race(runners: mirrors.map(GetFile.init))
    let winner = try await agent.run(race)

    let handle = agent.start(running: race, delegate: screen, options: CallOptions(label: "fastest mirror")) { result in
        print(result)
    }
    handle.cancel()
    agent.start(running: race, on: queue) { result in print(result) }
    agent.start(running: race, completion: Completion { activity, result in print(activity, result) })
    _ = winner
}

struct Winners: MemberObserver {
    func memberDidEnd(_ member: CompositeMember, result: Result<CompositeMember.Output, any Error>) async {
        if case .success(let output) = result { print(member.index, member.label, output.http?.status ?? 0) }
    }
}

private func progress(_ agent: ScopedAgent, runners: [GetFile]) {
    let reporter = ProgressReporter([Int64](repeating: 0, count: runners.count), of: agent.activity) { bytes in
        TransferProgress(received: bytes.max() ?? 0)
    }
    let options = CallOptions(progress: { progress in reporter.update { $0[0] = progress.received } })
    _ = options
}

@MainActor protocol RelayDelegate: AnyObject, Sendable {
    func relayDidEnd(_ activity: Activity, names: [String]?)
}

struct Relay: Composite {
    let ids: [Int]
    var activityKind: ActivityKind { ActivityKind(rawValue: "relay") }

    func run(on agent: ScopedAgent) async throws -> [String] {
        var names: [String] = []
        for id in ids { names.append(try await agent.send(GetUser(id: id)).value.name) }
        return names
    }

    func completion(notifying delegate: any RelayDelegate) -> Completion<[String]> {
        .main(
            success: { [weak delegate] in delegate?.relayDidEnd($0, names: $1) },
            failure: { [weak delegate] activity, _ in delegate?.relayDidEnd(activity, names: nil) },
            cancellation: { [weak delegate] in delegate?.relayDidEnd($0, names: nil) })
    }
}
