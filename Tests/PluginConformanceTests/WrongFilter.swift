import Errand
import ErrandConformance
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

/// A filter that's wrong on purpose, and the case that must catch it.
struct WrongFilter: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// The name of the case.
    let caughtBy: String
    /// A part of the failure's message.
    let saying: String
    var secrets: [String] = []
    /// Whether the fault is an operation that never ends. A long timeout is then pointless, and a short one is safe.
    var isEndless = false
    let make: @Sendable () -> any Filter

    init(
        _ description: String, caughtBy name: String, saying: String, endless isEndless: Bool = false,
        _ body: @escaping @Sendable (Exchange, Next) async throws -> HTTPResponse
    ) {
        self.init(description, caughtBy: name, saying: saying, endless: isEndless) {
            ClosureFilter(.call, body: body)
        }
    }

    init(
        _ description: String, caughtBy name: String, saying: String, secrets: [String] = [],
        endless isEndless: Bool = false, make: @escaping @Sendable () -> any Filter
    ) {
        (testDescription, caughtBy, self.saying, self.make) = (description, name, saying, make)
        (self.secrets, self.isEndless) = (secrets, isEndless)
    }

    /// Runs the case that must catch the filter. Up to `rounds` times, because other work of the process can hide some
    /// faults.
    func run(rounds: Int = 1) async throws {
        let cases = FilterConformance.cases(
            for: make, secrets: secrets, within: .seconds(600),
            gracePeriod: isEndless ? .milliseconds(300) : .seconds(300))
        let each = try #require(cases.first { $0.name == caughtBy }, "there is no such case")
        var text = ""
        for _ in 0..<rounds where !text.contains(saying) {
            do { try await each.run() } catch let failure as ConformanceFailure { text = failure.description }
        }
        #expect(text.hasPrefix(caughtBy))
        #expect(text.contains(saying), "\(text)")
    }
}

extension HTTPResponse {
    /// Creates a response that didn't come from a server.
    static func madeUp(for exchange: Exchange, status: Int = 200, _ text: String = "") -> HTTPResponse {
        HTTPResponse(url: exchange.http.url, status: status, body: HTTPBody(Data(text.utf8)))
    }
}
