#if os(Linux)
import Errand
import Foundation

/// Compares ways to send the same requests by the processor time of this process and by the requests a second, each the
/// best of rounds in turn.
struct SendRounds {
    private let requests: Int
    private var processor = Rounds()
    private var elapsed = Rounds()

    /// - Parameter requests: The number of requests in a round of each way.
    init(_ requests: Int) { self.requests = requests }

    mutating func take(_ name: String, _ body: () async throws -> Void) async rethrows {
        let before = WireBench.processorTime()
        try await elapsed.take(name) { try await microseconds(requests, body) }
        let used = (WireBench.processorTime() - before) * 1e6 / Double(requests)
        await processor.take(name) { used }
    }

    func report(against base: String) {
        processor.reportMinimum("CPU µs", against: base)
        for name in elapsed.names {
            let least = elapsed.minimum(name)
            print(
                "\(Rounds.pad(name, 44)) \(Rounds.number(1e6 / least)) req/s    "
                    + "\(Rounds.number(elapsed.minimum(base) / least)) × \(base)")
        }
    }

    /// The processor time of one way as a multiple of another's.
    func ratio(_ name: String, to base: String) -> Double { processor.minimum(name) / processor.minimum(base) }
}
#endif
