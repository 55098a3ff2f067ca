import Errand
import ErrandCoalescing
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

/// A server that waits for a gate. Each response names its exchange and the requested path.
final class Service: Sendable {
    let gate = Gate()
    private let count = Counter()
    private let log = Log<HTTPRequest>()
    private let fails: Bool

    init(failing: Bool = false) { fails = failing }

    var exchanges: Int { log.count }
    var requests: [HTTPRequest] { log.all }

    var transport: StubTransport {
        StubTransport(maximumRecordedRequests: 0) { [self] request in
            log.add(request)
            let number = count.increment()
            if fails { return .failure(ErrandError(.connectionLost, "lost")).waiting(for: gate) }
            let user = request.headers[.authorization] ?? "none"
            return .text("\(number) \(request.url.path) \(user)").waiting(for: gate)
        }
    }
}

extension NetworkAgent {
    convenience init(
        _ transport: some Transport, time: some TimeSource = ManualTimeSource(),
        accessories: [any Accessory] = [], _ filters: any Filter...
    ) {
        self.init(
            baseURL: "https://api.example.com", transport: transport, filters: filters, accessories: accessories,
            time: time)
    }

    func text(_ path: String = "x", options: CallOptions = CallOptions()) async throws -> String {
        try await send(Call<String>(.get, path), options: options).value
    }
}

extension RecordingAccessory {
    /// Waits until this many requests have joined an exchange.
    func joined(by count: Int) async throws {
        let joins = { (records: [RecordingAccessory.Record]) in
            records.count { if case .note(let note) = $0.event { note.name == "coalescing" } else { false } }
        }
        try await eventually { joins(self.records()) >= count }
    }
}
