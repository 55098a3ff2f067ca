import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

extension WrongAccessory {
    private static let blocks = "the accessory doesn't block the thread of an event"
    private static let spins = "the accessory doesn't keep the processor busy"
    private static let same = "every call ends the same way as without the accessory"
    private static let silent = "the accessory doesn't cause events itself"
    private static let free = "the accessory doesn't make an activity wait for another"

    /// Accessories that block others, or interfere with the activities they observe.
    static let conduct: [WrongAccessory] = [
        blocking("redirects", "redirected") { if case .redirected = $0 { true } else { false } },
        blocking("notes", "note") { if case .note = $0 { true } else { false } },
        blocking("uploads", "progress") { if case .transport(.progress) = $0 { true } else { false } },
        blocking("timings", "timings") { if case .transport(.timings) = $0 { true } else { false } },
        blocking("failures", "didStop") { if case .didStop = $0 { true } else { false } },
        spinning("ends", "willStop") { if case .willStop = $0 { true } else { false } },
        spinning("redirects", "redirected") { if case .redirected = $0 { true } else { false } },
        spinning("1xx responses", "informational") {
            if case .transport(.informational) = $0 { true } else { false }
        },
        WrongAccessory("cancels what is redirected", caughtBy: same, saying: "(redirected): 200") {
            ClosureAccessory { activity, event in if case .redirected = event { activity.cancel() } }
        },
        WrongAccessory("cancels what is noted", caughtBy: same, saying: "(repeated): 200") {
            ClosureAccessory { activity, event in if case .note = event { activity.cancel() } }
        },
        WrongAccessory("cancels what is not over after its first attempt", caughtBy: same, saying: "(repeated): 200") {
            ClosureAccessory { activity, event in
                if case .sending(_, let position) = event, position.attempt > 1 { activity.cancel() }
            }
        },
        WrongAccessory("cancels the parts of others", caughtBy: same, saying: "(composite)") {
            ClosureAccessory { activity, event in
                if case .built = event, activity.parent != nil { activity.cancel() }
            }
        },
        WrongAccessory("notes each note", caughtBy: silent, saying: "2,000 events of one activity") {
            ClosureAccessory { activity, event in
                if case .note = event { activity.note("echo", "a note came") }
            }
        },
        WrongAccessory("notes what it has received", caughtBy: silent, saying: "the events of a call") {
            ClosureAccessory { activity, event in
                if case .received = event { activity.note("journal", "received") }
            }
        },
        WrongAccessory("reports a progress of its own", caughtBy: silent, saying: "the events of a call") {
            ClosureAccessory { activity, event in
                if case .redirected = event { activity.report(.progress(TransferProgress(received: 1))) }
            }
        },
        WrongAccessory("lets one activity in at a time", caughtBy: free, saying: "a blocked thread") {
            TakesTurns()
        },
        WrongAccessory("locks from the head to the end", caughtBy: free, saying: "is at received") {
            TakesTurns(from: "received")
        },
    ]

    private static func blocking(
        _ what: String, _ name: String, _ isMeant: @escaping @Sendable (ActivityEvent) -> Bool
    ) -> WrongAccessory {
        WrongAccessory("sleeps over \(what)", caughtBy: blocks, saying: "in \(name)") {
            ClosureAccessory { _, event in if isMeant(event) { usleep(3_000) } }
        }
    }

    private static func spinning(
        _ what: String, _ name: String, _ isMeant: @escaping @Sendable (ActivityEvent) -> Bool
    ) -> WrongAccessory {
        WrongAccessory("spins over \(what)", caughtBy: spins, saying: "in \(name)") {
            ClosureAccessory { _, event in
                if isMeant(event) { spin(.milliseconds(12)) }
            }
        }
    }

    /// Accessories that write or show secrets.
    static let writing: [WrongAccessory] = [
        journal("Location", "the query of Location") { event in
            if case .redirected(let response, _) = event { response.headers[.location] ?? "" } else { "" }
        },
        journal("the targets of redirects", "the query of Location") { event in
            if case .redirected(_, let request) = event { request.urlText } else { "" }
        },
        journal("the bodies of responses", "the body of a response") { event in
            if case .responseBody(let data, _) = event { String(decoding: data, as: UTF8.self) } else { "" }
        },
        journal("the responses that it receives", "the body of a response") { event in
            guard case .received(let response, _) = event else { return "" }
            return String(decoding: response.data, as: UTF8.self)
        },
        journal("the bodies of requests", "the body of a request") { event in
            guard case .sending(let request, _) = event else { return "" }
            return String(decoding: request.body.data ?? Data(), as: UTF8.self)
        },
        journal("the URL of what ends", "the query") { event in
            if case .didStop(.success(let response?)) = event { response.url.absoluteString } else { "" }
        },
        journal("the request of an error", "the query") { event in
            guard case .willStop(.failure(let error)) = event else { return "" }
            return (error as? ErrandError)?.request?.url.absoluteString ?? ""
        },
        journal("the cookies of refusals", "Set-Cookie") { event in
            if case .received(let response, _) = event { response.headers[.setCookie] ?? "" } else { "" }
        },
        WrongAccessory(
            "shows the last token", caughtBy: "the accessory's description contains no secret", saying: "Authorization"
        ) {
            ShowsToken()
        },
    ]

