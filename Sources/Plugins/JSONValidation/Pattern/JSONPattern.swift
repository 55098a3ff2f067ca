/// A regular expression that is compiled once, or the reason why it's not supported.
struct JSONPattern: Sendable {
    let source: String
    let program: Result<PatternProgram, JSONShapeError>

    init(_ source: String) {
        self.source = source
        do throws(PatternFault) { program = .success(try PatternProgram(source)) } catch {
            program = .failure(JSONShapeError(pattern: source, reason: error.reason, offset: error.offset))
        }
    }

    /// Creates a pattern from the source of a Swift literal, which may escape more characters.
    init(literal source: String) {
        self.source = source
        var budget = CompileBudget.pattern
        do throws(PatternFault) {
            program = .success(try PatternProgram(source, &budget, PatternRoom(), isLiteral: true))
        } catch { program = .failure(JSONShapeError(pattern: source, reason: error.reason, offset: error.offset)) }
    }

    private init(_ error: JSONShapeError) { (source, program) = (error.pattern, .failure(error)) }

    /// A regular expression without a source, such as one built from components.
    static let unreadable = JSONPattern(
        JSONShapeError(pattern: "", reason: "isn't written as a literal, so its source is unknown", offset: 0))
}
