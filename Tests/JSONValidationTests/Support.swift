import ErrandJSONValidation
import Foundation

extension JSONShape {
    /// Returns the problems of a text as messages, without the count.
    func complaints(_ text: String, limits: JSONLimits = .standard) -> [String] {
        problems(text, limits: limits).map(\.description)
    }

    func problems(_ text: String, limits: JSONLimits = .standard) -> [JSONProblem] {
        do { try validate(Data(text.utf8), limits: limits) } catch { return error.problems }
        return []
    }

    func accepts(_ text: String) -> Bool { problems(text).isEmpty }
}
