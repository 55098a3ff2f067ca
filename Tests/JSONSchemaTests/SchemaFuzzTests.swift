import ErrandJSONSchema
import ErrandJSONValidation
import Foundation
import Testing

@Suite("JSON Schema against an oracle", .timeLimit(.minutes(60)), .leakChecked)
struct SchemaFuzzTests {
    /// `ERRAND_SCHEMA_VERDICTS=1000000 swift test --filter SchemaFuzzTests` compares that many verdicts.
    private static let verdicts =
        ProcessInfo.processInfo.environment["ERRAND_SCHEMA_VERDICTS"].flatMap { Int($0) } ?? 16_000
    private static let documents = 16

    @Test(
        "random schemas have the same verdicts on random documents as a slow validator written from the specification",
        arguments: 0..<8)
    func oracle(part: Int) throws {
        var (valid, refused, unresolved) = (0, 0, 0)
        let count = Self.verdicts / 8 / Self.documents
        for index in 0..<count {
            var generator = RandomSchema(seed: part * 10_000_000 + index)
            let tree = generator.schema()
            let text = tree.rendered(&generator.random)
            let schema: JSONSchema
            do { schema = try JSONSchema(Data(text.utf8)) } catch {
                // References without a definition, or back to the same value.
                #expect([.endlessRecursion, .unresolvedReference].contains(error.code), "\(error): \(text)")
                if error.code == .endlessRecursion { refused += 1 } else { unresolved += 1 }
                continue
            }
            let oracle = SchemaOracle(root: tree)
            for _ in 0..<Self.documents {
                let document = generator.document()
                let rendered = document.rendered(&generator.random)
                let expected = oracle.fits(document)
                if expected { valid += 1 }
                var problems: [JSONProblem] = []
                do { try schema.validate(Data(rendered.utf8)) } catch { problems = error.problems }
                guard problems.isEmpty == expected else {
                    Issue.record("\(expected ? "refused" : "accepted"): \(rendered) by \(text): \(problems)")
                    return
                }
                #expect(problems.allSatisfy { $0.schemaLocation != nil })
            }
        }
        // The generator must produce enough schemas and documents of both outcomes.
        #expect(valid > count && refused + unresolved < count * 2 / 3)
    }
}
