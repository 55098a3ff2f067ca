import Errand
import Foundation
import Synchronization

/// Keeps the last hundred responses for a debug screen, with their bodies, however long.
final class LastResponses: Accessory {
    private let responses = Mutex<[HTTPResponse]>([])
    var keptBytes: Int { responses.withLock { $0.reduce(0) { $0 + ($1.body.data?.count ?? 0) } } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .received(let response, _) = event else { return }
        responses.withLock { responses in
            responses.append(response)
            if responses.count > 100 { responses.removeFirst() }
        }
    }
}

/// Writes the fields of 1xx responses and trailers as they came.
final class TrailerLog: Accessory {
    private let lines = Mutex<[String]>([])
    var output: String { lines.withLock { $0.joined(separator: "\n") } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        let fields: HTTPHeaders
        switch event {
        case .transport(.trailers(let trailers)): fields = trailers
        case .transport(.informational(_, let headers)): fields = headers
        default: return
        }
        lines.withLock { lines in
            for field in fields { lines.append("\(field.name.rawName): \(field.value)") }
            if lines.count > 200 { lines.removeFirst(lines.count - 200) }
        }
    }
}

/// Writes the messages of sockets and event streams as they came.
final class MessageLog: Accessory {
    private let lines = Mutex<[String]>([])
    var output: String { lines.withLock { $0.joined(separator: "\n") } }
    var observesMessages: Bool { true }
    var maximumBodyBytes: Int { 1024 }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .message(let message) = event else { return }
        let text = String(decoding: message.data, as: UTF8.self)
        lines.withLock { lines in
            lines.append(text)
            if lines.count > 100 { lines.removeFirst() }
        }
    }
}

/// Waits in the event of a failure until its report is written.
final class BlockingFailureReport: Accessory {
    private let count = Atomic(0)
    var written: Int { count.load(ordering: .relaxed) }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .willStop(.failure) = event else { return }
        let semaphore = DispatchSemaphore(value: 0)
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) { [self] in
            count.add(1, ordering: .relaxed)
            semaphore.signal()
        }
        semaphore.wait()
    }
}

/// Notes when each request was sent until its response arrives. A request without a response stays in the table.
final class SendTimes: Accessory {
    private struct Attempt: Hashable {
        let activity: Activity.ID
        let attempt: Int
        let hop: Int
    }
    private let times = Mutex<[Attempt: ContinuousClock.Instant]>([:])
    var count: Int { times.withLock { $0.count } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .sending(_, let position):
            let key = Attempt(activity: activity.id, attempt: position.attempt, hop: position.hop)
            times.withLock { $0[key] = .now }
        case .received(_, let position):
            let key = Attempt(activity: activity.id, attempt: position.attempt, hop: position.hop)
            times.withLock { $0[key] = nil }
        default: break
        }
    }
}

/// Signs out at a 401 by cancelling the call, and forgets that a wrong password is a 401 too.
struct SignOutAt401: Accessory {
    func activity(_ activity: Activity, did event: ActivityEvent) {
        if case .received(let response, _) = event, response.status == 401 { activity.cancel() }
    }
}

/// Writes in batches of fifty lines, from its own queue.
final class BatchedLines: Accessory {
    private let queue = DispatchQueue(label: "lines")
    private let waiting = Mutex<[String]>([])
    private let written = Mutex<[String]>([])
    var output: String { (written.withLock { $0 } + waiting.withLock { $0 }).joined(separator: "\n") }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .didStop(let outcome) = event else { return }
        let word = if case .success = outcome { "done" } else { "not done" }
        let lines = waiting.withLock { waiting -> [String] in
            waiting.append("\(activity.id) \(word)")
            if waiting.count < 50 { return [] }
            defer { waiting = [] }
            return waiting
        }
        if lines.isEmpty { return }
        queue.async { [weak self] in self?.written.withLock { $0 = lines } }
    }
}
