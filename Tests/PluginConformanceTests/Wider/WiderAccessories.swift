import Errand
import ErrandEssentials
import Synchronization

// Accessories that observe several calls or transfers, with a mistake of a kind, and right forms.

/// Keeps a text for each failed call.
final class FailureTexts: Accessory {
    enum Form { case right, oneForAll, byLabel }
    private let form: Form
    private let state = Mutex<(statuses: [String: Int], texts: [String])>(([:], []))

    init(_ form: Form) { self.form = form }

    var text: String { state.withLock { $0.texts.joined(separator: "\n") } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        let key =
            switch form {
            case .right: "\(activity.id)"
            case .oneForAll: ""
            case .byLabel: activity.label
            }
        state.withLock { state in
            switch event {
            case .willStart: state.statuses[key] = nil
            case .received(let response, _): state.statuses[key] = response.status
            case .didStop(let outcome):
                let status = state.statuses[key]
                if form != .oneForAll { state.statuses[key] = nil }
                guard case .failure = outcome else { return }
                let text = status.map { "The server answered \($0)." } ?? "The server didn't answer."
                state.texts = (state.texts + [text]).suffix(50)
            default: break
            }
            if state.statuses.count > 1_000 { state.statuses = [:] }
        }
    }
}

/// Counts the results of each host.
final class HostResults: Accessory {
    /// Right: takes the host from the response. Wrong: from the request that was sent last.
    private let usesResponse: Bool
    private let state = Mutex<(host: String, counts: [String: Int])>(("", [:]))

    init(usesResponse: Bool) { self.usesResponse = usesResponse }

    /// Contains a line for each response.
    var text: String {
        state.withLock { state in
            state.counts.sorted { $0.key < $1.key }.flatMap { Array(repeating: $0.key, count: $0.value) }
                .joined(separator: "\n")
        }
    }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        state.withLock { state in
            switch event {
            case .sending(let request, _): state.host = request.host ?? ""
            case .received(let response, _):
                let host = usesResponse ? response.url.host() ?? "" : state.host
                if state.counts.count > 100 { state.counts = [:] }
                state.counts["\(host): \(response.status)", default: 0] += 1
            default: break
            }
        }
    }
}

/// Adds up the bytes of all transfers.
final class TransferSum: Accessory {
    /// Right: begins again with each transfer. Wrong: only with each call.
    private let looksAtTransfer: Bool
    private let state = Mutex<(sum: Int64, last: [Activity.ID: TransferProgress])>((0, [:]))

    init(looksAtTransfer: Bool) { self.looksAtTransfer = looksAtTransfer }

    var sum: Int64 { state.withLock { $0.sum } }
    var text: String { "\(sum) bytes" }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .transport(.progress(let progress)):
            state.withLock { state in
                let last = state.last[activity.id]
                let isSame = !looksAtTransfer || last?.transfer == progress.transfer
                let before = isSame ? (last?.sent ?? 0) + (last?.received ?? 0) : 0
                state.sum += progress.sent + progress.received - before
                if state.last.count > 1_000 { state.last = [:] }
                state.last[activity.id] = progress
            }
        case .didStop: state.withLock { _ = $0.last.removeValue(forKey: activity.id) }
        default: break
        }
    }
}

/// Shows how many bytes the last successful call received, so it doesn't contain the bytes of failed attempts.
final class LastSize: Accessory {
    private let state = Mutex<(size: Int64, running: [Activity.ID: Int64])>((0, [:]))

    var text: String { "\(state.withLock { $0.size }) bytes" }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        state.withLock { state in
            switch event {
            case .transport(.progress(let progress)):
                if state.running.count > 1_000 { state.running = [:] }
                state.running[activity.id] = progress.received
            case .didStop(let outcome):
                let size = state.running.removeValue(forKey: activity.id)
                if case .success = outcome { state.size = size ?? 0 }
            default: break
            }
        }
    }
}
