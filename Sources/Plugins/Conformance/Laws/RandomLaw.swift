import ErrandEssentials

/// A law that is tested with random exchanges.
///
/// A violation must occur again with more patience, so a busy machine doesn't cause a failure. It's then reduced to the
/// simplest exchanges.
protocol RandomLaw: Sendable {
    associatedtype Bench: Sendable
    associatedtype Exchange: Sendable, CustomStringConvertible

    static var all: [Self] { get }
    /// The waiting times of consecutive attempts. A violation must occur in each of them.
    static var patience: [Duration] { get }
    static var shrinking: LawShrinking { get }

    var advice: String { get }
    /// The percentage of the options' rounds to run.
    var share: Int { get }
    var exchanges: @Sendable (inout LawRandom) -> [Exchange] { get }
    /// The name of the function that runs given exchanges, as written in a test.
    var check: String { get }

    func violation(_ bench: Bench, _ exchanges: [Exchange], patience: Duration) async throws -> LawViolation?
    func simpler(_ exchanges: [Exchange]) -> [[Exchange]]
    /// The result sometimes resembles samples of the plugin's author.
    func mixed(_ exchanges: [Exchange], _ bench: Bench, _ random: inout LawRandom) -> [Exchange]
    func isExcused(_ exchange: Exchange, by bench: Bench) -> Bool
    /// As written in a test, before the exchanges: the plugin, and each argument that has an effect on the law.
    func arguments(_ bench: Bench) throws -> [String]
}

/// Limits the search for simpler exchanges.
struct LawShrinking {
    static let maximumTries = 400

    let patience: [Duration]
    let time: Duration
    /// Whether to ignore violations of another kind, which could hide the one that was found.
    var keepsKind = false
}

extension RandomLaw {
    func mixed(_ exchanges: [Exchange], _ bench: Bench, _ random: inout LawRandom) -> [Exchange] { exchanges }

    func isExcused(_ exchange: Exchange, by bench: Bench) -> Bool { false }

    /// Returns the violation if it occurs with each waiting time.
    func confirmed(
        _ bench: Bench, _ exchanges: [Exchange], patience: [Duration] = Self.patience
    ) async throws -> LawViolation? {
        var found: LawViolation?
        for patience in patience {
            found = try await violation(bench, exchanges, patience: patience)
            if found == nil { return nil }
        }
        return found
    }

    func search(_ bench: Bench, _ options: LawOptions) async throws {
        var random = LawRandom(seed: options.seed)
        for _ in options.rounds(share: share, laws: Self.all.count) {
            try Task.checkCancellation()
            let exchanges = mixed(exchanges(&random), bench, &random)
            if exchanges.contains(where: { isExcused($0, by: bench) }) { continue }
            guard let violation = try await confirmed(bench, exchanges) else { continue }
            throw try await failure(bench, exchanges, violation, options)
        }
    }

    private func failure(
        _ bench: Bench, _ exchanges: [Exchange], _ violation: LawViolation, _ options: LawOptions
    ) async throws -> ConformanceFailure {
        let (smallest, violation) = try await shrunk(bench, exchanges, violation)
        return ConformanceFailure(
            expected: violation.expected, came: violation.came,
            details: "\(advice)\nTo repeat it (found with seed \(options.seed)):\n\n\(try test(bench, smallest))\n")
    }

    /// Returns a test that repeats the exchanges. It compiles, once the arguments that the suite doesn't know are added
    /// in place of comments.
    func test(_ bench: Bench, _ exchanges: [Exchange]) throws -> String {
        let parts = try arguments(bench) + exchanges.map { "\($0)" }
        return """
            @Test func keepsLaw() async throws {
                try await \(check)(
            \(parts.map { "        \($0)" }.joined(separator: ",\n")))
            }
            """
    }

    private func shrunk(
        _ bench: Bench, _ exchanges: [Exchange], _ violation: LawViolation
    ) async throws -> ([Exchange], LawViolation) {
        var (best, violation, tries) = (exchanges, violation, 0)
        let end = ContinuousClock.now.advanced(by: Self.shrinking.time)
        var isSimpler = true
        while isSimpler {
            isSimpler = false
            for candidate in simpler(best)
            where tries < LawShrinking.maximumTries && ContinuousClock.now < end
                && !candidate.contains(where: { isExcused($0, by: bench) })
            {
                tries += 1
                guard let found = try await confirmed(bench, candidate, patience: Self.shrinking.patience) else {
                    continue
                }
                if Self.shrinking.keepsKind, found.kind != violation.kind { continue }
                (best, violation, isSimpler) = (candidate, found, true)
                break
            }
        }
        return (best, violation)
    }
}
