import ErrandJSONValidation
import Foundation
import Testing

@Suite("Shapes: limits", .endsInTime, .leakChecked)
struct ShapeLimitTests {
    @Test("the steps of a shape's patterns count together, over all strings of a text")
    func patterns() throws {
        let text =
            "[\((0..<20).map { _ in "\"\(String(repeating: "ab", count: 200))\u{e9}\"" }.joined(separator: ","))]"
        let shape = JSONShape.array(of: try .string(pattern: "(a|b|ab|\u{e9})*"))
        var limits = JSONLimits()
        limits.maximumSteps = 200_000
        #expect(shape.problems(text, limits: limits).isEmpty)
        limits.maximumSteps = 20_000
        #expect(
            Set(shape.problems(text, limits: limits).map(\.expected)) == [
                "a document whose validation needs at most 20000 steps"
            ])
    }

    @Test("custom checks and alternatives of shapes are limited too")
    func shapes() {
        var limits = JSONLimits()
        limits.maximumSteps = 2_000
        let text = "[\((0..<2_000).map { _ in "7" }.joined(separator: ","))]"
        let either = JSONShape.either((0..<20).map { .array(of: .integer(in: $0...)) })
        #expect(either.accepts(text))
        #expect(either.problems(text, limits: limits).map(\.kind) == [.limit])
        let nested = JSONShape.recursive { .custom("short", of: .either(.array(of: $0), .integer)) { _ in true } }
        let levels = String(repeating: "[", count: 100) + text + String(repeating: "]", count: 100)
        #expect(nested.accepts(levels) && nested.problems(levels, limits: limits).contains { $0.kind == .limit })
    }

    @Test("a shape's error shows whether the text is invalid or couldn't be judged")
    func verdicts() throws {
        var limits = JSONLimits()
        limits.maximumPatternBytes = 3
        let shape = JSONShape.array(of: .either(try .string(pattern: "a+"), .integer))
        #expect(shape.problems(#"["aaaa"]"#, limits: limits).count == 1)
        do { try shape.validate(Data(#"["aaaa"]"#.utf8), limits: limits) } catch {
            #expect(error.verdict == .notJudged && error.errorCode == 2)
            #expect(error.description.hasPrefix("JSON validation was not possible: /0: expected"))
        }
        do { try shape.validate(Data(#"["aaaa", true]"#.utf8), limits: limits) } catch {
            #expect(error.verdict == .doesNotFit && error.errorCode == 1)
        }
        do { try JSONShape.string(matching: /(a)\1/).validate(Data(#""a""#.utf8)) } catch {
            #expect(error.verdict == .notJudged)
        }
    }
}
