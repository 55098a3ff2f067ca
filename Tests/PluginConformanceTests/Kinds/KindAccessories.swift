import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

// Accessories with a mistake of a kind, and right forms.

/// Counts running calls.
final class InFlight: Accessory {
    /// Right: counts calls down at their ends. Wrong: at their responses.
    private let waitsForEnd: Bool
    private let count = Mutex((running: 0, failed: 0))

    init(waitsForEnd: Bool) { self.waitsForEnd = waitsForEnd }

    var text: String { count.withLock { "\($0.running) running, \($0.failed) failed" } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        count.withLock { count in
            switch event {
            case .willStart: count.running += 1
            case .received where !waitsForEnd: count.running -= 1
            case .didStop(let outcome):
                if waitsForEnd { count.running -= 1 }
                if case .failure = outcome { count.failed += 1 }
            default: break
            }
        }
    }
}

/// Shows whether a call runs.
final class Busy: Accessory {
    /// Right: counts calls. Wrong: keeps a Boolean value.
    private let counts: Bool
    private let count = Mutex(0)

    init(counts: Bool) { self.counts = counts }

    var isShown: Bool { count.withLock { $0 > 0 } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart: count.withLock { $0 = counts ? $0 + 1 : 1 }
        case .didStop: count.withLock { $0 = counts ? $0 - 1 : 0 }
        default: break
        }
    }
}

/// Writes a line for each call.
final class CallLines: Accessory {
    /// Right: writes a line at the end of a call. Wrong: its beginning at once, and the rest at the end.
    private let writesWhole: Bool
    private let output = Mutex("")

    init(writesWhole: Bool) { self.writesWhole = writesWhole }

    var text: String { output.withLock { $0 } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        let begin = "\(activity.label.prefix { $0 != " " }) "
        switch event {
        case .willStart where !writesWhole: output.withLock { $0 += begin }
        case .didStop(let outcome):
            let end =
                switch outcome {
                case .success: "success\n"
                case .failure: "failure\n"
                case .cancelled: "cancelled\n"
                }
            output.withLock { $0 += writesWhole ? begin + end : end }
        default: break
        }
    }
}

/// Sends the names of calls in batches.
final class Batches: Accessory {
    /// Right: takes a batch and clears it at once. Wrong: in two steps.
    private let isAtomic: Bool
    private let waiting = Mutex<[String]>([])
    private let sent = Mutex<[String]>([])

    init(isAtomic: Bool) { self.isAtomic = isAtomic }

    var text: String { (sent.withLock { $0 } + waiting.withLock { $0 }).joined(separator: "\n") }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .didStop = event else { return }
        if isAtomic {
            waiting.withLock { waiting in
                waiting.append("finished")
                if waiting.count < 5 { return }
                sent.withLock { $0 = ($0 + waiting).suffix(200) }
                waiting = []
            }
        } else {
            waiting.withLock { $0.append("finished") }
            let batch = waiting.withLock { $0 }
            if batch.count < 5 { return }
            // Lets another thread come between.
            spin(.microseconds(100))
            waiting.withLock { $0 = [] }
            sent.withLock { $0 = ($0 + batch).suffix(200) }
        }
    }
}

/// Adds up bytes.
final class TrafficSum: Accessory {
    enum Form { case right, oneForAll, addsReports }
    private let form: Form
    private let state = Mutex<(sum: Int64, last: [Activity.ID?: Int64])>((0, [:]))

    init(_ form: Form) { self.form = form }

    var text: String { "\(state.withLock { $0.sum }) bytes" }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        let key = form == .oneForAll ? nil : activity.id
        switch event {
        case .willStart: state.withLock { $0.last[key] = 0 }
        case .transport(.progress(let progress)):
            state.withLock { state in
                let last = form == .addsReports ? 0 : state.last[key] ?? 0
                state.sum += max(0, progress.sent - last)
                state.last[key] = progress.sent
            }
        case .didStop: state.withLock { $0.last[key] = nil }
        default: break
        }
    }
}

/// Writes the cookies that servers set, without their values.
final class CookieNames: Accessory {
    /// Right: masks each field. Wrong: only the first.
    private let masksAll: Bool
    private let lines = Mutex<[String]>([])

    init(masksAll: Bool) { self.masksAll = masksAll }

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .received(let response, _) = event else { return }
        for (index, value) in response.headers.values(of: .setCookie).enumerated() {
            let line = masksAll || index == 0 ? "\(value.prefix { $0 != "=" })" : value
            lines.withLock { lines in
                lines.append(line)
                if lines.count > 100 { lines.removeFirst() }
            }
        }
    }
}

/// Writes the bodies of responses, with masked secrets if they're JSON.
final class MaskedBodies: Accessory {
    /// Right: writes only bodies that it has masked. Wrong: masks only the common type, and writes the others.
    private let masksAll: Bool
    private let lines = Mutex<[String]>([])

    init(masksAll: Bool) { self.masksAll = masksAll }

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .received(let response, _) = event else { return }
        let isPlain = response.headers[.contentType] == "application/json"
        let line = masksAll || isPlain ? "\(response.data.count) bytes" : String(decoding: response.data, as: UTF8.self)
        lines.withLock { lines in
            lines.append(String(line.prefix(500)))
            if lines.count > 100 { lines.removeFirst() }
        }
    }
}

/// Shows the progress of the last transfer.
final class LastProgress: Accessory {
    /// Right: looks at the total. Wrong: divides by it.
    private let looksAtTotal: Bool
    private let fraction = Mutex(0.0)

    init(looksAtTotal: Bool) { self.looksAtTotal = looksAtTotal }

    var text: String { "\(fraction.withLock { $0 })" }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .transport(.progress(let progress)) = event, let total = progress.totalToSend else { return }
        if looksAtTotal, total <= 0 { return }
        fraction.withLock { $0 = Double(progress.sent) / Double(total) }
    }
}

/// Shows that the device is offline.
final class OfflineBanner: Accessory {
    /// Right: shows it after failures. Wrong: also after cancellations.
    private let skipsCancellations: Bool
    private let shown = Mutex(false)

    init(skipsCancellations: Bool) { self.skipsCancellations = skipsCancellations }

    var isShown: Bool { shown.withLock { $0 } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .didStop(let outcome) = event else { return }
        switch outcome {
        case .success: shown.withLock { $0 = false }
        case .failure: shown.withLock { $0 = true }
        case .cancelled: if !skipsCancellations { shown.withLock { $0 = true } }
        }
    }
}
