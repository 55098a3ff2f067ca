import ErrandEssentials
import ErrandJSONValidation

/// The result as JSON, modeled on JSON Schema's output format "basic" (2020-12 core, section 12.4.2).
struct ValidationReport: Encodable {
    struct Problem: Encodable {
        let instanceLocation: String
        let absoluteKeywordLocation: String?
        let error: String
        let offset: Int
    }

    let valid: Bool
    /// The total number of problems. Only some of them may be listed.
    let count: Int
    let errors: [Problem]

    init(_ error: JSONValidationError?) {
        valid = error == nil
        count = error?.count ?? 0
        errors = (error?.problems ?? []).map { problem in
            Problem(
                instanceLocation: problem.pointer, absoluteKeywordLocation: problem.schemaLocation,
                error: "expected \(problem.expected), found \(problem.found)", offset: problem.offset)
        }
    }

    /// On one line, with sorted keys.
    var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? #"{"valid":false}"#
    }
}
