import Errand
import ErrandTesting
import Testing

@Suite("Filters in every accepted order", .endsInTime, .leakChecked) struct AnyOrderTests {
    @Test(
        "no response reaches another user, no POST is processed twice, and no credential is sent twice or to a stranger",
        arguments: 0..<8)
    func orders(block: Int) async throws {
        var (accepted, successes) = (0, 0)
        for seed in block * 250..<(block + 1) * 250 {
            let world = World(seed: seed)
            guard world.isAccepted else { continue }
            accepted += 1
            let faults = try await world.run()
            #expect(faults.isEmpty, "seed \(seed), \(world.order): \(faults.joined(separator: "; "))")
            if !faults.isEmpty { return }
            successes += world.successes.value
        }
        #expect(accepted > 25 && successes > 3 * accepted)
    }
}
