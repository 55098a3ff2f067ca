import ErrandEssentials
import ErrandTesting

/// Detects whether a plugin keeps more memory with every call.
///
/// The meter compares plugins after different numbers of calls, each three times the previous one. If a plugin's memory
/// is unbounded, it keeps growing with the number of calls. If it's bounded, it doesn't.
///
/// Memory is measured in two ways. The memory that a plugin frees when it's released is hardly affected by other work,
/// because the release is short. Memory that stays, for example in a static table, shows only in the memory of the
/// whole process. There, other work can hide growth or imitate it, so the memory must grow in each round.
struct GrowthMeter: Sendable {
    /// A plugin that is measured.
    struct Subject {
        /// Makes a call with this number.
        let call: (_ number: Int) async -> Void
        /// Returns the number of bytes to ignore, such as the bytes of the plugin's output.
        var written: () async throws -> Int = { 0 }
    }

    /// The number of calls before the first round. Each round triples this number.
    static let begin = 600
    static let rounds = 3
    static let plugins = 6
    /// How many plugins with the same number of calls are measured at once, and at most. Their median counts.
    static let samples = 3
    static let mostSamples = 15

    /// The lowest number of bytes per call that counts as growth. Every collection needs at least this number of bytes
    /// per element.
    var least = 3

    /// Returns how many bytes a plugin keeps for each call. Returns `nil` if its memory is bounded.
    ///
    /// - Parameters:
    ///   - prepare: Creates a plugin.
    ///   - control: Makes the same call without a plugin. The growth of the process without a plugin is subtracted.
    ///   - settle: Waits until the work of all calls has ended.
    func growth(
        _ prepare: @Sendable () async throws -> Subject, control: (_ call: Int) async -> Void,
        settle: @Sendable () async throws -> Void
    ) async throws -> Int? {
        if let growth = try await growthOfPlugins(prepare, settle) { return growth }
        return try await growthOfProcess(prepare, control, settle)
    }

    private func growthOfPlugins(
        _ prepare: @Sendable () async throws -> Subject, _ settle: @Sendable () async throws -> Void
    ) async throws -> Int? {
        var (count, slowest, before) = (Self.begin, Double.infinity, [Int]())
        for round in 1...Self.rounds {
            var after: [Int] = []
            var (growth, error) = (0.0, 0.0)
            // Other work can allocate or free memory during a release. Then more plugins are measured.
            repeat {
                while before.count < after.count + Self.samples {
                    before.append(try await freed(after: count, prepare, settle))
                }
                for _ in 0..<Self.samples { after.append(try await freed(after: count * 3, prepare, settle)) }
                growth = Double(Self.median(after) - Self.median(before)) / Double(count * 2)
                error = (Self.error(of: before) + Self.error(of: after)) / Double(count * 2)
            } while abs(growth - Double(least)) <= error && after.count < Self.mostSamples
            if growth < Double(least) || round == Self.rounds && growth <= error { return nil }
            (count, before, slowest) = (count * 3, after, min(slowest, growth))
        }
        return Int(slowest)
    }

    private static func median(_ sizes: [Int]) -> Int { sizes.sorted()[sizes.count / 2] }

    /// Estimates the error of the median from the spread of the middle half.
    private static func error(of sizes: [Int]) -> Double {
        let sorted = sizes.sorted()
        let spread = sorted[sizes.count * 3 / 4] - sorted[sizes.count / 4]
        return Double(spread) / Double(sizes.count).squareRoot()
    }

    /// Returns the number of bytes that a plugin frees when it's released after this many calls.
    private func freed(
        after count: Int, _ prepare: @Sendable () async throws -> Subject, _ settle: @Sendable () async throws -> Void
    ) async throws -> Int {
        var subject: Subject? = try await prepare()
        for index in 0..<count { await subject?.call(index) }
        try await settle()
        let written = try await subject?.written() ?? 0
        let before = HeapMeter.bytes()
        subject = nil
        return before - written - HeapMeter.bytes()
    }

    private func growthOfProcess(
        _ prepare: @Sendable () async throws -> Subject, _ control: (_ call: Int) async -> Void,
        _ settle: @Sendable () async throws -> Void
    ) async throws -> Int? {
        var slowest = Int.max
        for _ in 0..<Self.plugins {
            let subject = try await prepare()
            for index in 0..<Self.begin { await subject.call(index) }
            var (count, before) = (Self.begin, try await kept(by: subject, settle))
            for _ in 0..<Self.rounds {
                for index in count..<(count * 3) { await subject.call(index) }
                var after = try await kept(by: subject, settle)
                if (after - before) / (count * 2) < least { return nil }
                let own = after - before
                before = after
                for index in count..<(count * 3) { await control(index) }
                after = try await kept(by: subject, settle)
                let growth = (own - max(0, after - before)) / (count * 2)
                if growth < least { return nil }
                (count, before, slowest) = (count * 3, after, min(slowest, growth))
            }
        }
        return slowest
    }

    private func kept(by subject: Subject, _ settle: @Sendable () async throws -> Void) async throws -> Int {
        var least = Int.max
        for _ in 0..<3 {
            try await settle()
            // A plugin may write its output on its own queue. The output and the memory are therefore read together.
            let written = try await subject.written()
            least = min(least, HeapMeter.bytes() - written)
        }
        return least
    }
}
