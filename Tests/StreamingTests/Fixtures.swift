import Errand
import ErrandEssentials
import ErrandStreaming
import ErrandTesting
import Synchronization

/// Seeded, so that a failure can be repeated (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension HTTPBody {
    /// A stream of chunks, each pulled by itself.
    init(chunks: [Data]) {
        let left = Mutex(chunks[...])
        self.init { left.withLock { $0.popFirst() } }
    }

    /// A stream of one chunk.
    init(stream text: String) { self.init(chunks: [Data(text.utf8)]) }

    /// A stream that is cut at a place.
    init(_ data: Data, cutAt place: Int) {
        self.init(chunks: [Data(data.prefix(place)), Data(data.dropFirst(place))])
    }

    /// A stream in pieces of random sizes, many of them of one byte.
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
    /// Everything up to the end.
    func all() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }
}

extension StreamingError {
    /// What a test compares.
    var summary: String { "\(code) \(element) \(byte)" }
}

/// A request for an event stream that is resumed without a pause.
struct GetFeed: EventRequest {
    var path = "feed"
    var eventOptions = EventOptions(reconnection: Reconnection(delay: .zero))
}

/// A request for a stream.
struct GetStream: Request {
    typealias Output = HTTPBody
    var path = "stream"
}

/// The values so far, for closures.
final class Collected<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    func add(_ value: Value) { values.withLock { $0.append(value) } }
    var all: [Value] { values.withLock { $0 } }
}

/// The activities in the order of their starts.
final class StartedActivities: Accessory {
    private let activities = Collected<Activity>()
    var all: [Activity] { activities.all }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        if case .willStart = event { activities.add(activity) }
    }
}
