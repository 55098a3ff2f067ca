import Errand
import ErrandTesting
import Foundation
import Synchronization

// Accessories with a mistake that only their output shows, and right forms.

/// Shows whether something is loading.
final class Loading: Accessory {
    /// Right: counts calls. Wrong: counts requests up, and calls down.
    private let countsCalls: Bool
    private let count = Mutex(0)

    init(countsCalls: Bool) { self.countsCalls = countsCalls }

    var isShown: Bool { count.withLock { $0 > 0 } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart where countsCalls: count.withLock { $0 += 1 }
        case .sending where !countsCalls: count.withLock { $0 += 1 }
        case .didStop: count.withLock { $0 -= 1 }
        default: break
        }
    }
}

/// Keeps the names of the last finished calls.
final class Finished: Accessory {
    /// Right: finds a call by its id. Wrong: by its label.
    private let usesID: Bool
    private let state = Mutex<(running: Set<String>, lines: [String])>(([], []))

    init(usesID: Bool) { self.usesID = usesID }

    var text: String { state.withLock { $0.lines.joined(separator: "\n") } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        let key = usesID ? "\(activity.id)" : activity.label
        switch event {
        case .willStart: state.withLock { _ = $0.running.insert(key) }
        case .didStop:
            state.withLock { state in
                guard state.running.remove(key) != nil else { return }
                state.lines.append("finished \(activity.method)")
                if state.lines.count > 50 { state.lines.removeFirst() }
            }
        default: break
        }
    }
}

extension Activity {
    fileprivate var method: String { "\(label.prefix { $0 != " " })" }
}

/// Adds up the bytes that were received.
final class ReceivedBytes: Accessory {
    /// Right: adds what is new since the last report of a transfer. Wrong: adds each report.
    private let addsDifferences: Bool
    private let state = Mutex<(sum: Int64, last: [Activity.ID: Int64])>((0, [:]))

    init(addsDifferences: Bool) { self.addsDifferences = addsDifferences }

    var text: String { "\(state.withLock { $0.sum }) bytes" }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .transport(.progress(let progress)):
            state.withLock { state in
                let last = addsDifferences ? state.last[activity.id] ?? 0 : 0
                state.sum += max(0, progress.received - last)
                state.last[activity.id] = progress.received
            }
        case .didStop: state.withLock { $0.last[activity.id] = nil }
        default: break
        }
    }
}

/// Signs the user out if the server refuses the user.
final class SignOuts: Accessory {
    /// Right: acts on the end of a call. Wrong: acts on each response.
    private let waitsForEnd: Bool
    private let number = Mutex(0)

    init(waitsForEnd: Bool) { self.waitsForEnd = waitsForEnd }

    var count: Int { number.withLock { $0 } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .received(let response, _) where !waitsForEnd && response.status == 401: number.withLock { $0 += 1 }
        case .didStop(.failure(let error)) where waitsForEnd:
            if (error as? ErrandError)?.response?.status == 401 { number.withLock { $0 += 1 } }
        default: break
        }
    }
}

/// Sends a report of each failed call.
final class Reporter: Accessory {
    enum IsReport: TagKey { static let defaultValue = false }
    private struct Owner: Sendable { weak var agent: NetworkAgent? }

    /// Right: reports aren't reported. Wrong: they are.
    private let skipsReports: Bool
    private let owner = Mutex(Owner())

    init(skipsReports: Bool) { self.skipsReports = skipsReports }

    func attach(to agent: NetworkAgent) { owner.withLock { $0.agent = agent } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .didStop(.failure) = event, let agent = owner.withLock({ $0.agent }) else { return }
        if skipsReports, activity.tags[IsReport.self] { return }
        let call = Call<Void>(.post, "failures") { $0.tags[IsReport.self] = true }
        agent.start(call, options: CallOptions(), completion: nil as Completion<Response<Void>>?)
    }
}

/// Counts the requests to each address, of any number of addresses.
final class Addresses: Accessory {
    private let table = Mutex<[String: Int]>([:])

    var text: String { table.withLock { table in table.map { "\($0.key) \($0.value)" }.joined(separator: "\n") } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .received(let response, _) = event else { return }
        let name = "\(response.url.host() ?? "")\(response.url.path())"
        table.withLock { $0[name, default: 0] += 1 }
    }
}
