import Errand
import ErrandEssentials
import Synchronization

/// The labels of the last slow calls.
final class SlowCalls: Accessory {
    private let labels = Mutex<[String]>([])

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .didStop = event, ContinuousClock.now - activity.start > .seconds(2) else { return }
        labels.withLock { labels in
            labels.append(String(activity.kind.rawValue.prefix(40)))
            if labels.count > 30 { labels.removeFirst() }
        }
    }
}

/// Counts responses by the kind of their status.
final class StatusTable: Accessory {
    private let counts = Mutex<[Int: Int]>([:])

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .received(let response, _) = event else { return }
        counts.withLock { $0[max(0, min(response.status / 100, 10)), default: 0] += 1 }
    }
}

/// The calls that a spinner waits for, as long as the app keeps up with their ends.
final class SpinnerCalls: Accessory {
    private let running = Mutex<(ids: Set<Activity.ID>, order: [Activity.ID])>(([], []))

    func activity(_ activity: Activity, did event: ActivityEvent) {
        running.withLock { running in
            switch event {
            case .willStart:
                guard running.ids.insert(activity.id).inserted else { return }
                running.order.append(activity.id)
                if running.order.count > 200 { running.ids.remove(running.order.removeFirst()) }
            case .didStop:
                running.ids.remove(activity.id)
                running.order.removeAll { $0 == activity.id }
            default: break
            }
        }
    }
}

/// Fifty lines, masked.
final class ShortLog: Accessory {
    private let lines = Mutex<[String]>([])

    func activity(_ activity: Activity, did event: ActivityEvent) {
        var redactor = Redactor()
        let line: String
        switch event {
        case .sending(let request, let position):
            line = "\(request.method) \(redactor.url(request.urlText)) \(position)"
        case .transport(.trailers(let fields)):
            line = redactor.headers(fields).map { "\($0.name.rawName): \($0.value)" }.joined(separator: ", ")
        case .didStop(.failure(let error)): line = Redaction.name(of: error)
        case .didStop: line = "stopped"
        default: return
        }
        lines.withLock { lines in
            lines.append(String(line.prefix(500)))
            if lines.count > 50 { lines.removeFirst() }
        }
    }

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
}

/// Counts calls, and remembers which failed until the next report.
///
/// Mistake: reports are only sent after a hundred successes, so failures pile up while a server is down.
final class FailureReports: Accessory {
    private struct State {
        var successes = 0
        var failures: [String] = []
    }
    private let state = Mutex(State())

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .didStop(let outcome) = event else { return }
        state.withLock { state in
            switch outcome {
            case .success: state.successes += 1
            case .failure(let error):
                state.failures.append("\(activity.kind.rawValue) \(activity.id) \(Redaction.name(of: error))")
            case .cancelled: break
            }
            if state.successes >= 100 { state = State() }
        }
    }
}

/// Counts where redirects lead.
///
/// Mistake: there's a counter for each address, and a server can name any number of them.
final class RedirectTable: Accessory {
    private let counts = Mutex<[String: Int]>([:])

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .redirected(_, let request) = event else { return }
        counts.withLock { $0[request.urlText, default: 0] += 1 }
    }
}

/// Writes what happens on the wire.
///
/// Mistake: the fields of interim responses and of trailers are written as they come.
final class WireLines: Accessory {
    private let lines = Mutex<[String]>([])

    func activity(_ activity: Activity, did event: ActivityEvent) {
        var redactor = Redactor()
        let line: String
        switch event {
        case .sending(let request, _): line = "\(request.method) \(redactor.url(request.urlText))"
        case .received(let response, _):
            line = redactor.headers(response.headers).map { "\($0.name.rawName): \($0.value)" }.joined(separator: ", ")
        case .transport(.informational(_, let fields)), .transport(.trailers(let fields)):
            line = fields.map { "\($0.name.rawName): \($0.value)" }.joined(separator: ", ")
        default: return
        }
        lines.withLock { lines in
            lines.append(line)
            if lines.count > 500 { lines.removeFirst() }
        }
    }

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
}

/// Shows a warning if a call takes more than a minute.
///
/// Mistake: after a failure the task keeps waiting, and keeps its activity.
final class LateWarnings: Accessory {
    private let watches = Mutex<[Activity.ID: Task<Void, any Error>]>([:])
    private let warnings = Atomic<Int>(0)

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart:
            let watch = Task { [weak self] in
                try await Task.sleep(for: .seconds(60))
                if !activity.isOver { self?.warnings.add(1, ordering: .relaxed) }
            }
            watches.withLock { $0.updateValue(watch, forKey: activity.id) }?.cancel()
        case .didStop(.success):
            watches.withLock { $0.removeValue(forKey: activity.id) }?.cancel()
        case .didStop:
            _ = watches.withLock { $0.removeValue(forKey: activity.id) }
        default: break
        }
    }
}
