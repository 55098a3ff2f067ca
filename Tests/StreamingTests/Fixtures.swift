import Errand
import ErrandEssentials
import ErrandStreaming
import ErrandTesting
import Synchronization

extension HTTPBody {
    /// Creates a stream of chunks that are pulled one at a time.
    init(chunks: [Data]) {
        let left = Mutex(chunks[...])
        self.init { left.withLock { $0.popFirst() } }
    }

    init(stream text: String) { self.init(chunks: [Data(text.utf8)]) }

    /// Creates a stream that is split at a position.
    init(_ data: Data, cutAt place: Int) {
        self.init(chunks: [Data(data.prefix(place)), Data(data.dropFirst(place))])
    }

    /// Creates a stream of chunks of random sizes, many of them one byte.
    init(_ data: Data, splitBy generator: inout SeededGenerator) {
        let longest = [1, 2, 3, 8, 64].randomElement(using: &generator) ?? 1
        var (chunks, place) = ([Data](), 0)
        while place < data.count {
            let end = Swift.min(data.count, place + Int.random(in: 1...longest, using: &generator))
            chunks.append(Data(data[place..<end]))
            place = end
        }
        self.init(chunks: chunks)
    }
}

extension AsyncSequence {
    func all() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }
}

extension StreamingError {
    /// The properties that tests compare.
    var summary: String { "\(code) \(element) \(byte)" }
}

/// A request for an event stream that reconnects without a delay.
struct GetFeed: EventRequest {
    var path = "feed"
    var eventOptions = EventOptions(reconnection: .immediate)
}

extension ReconnectionPolicy {
    static let immediate = ReconnectionPolicy(
        backoff: Backoff(base: .zero, maximumDelay: .seconds(60)), minimumDelay: .zero)
}

struct GetStream: Request {
    typealias Output = HTTPBody
    var path = "stream"
}

final class Collected<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    func add(_ value: Value) { values.withLock { $0.append(value) } }
    var all: [Value] { values.withLock { $0 } }
}

/// Records properties of the activities in starting order. It doesn't keep the activities, which would retain their
/// accessories.
final class StartedActivities: Accessory {
    struct Started: Sendable {
        let id: Activity.ID
        let kind: ActivityKind
        let parent: Activity.ID?
        let label: String
        let isFeed: Bool
        var isOver = false
        var isCancelled = false
    }

    private let activities = Mutex<[Started]>([])
    var all: [Started] { activities.withLock { $0 } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        switch event {
        case .willStart:
            let started = Started(
                id: activity.id, kind: activity.kind, parent: activity.parent, label: activity.label,
                isFeed: activity.request is GetFeed)
            activities.withLock { $0.append(started) }
        case .willStop(let outcome):
            activities.withLock { activities in
                guard let index = activities.firstIndex(where: { $0.id == activity.id }) else { return }
                activities[index].isOver = true
                if case .cancelled = outcome { activities[index].isCancelled = true }
            }
        default: break
        }
    }
}

extension Backoff {
    /// A backoff without a delay, after any number of failures.
    static let noDelay = Backoff(base: .zero, maximumDelay: .zero)

    /// Returns a backoff without jitter.
    static func exact(_ base: Duration = .seconds(3), maximum: Duration = .seconds(60)) -> Backoff {
        Backoff(base: base, maximumDelay: maximum, jitter: 0)
    }
}
