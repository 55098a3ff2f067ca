import ErrandJSONValidation
import Foundation
import Testing

@Suite("Random shapes, compared with the simplest possible validator", .endsInTime, .leakChecked)
struct ShapeFuzzTests {
    @Test("the problems and positions are the same as in a tree that is walked by hand", arguments: 0..<20)
    func agrees(part: Int) {
        var (fits, fails) = (0, 0)
        for seed in part * 1_000..<(part + 1) * 1_000 {
            var random = RandomShape(random: SeededGenerator(seed: seed))
            let spec = random.spec()
            let shape = spec.shape
            for _ in 0..<3 {
                let tree = random.tree(spec)
                let expected = spec.problems(tree)
                var found: [JSONProblem] = []
                var limits = JSONLimits()
                limits.maximumProblems = 1_000
                do { try shape.validate(Data(tree.text.utf8), limits: limits) } catch { found = error.problems }
                if expected.isEmpty { fits += 1 } else { fails += 1 }
                let same =
                    spec.isDeterministic
                    ? expected.sorted() == found.map(\.pointer).sorted() : expected.isEmpty == found.isEmpty
                if !same { Issue.record("seed \(seed): \(spec) \(tree.text): expected \(expected), found \(found)") }
            }
        }
        // Both outcomes must be frequent enough to be meaningful.
        #expect(fits > 500 && fails > 500)
    }
}
