import ErrandJSONValidation
import Foundation
import Testing

@testable import ErrandJSONSchema

@Suite("JSON Schema: elements to compare for uniqueness", .endsInTime, .leakChecked)
struct UniqueItemsTests {
    private func digest(_ text: String) -> ValueDigest {
        let bytes = ContiguousArray(text.utf8)
        return ValueHash.shared.digest(bytes.span, 0..<bytes.count)
    }

    private func isEqual(_ a: String, _ b: String) -> Bool {
        let (first, second) = (ContiguousArray(a.utf8), ContiguousArray(b.utf8))
        return JSONEquality.areEqual(first.span, at: 0..<first.count, and: second.span, at: 0..<second.count)
    }

    /// Returns the smallest step limit with which a text can be validated.
    private func steps(_ schema: String, _ text: String) throws -> Int {
        let schema = try JSONSchema(Data(schema.utf8))
        var (low, high) = (0, 1 << 30)
        while low < high {
            var limits = JSONLimits()
            limits.maximumSteps = (low + high) / 2
            var isEnough = true
            do { try schema.validate(Data(text.utf8), limits: limits) } catch {
                isEnough = !error.problems.contains { $0.kind == .limit }
            }
            if isEnough { high = limits.maximumSteps } else { low = limits.maximumSteps + 1 }
        }
        return low
    }

    @Test(
        "no value cancels the hash of the key before it",
        arguments: [
            "267093430318121055e1110", "-267093430318121055e1110", "0", "null", "true", "false", "\"\"", "[]", "{}",
            "[267093430318121055e1110]", "{\"a\":267093430318121055e1110}",
        ])
    func cancellingValues(value: String) {
        let objects = (0..<200).map { digest("{\"k\($0)\":\(value)}").hash }
        let arrays = (0..<200).map { digest("[\"k\($0)\",\(value)]").hash }
        #expect(Set(objects).count == 200 && Set(arrays).count == 200)
    }

    @Test("the digests of two values are equal if the values are, however they are written", arguments: 0..<8)
    func digests(part: Int) {
        var generator = RandomSchema(seed: 4_400 + part)
        var seen: [ValueDigest: String] = [:]
        for _ in 0..<1_500 {
            let tree = generator.document()
            let (one, other) = (tree.rendered(&generator.random), tree.rendered(&generator.random))
            #expect(digest(one) == digest(other) && isEqual(one, other), "\(one) and \(other)")
            // Values with the same digest must be equal.
            if let known = seen[digest(one)] { #expect(isEqual(known, one), "\(known) and \(one)") }
            seen[digest(one)] = one
        }
        #expect(seen.count > 300)
    }

    @Test("different elements are never compared, so four times the elements take four times the steps")
    func linear() throws {
        func text(_ count: Int) -> String {
            "[\((0..<count).map { "{\"k\($0 + 10_000)\":267093430318121055e1110}" }.joined(separator: ","))]"
        }
        let (few, many) = (
            try steps(#"{"uniqueItems": true}"#, text(300)), try steps(#"{"uniqueItems": true}"#, text(1_200))
        )
        #expect(many <= few * 4 + 4)
    }

    @Test("two equal values are read once, at any depth", arguments: ["[": "]", "{\"a\":": "}"])
    func depth(open: String, close: String) throws {
        func text(_ depth: Int) -> String {
            let size = 40_000 - depth * (open.utf8.count + 1)
            let value = { (space: String) in
                String(repeating: open, count: depth) + space + "\"" + String(repeating: "x", count: size) + "\""
                    + String(repeating: close, count: depth)
            }
            return "[\(value("")),\(value(" "))]"
        }
        let schema = try JSONSchema(Data(#"{"uniqueItems": true}"#.utf8))
        let (flat, deep) = (
            try steps(#"{"uniqueItems": true}"#, text(1)), try steps(#"{"uniqueItems": true}"#, text(400))
        )
        #expect(flat > 1_000 && deep < flat * 2)
        #expect(throws: JSONValidationError.self) { try schema.validate(Data(text(400).utf8)) }
    }

    @Test("comparing a deep constant takes one step per byte")
    func constants() throws {
        let deep = { (space: String) in
            String(repeating: "[", count: 400) + space + "\"" + String(repeating: "x", count: 4_000) + "\""
                + String(repeating: "]", count: 400)
        }
        let schema = "{\"items\": {\"const\": \(deep(""))}}"
        let text = "[\((0..<50).map { _ in deep(" ") }.joined(separator: ","))]"
        #expect(try steps(schema, text) < text.utf8.count)
        #expect(throws: JSONValidationError.self) {
            try JSONSchema(Data(schema.utf8)).validate(Data("[\(deep("1,"))]".utf8))
        }
    }

    @Test("values that are nested deeper than any stack are compared completely")
    func deepDifference() throws {
        let nested = { (inner: String) in
            String(repeating: "[", count: 20_000) + inner + String(repeating: "]", count: 20_000)
        }
        #expect(!isEqual(nested("1"), nested("2")) && isEqual(nested("1"), nested("1.0")))
    }
}
