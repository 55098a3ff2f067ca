import ErrandJSONValidation
import Foundation
import Testing

@Suite("What counts as JSON, compared with JSONSerialization", .endsInTime, .leakChecked)
struct SyntaxFuzzTests {
    /// 100,000 texts in all.
    private static let parts = 20
    private static let seeds = 5_000

    @Test(
        "random and mutated texts have JSONSerialization's verdict, except for known differences",
        arguments: 0..<parts)
    func agrees(part: Int) {
        for seed in part * Self.seeds..<(part + 1) * Self.seeds {
            var json = RandomJSON(seed: seed)
            let right = json.text()
            let text = seed % 4 == 0 ? right : json.mutated(right)
            let ours = JSONVerdict(text)
            let theirs = JSONVerdict.foundation(text)
            if ours.isJSON != theirs, KnownDifference(text, ours) == nil {
                let shown = String(decoding: text, as: UTF8.self).debugDescription
                Issue.record("seed \(seed): ours \(ours.isJSON), theirs \(theirs): \(shown) \(ours.problems)")
            }
            if seed % 4 == 0, !ours.isJSON { Issue.record("seed \(seed): refused \(ours.problems)") }
        }
    }

    @Test(
        "text that only JSONSerialization accepts is rejected",
        arguments: [
            ("[1,]", KnownDifference.trailingComma), (#"{"a":1,}"#, .trailingComma),
            ("[[1, ], {\"a\":[2,],},]", .trailingComma),
            ("7\0", .otherEncoding), ("\u{0}7", .otherEncoding), ("[\0]\0", .otherEncoding),
        ])
    func isLax(text: String, difference: KnownDifference) {
        let bytes = Array(text.utf8)
        #expect(JSONVerdict.foundation(bytes))
        #expect(!JSONVerdict(bytes).isJSON)
        #expect(KnownDifference(bytes, JSONVerdict(bytes)) == difference)
    }

    @Test(
        "numbers beyond a Double are JSON, although JSONSerialization rejects them",
        arguments: ["1e400", "[-7E+1313]"])
    func hugeNumbers(text: String) throws {
        let bytes = Array(text.utf8)
        #expect(!JSONVerdict.foundation(bytes))
        #expect(JSONVerdict(bytes).problems.isEmpty)
        #expect(KnownDifference(bytes, JSONVerdict(bytes)) == .hugeNumber)
    }

    @Test("keys are equal if their characters are, not only their normal forms")
    func normalisation() throws {
        let text = Data("{\"\u{E9}\":1,\"e\u{301}\":2}".utf8)
        try JSONShape.any.validate(text)
        let object = try #require(JSONSerialization.jsonObject(with: text) as? [String: Any])
        #expect(object.count == 1)
    }
}

struct JSONVerdict {
    var problems: [JSONProblem]

    init(_ text: [UInt8]) {
        do {
            try JSONShape.any.validate(Data(text))
            problems = []
        } catch { problems = error.problems }
    }

    /// Duplicate keys are well-formed JSON (RFC 8259, section 4).
    var isJSON: Bool { !problems.contains { $0.kind != .duplicateKey } }

    static func foundation(_ text: [UInt8]) -> Bool {
        (try? JSONSerialization.jsonObject(with: Data(text), options: .fragmentsAllowed)) != nil
    }
}

/// Intended differences between the validator and `JSONSerialization`. Keep them in step with the page on JSON
/// validation.
enum KnownDifference {
    case trailingComma
    case otherEncoding
    case hugeNumber

    init?(_ text: [UInt8], _ ours: JSONVerdict) {
        if ours.isJSON {
            let numbers = /[0-9][eE]\+?[0-9]{3}/
            guard String(decoding: text, as: UTF8.self).contains(numbers) else { return nil }
            self = .hugeNumber
        } else if text.prefix(4).contains(0) {
            self = .otherEncoding
        } else if Self.withoutTrailingCommas(text) {
            self = .trailingComma
        } else {
            return nil
        }
    }

    /// Whether commas before closing brackets are the only reason that a text isn't JSON.
    private static func withoutTrailingCommas(_ text: [UInt8]) -> Bool {
        var text = text
        for _ in 0..<10 {
            let verdict = JSONVerdict(text)
            if verdict.isJSON { return true }
            guard let problem = verdict.problems.last, problem.offset < text.count,
                [0x5D, 0x7D].contains(text[problem.offset]),
                let comma = text[..<problem.offset].lastIndex(where: { ![0x20, 0x0A, 0x0D, 0x09].contains($0) }),
                text[comma] == UInt8(ascii: ",")
            else { return false }
            text.remove(at: comma)
        }
        return false
    }
}
