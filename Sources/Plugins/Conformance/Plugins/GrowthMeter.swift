import ErrandEssentials
import ErrandTesting

/// Finds out whether something keeps more memory with every call, however little it is.
///
/// Memory that is kept for each call grows when there are three times as many calls, in any collection; memory that is
/// bounded stops growing. The memory is that of the whole process, whose other work may hide growth or imitate it: so
/// only memory that grows in each of several rounds, and with each of several plugins, counts as growth.
struct GrowthMeter: Sendable {
    /// The number of calls before the first round; each round triples the number of calls.
    static let begin = 600
    static let rounds = 3
    static let plugins = 6

    /// Memory that is not counted, such as the text that the plugin has written.
    var written: @Sendable (_ plugin: Int) async throws -> Int = { _ in 0 }
    /// The number of bytes for each call from which on it is growth: no collection needs fewer.
    var least = 3

    /// The bytes that are kept for each call; nil if they do not grow.
    ///
    /// - Parameters:
    ///   - prepare: makes a plugin, and returns a function that makes a call with it.
    ///   - control: makes the same call without a plugin: its growth is not the plugin's.
    ///   - settle: waits until no work of the calls runs.
    func growth(
        _ prepare: @Sendable () async throws -> (_ call: Int) async -> Void,
        control: (_ call: Int) async -> Void, settle: @Sendable () async throws -> Void
    ) async throws -> Int? {
        var slowest = Int.max
        for plugin in 0..<Self.plugins {
            let call = try await prepare()
            for index in 0..<Self.begin { await call(index) }
            var (count, before) = (Self.begin, try await kept(by: plugin, settle))
            for _ in 0..<Self.rounds {
                for index in count..<(count * 3) { await call(index) }
                var after = try await kept(by: plugin, settle)
                if (after - before) / (count * 2) < least { return nil }
                let own = after - before
                before = after
                for index in count..<(count * 3) { await control(index) }
                after = try await kept(by: plugin, settle)
                let growth = (own - max(0, after - before)) / (count * 2)
                if growth < least { return nil }
                (count, before, slowest) = (count * 3, after, min(slowest, growth))
            }
            withExtendedLifetime(call) {}
        }
        return slowest
    }

    private func kept(by plugin: Int, _ settle: @Sendable () async throws -> Void) async throws -> Int {
        var least = Int.max
        for _ in 0..<3 {
            try await settle()
            // Read beside the memory: a plugin may write on a queue of its own.
            let written = try await written(plugin)
            least = min(least, HeapMeter.bytes() - written)
        }
        return least
    }
}
