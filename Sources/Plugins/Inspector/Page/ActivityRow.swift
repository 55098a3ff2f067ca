import Errand
import ErrandEssentials
import ErrandRecording

extension JSONText {
    mutating func row(_ activity: MaskedActivity) { object { $0.summary(of: activity) } }

    mutating func summary(of activity: MaskedActivity) {
        let (record, state) = (activity.record, activity.state)
        add("id", record.id)
        add("parent", record.parent)
        add("kind", record.kind.rawValue)
        add("agent", record.agent)
        add("label", activity.label)
        add("method", activity.shownMethod)
        add("url", activity.shownURL.map { String($0.prefix(4096)) })
        add("status", activity.shownStatus)
        add("start", record.start)
        add("date", Int64((record.date.timeIntervalSince1970 * 1000).rounded()))
        add("duration", state.end.map { $0 - record.start })
        switch state.ending {
        case nil: add("state", "running")
        case .success: add("state", "success")
        case .failure(let failure):
            add("state", "failure")
            add("error", failure.name)
        case .cancelled(let cause):
            add("state", "cancelled")
            add("error", cause == "within" ? "cancelled from within" : "cancelled by the \(cause)")
        }
        if let source = state.source, source != .network { add("source", "\(source)") }
        add("attempts", activity.exchanges.last?.attempt)
        add("hops", activity.exchanges.isEmpty ? nil : activity.exchanges.count + state.droppedHops)
        sizes(of: activity)
        add("notes", activity.notes.isEmpty ? nil : activity.notes.count + state.droppedNotes)
        add("messages", state.messageCount > 0 ? state.messageCount : nil)
        add("stream", state.stream.map { "\($0)" })
        bars(of: activity)
    }

    private mutating func sizes(of activity: MaskedActivity) {
        let last = activity.exchanges.last
        let response = activity.other ?? last?.response
        let progress = activity.state.progress
        if activity.isRunning {
            // The length in the head isn't used, because it includes bytes that haven't arrived yet.
            let received = max(activity.state.hops.last?.receivedCount ?? 0, progress?.received ?? 0)
            add("size", received == 0 ? nil : received)
            add("sent", progress?.sent ?? 0)
        } else {
            let received = max(response?.body.length ?? 0, progress?.received ?? 0)
            let arrived = activity.isIncomplete ? progress?.received ?? received : received
            add("size", response == nil && arrived == 0 ? nil : arrived)
            let length = max(last?.request.body.length ?? 0, progress?.sent ?? 0)
            add("sent", activity.isIncomplete ? progress?.sent ?? length : length)
        }
        add("type", response?.body.contentType.map { String($0.prefix(200)) })
        if activity.isIncomplete, let progress {
            add("totalToSend", progress.totalToSend)
            add("totalToReceive", progress.totalToReceive)
            add("received", progress.received)
            add("percent", progress.fraction.map { Int(($0 * 100).rounded(.down)) })
        }
    }

    private mutating func bars(of activity: MaskedActivity) {
        array("bars", of: activity.exchanges.suffix(20)) { text, exchange in
            text.array(exchange.bar) { $0.add($1) }
        }
    }
}

extension RecordedExchange {
    var bar: [Duration?] {
        guard duration > .zero || timings != nil else { return [offset] }
        let phases = phases
        return [
            offset, phases.blocked, phases.nameLookup, phases.connect, phases.secure, phases.send, phases.wait,
            phases.receive,
        ]
    }
}
