import ErrandEssentials
import Synchronization
import Testing

@testable import ErrandConformance

@Suite("The memory of a plugin is measured while other work uses memory", .endsInTime)
struct GrowthMeterTests {
    /// A table with this many entries at most.
    private final class Table: Sendable {
        private let entries = Mutex<[Int: [Int]]>([:])
        private let limit: Int

        init(limit: Int) { self.limit = limit }

        func add(_ number: Int) {
            entries.withLock { entries in
                if entries.count >= limit { entries[number - limit] = nil }
                entries[number] = [number, number]
            }
        }
    }

    private func growth(limit: Int) async throws -> Int? {
        try await GrowthMeter().growth {
            let table = Table(limit: limit)
            return GrowthMeter.Subject(call: { table.add($0) })
        } control: { _ in
        } settle: {
            await Task.yield()
        }
    }

    @Test("a growing table is found in most of ten measurements, and a bounded one in none")
    func company() async throws {
        let noise = (0..<2).map { lane in
            Task.detached {
                // Other work allocates and frees memory.
                var blocks: [[UInt8]] = []
                var random = SystemRandomNumberGenerator()
                while !Task.isCancelled {
                    blocks.append([UInt8](repeating: UInt8(lane), count: Int.random(in: 1...20_000, using: &random)))
                    if blocks.count > Int.random(in: 1...50, using: &random) { blocks.removeAll() }
                    try? await Task.sleep(for: .microseconds(200))
                }
            }
        }
        defer { for task in noise { task.cancel() } }
        var found = 0
        for _ in 0..<10 {
            if try await growth(limit: .max) != nil { found += 1 }
            #expect(try await growth(limit: 1_000) == nil)
        }
        // Other tests of the process also allocate memory, so a measurement may miss the table.
        #expect(found >= 7)
    }
}
