import Errand
@_exported import ErrandTestPrograms
import Foundation

/// Prints the cost of Errand and of whatever it's compared to, with ratios.
///
/// `swift run -c release errand-bench [SECTION …]` runs all sections, or the sections whose names start with a given
/// word.
@main
struct Bench {
    typealias Section = (name: String, run: @Sendable () async throws -> Void)

    /// Sections that start other programs, which only Linux and macOS allow.
    static var programs: [Section] {
        #if os(Linux) || os(macOS)
        [("download", DownloadBench.run), ("upload", UploadBench.run)]
        #else
        []
        #endif
    }

    static let sections: [Section] =
        [
            ("core", CoreBench.run), ("count", CountBench.run), ("batch", BatchBench.run), ("wire", WireBench.run),
            ("cpu", WireCostBench.run), ("http2", HTTP2Bench.run), ("discard", DiscardBench.run),
            ("plugins", PluginsBench.run),
        ] + programs + [
            ("cache", CacheBench.run), ("json", JSONValidationBench.run), ("decoding", JSONDecodingBench.run),
            ("xml", XMLBench.run),
            ("log", LogBench.run), ("session", SessionBench.run), ("coalescing", CoalescingBench.run),
            ("urlfilters", URLFiltersBench.run), ("retry", RetryBench.run), ("streaming", StreamingBench.run),
            ("outbox", OutboxBench.run), ("sockets", SocketBench.run),
        ]

    static func main() async throws { try await runAll() }

    /// Runs off the main actor, as a server would.
    @concurrent private static func runAll() async throws {
        let wanted = CommandLine.arguments.dropFirst()
        if wanted.first == WireCostBench.clientName { return try await WireCostBench.runClient(at: wanted.last ?? "") }
        for section in sections where wanted.isEmpty || wanted.contains(where: section.name.hasPrefix) {
            print("== \(section.name)")
            try await section.run()
            print()
        }
    }
}

/// Takes rounds of several measurements in turn, so noise on the machine affects all of them alike. The median counts.
struct Rounds {
    private var samples: [String: [Double]] = [:]
    /// The measurements, in the order in which they were first taken.
    private(set) var names: [String] = []

    /// - Parameter body: returns one sample, in a unit of the caller's choice.
    mutating func take(_ name: String, _ body: () async throws -> Double) async rethrows {
        if samples[name] == nil { names.append(name) }
        samples[name, default: []].append(try await body())
    }

    func minimum(_ name: String) -> Double { samples[name]?.min() ?? 0 }

    func reportMinimum(_ unit: String, against base: String) {
        for name in names {
            let value = minimum(name)
            print(
                "\(Self.pad(name, 44)) \(Self.number(value)) \(unit)   \(Self.number(value / minimum(base))) × \(base)")
        }
    }

    func median(_ name: String) -> Double {
        let sorted = (samples[name] ?? [0]).sorted()
        return sorted[sorted.count / 2]
    }

    func report(_ unit: String, against base: String) {
        for name in names {
            let value = median(name)
            print(
                "\(Self.pad(name, 44)) \(Self.number(value)) \(unit)   \(Self.number(value / median(base))) × \(base)")
        }
    }

    static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    static func number(_ value: Double) -> String {
        let text = value >= 100 ? String(format: "%.0f", value) : String(format: "%.2f", value)
        return String(repeating: " ", count: max(0, 9 - text.count)) + text
    }
}

/// Microseconds for each of the body's `count` parts.
func microseconds(_ count: Int, _ body: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await body()
    return (ContinuousClock.now - start) / .microseconds(1) / Double(count)
}
