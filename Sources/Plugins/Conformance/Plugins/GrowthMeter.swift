import ErrandEssentials
import ErrandTesting

/// Detects whether a plugin keeps more memory with every call.
///
/// The meter triples the number of calls several times. If a plugin's memory is unbounded, it keeps growing with the
/// number of calls. If it's bounded, it doesn't. Other work in the process may hide or imitate growth. Therefore,
/// memory must grow in several rounds, and with several plugins.
struct GrowthMeter: Sendable {
    /// The number of calls before the first round. Each round triples this number.
    static let begin = 600
    static let rounds = 3
    static let plugins = 6

    /// Returns the number of bytes to ignore, such as the bytes of the plugin's output.
    var written: @Sendable (_ plugin: Int) async throws -> Int = { _ in 0 }
    /// The lowest number of bytes per call that counts as growth. Every collection needs at least this number of bytes
    /// per element.
    var least = 3

    /// Returns how many bytes a plugin keeps for each call. Returns `nil` if its memory is bounded.
    ///
    /// - Parameters:
    ///   - prepare: Creates a plugin. Returns a function that calls the plugin.
    ///   - control: Makes the same call without a plugin. The growth without a plugin is subtracted.
    ///   - settle: Waits until the work of all calls has ended.
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
            // A plugin may write its output on its own queue. The output and the memory are therefore read together.
            let written = try await written(plugin)
            least = min(least, HeapMeter.bytes() - written)
        }
        return least
    }
}
