import Errand
import Foundation
import Synchronization

/// Counts calls and failures.
final class CallCounter: Accessory {
    private let counts = Mutex((started: 0, failed: 0))

    func activity(_ activity: Activity, did event: ActivityEvent) {
        counts.withLock { counts in
            switch event {
            case .willStart: counts.started += 1
            case .didStop(.failure): counts.failed += 1
            default: break
            }
        }
    }
}

/// Measures each call from its start to its end, and keeps the last hundred times.
final class CallTimes: Accessory {
    private struct State {
        var starts: [Activity.ID: ContinuousClock.Instant] = [:]
        var times: [Duration] = []
    }
    private let state = Mutex(State())

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart: state.withLock { $0.starts[activity.id] = .now }
        case .didStop:
            state.withLock { state in
                guard let start = state.starts.removeValue(forKey: activity.id) else { return }
                if state.times.count == 100 { state.times.removeFirst() }
                state.times.append(start.duration(to: .now))
            }
        default: break
        }
    }
}

/// Measures each call from sending to the response.
///
/// Mistake: a call that fails has no response, so its start stays in the table.
final class ResponseTimes: Accessory {
    private struct State {
        var starts: [Activity.ID: ContinuousClock.Instant] = [:]
        var total = Duration.zero
    }
    private let state = Mutex(State())
    var running: Int { state.withLock { $0.starts.count } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .sending: state.withLock { $0.starts[activity.id] = .now }
        case .received:
            state.withLock { state in
                if let start = state.starts.removeValue(forKey: activity.id) {
                    state.total += start.duration(to: .now)
                }
            }
        default: break
        }
    }
}

/// Keeps the last lines of a log without secrets.
final class SafeLog: Accessory {
    private let lines = Mutex<[String]>([])
    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        var redactor = Redactor()
        switch event {
        case .sending(let request, let position):
            let headers = redactor.headers(request.headers).map { "\($0.name.rawName): \($0.value)" }
            add(
                "→ \(request.method) \(redactor.url(request.urlText)) #\(position.attempt) \(headers.joined(separator: ", "))"
            )
        case .received(let response, _): add("← \(response.status)")
        case .didStop(.success): add("success")
        case .didStop(.cancelled): add("cancelled")
        case .didStop(.failure(let error)): add("failed: \(Redaction.name(of: error))")
        default: break
        }
    }

    private func add(_ line: String) {
        lines.withLock { lines in
            if lines.count == 200 { lines.removeFirst() }
            lines.append(String(line.prefix(2_000)))
        }
    }
}

/// Keeps the last requests as `curl` commands, for bug reports.
///
/// Mistake: with their credentials.
final class CurlCommands: Accessory {
    private let commands = Mutex<[String]>([])
    var text: String { commands.withLock { $0.joined(separator: "\n") } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .sending(let request, _) = event else { return }
        let headers = request.headers.map { "-H '\($0.name.rawName): \($0.value)'" }.joined(separator: " ")
        commands.withLock { commands in
            if commands.count == 50 { commands.removeFirst() }
            commands.append("curl -X \(request.method) \(headers) '\(request.urlText)'")
        }
    }
}

/// The responses of the last calls, for a debug screen.
///
/// Mistake: keeps bodies with everything that they contain.
final class LastBodies: Accessory {
    private let bodies = Mutex<[Activity.ID: Data]>([:])
    private let order = Mutex<[Activity.ID]>([])
    var text: String {
        bodies.withLock { $0.values.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n") }
    }
    var maximumBodyBytes: Int { 16_384 }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .responseBody(let data, _) = event else { return }
        bodies.withLock { $0[activity.id, default: Data()].append(data) }
        let oldest = order.withLock { order -> Activity.ID? in
            if order.last != activity.id { order.append(activity.id) }
            return order.count > 20 ? order.removeFirst() : nil
        }
        if let oldest { bodies.withLock { $0[oldest] = nil } }
    }
}

/// Shows the number of running calls.
final class RunningCalls: Accessory {
    private let running = Mutex<Set<Activity.ID>>([])

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart: running.withLock { _ = $0.insert(activity.id) }
        case .didStop: running.withLock { _ = $0.remove(activity.id) }
        default: break
        }
    }
}

/// Writes failures to a file.
///
/// Mistake: writes on the thread of the request, and waits for the disk each time.
final class FailureFile: Accessory {
    private let file = Mutex(URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("errand-failures.log"))

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .didStop(.failure(let error)) = event else { return }
        file.withLock { _ in
            // A disk that takes a while.
            Thread.sleep(forTimeInterval: 0.3)
            _ = "\(Redaction.name(of: error))"
        }
    }
}

/// Cancels calls that a screen no longer needs.
///
/// Mistake: an accessory observes, and must not decide about a call.
final class StaleScreens: Accessory {
    private let last = Mutex<Activity.ID?>(nil)

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .redirected(_, let request) = event else { return }
        // "Redirects to another host are suspicious."
        if request.host != activity.request.flatMap({ URL(string: $0.path)?.host() }) { activity.cancel() }
    }
}

/// Counts the bytes that calls receive.
final class ByteCounter: Accessory {
    private let bytes = Mutex<Int64>(0)
    var maximumBodyBytes: Int { 1 << 20 }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .responseBody(let data, _) = event else { return }
        bytes.withLock { $0 += Int64(data.count) }
    }
}