    private static func journal(
        _ what: String, _ saying: String, _ line: @escaping @Sendable (ActivityEvent) -> String
    ) -> WrongAccessory {
        WrongAccessory(
            "writes \(what)", caughtBy: "the accessory's output contains no secret", saying: saying, output: \.text
        ) {
            Journal(line)
        }
    }

    /// Accessories that leak memory. Their tests need a dedicated process.
    static let growing: [WrongAccessory] = [
        grows("keeps a line for each activity", "each (good)") { activity, event in
            if case .didStop = event { "\(activity.id)" } else { nil }
        },
        grows("keeps a line for each note", "each (noted)") { _, event in
            if case .note(let note) = event { note.message } else { nil }
        },
        WrongAccessory(
            "counts for each host", caughtBy: "the accessory's memory for URLs, hosts, labels and bodies is bounded",
            saying: "bytes more"
        ) { Grows(asSet: true) { _, event in if case .built(let http) = event { http.url.host } else { nil } } },
        WrongAccessory(
            "counts for each label", caughtBy: "the accessory's memory for URLs, hosts, labels and bodies is bounded",
            saying: "bytes more"
        ) { Grows(asSet: true) { activity, event in if case .willStart = event { activity.label } else { nil } } },
        // The output is the table, so it doesn't count as a log.
        WrongAccessory(
            "counts for each address, as its output",
            caughtBy: "the accessory's memory for URLs, hosts, labels and bodies is bounded", saying: "bytes more",
            output: \.text
        ) { Addresses() },
    ]

    private static func grows(
        _ description: String, _ saying: String, _ line: @escaping @Sendable (Activity, ActivityEvent) -> String?
    ) -> WrongAccessory {
        WrongAccessory(
            description, caughtBy: "the accessory's memory doesn't grow with finished activities", saying: saying
        ) {
            Grows(asSet: false, line)
        }
    }
}

final class Journal: Accessory {
    private let lines = Mutex<[String]>([])
    private let line: @Sendable (ActivityEvent) -> String

    init(_ line: @escaping @Sendable (ActivityEvent) -> String) { self.line = line }

    static func fields() -> Journal {
        Journal { event in
            guard case .sending(let request, _) = event else { return "" }
            return request.headers.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        }
    }

    var maximumBodyBytes: Int { 1_000 }
    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        let line = line(event)
        if !line.isEmpty { lines.withLock { $0.append(line) } }
    }
}

private final class Grows: Accessory {
    private let notes = Notes()
    private let isSet: Bool
    private let line: @Sendable (Activity, ActivityEvent) -> String?

    init(asSet isSet: Bool, _ line: @escaping @Sendable (Activity, ActivityEvent) -> String?) {
        (self.isSet, self.line) = (isSet, line)
    }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard let line = line(activity, event) else { return }
        isSet ? notes.insert(line) : notes.add(line)
    }
}

private struct ShowsToken: Accessory, CustomStringConvertible {
    private final class Last: Sendable {
        let token = Mutex("")
    }

    private let last = Last()
    var description: String { "last token: \(last.token.withLock { $0 })" }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .sending(let request, _) = event else { return }
        last.token.withLock { $0 = request.headers[.authorization] ?? "" }
    }
}

private final class TakesTurns: Accessory {
    private let owner = Mutex<Activity.ID?>(nil)
    private let begin: String

    init(from begin: String = "willStart") { self.begin = begin }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        let isBegin =
            switch event {
            case .willStart: begin == "willStart"
            case .received: begin == "received"
            default: false
            }
        if isBegin { while !take(activity.id) { usleep(1_000) } }
        if case .didStop = event { owner.withLock { if $0 == activity.id { $0 = nil } } }
    }

    private func take(_ id: Activity.ID) -> Bool {
        owner.withLock { owner in
            if owner == nil { owner = id }
            return owner == id
        }
    }
}
