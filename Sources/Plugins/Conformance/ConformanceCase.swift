public import Errand
import ErrandEssentials
import ErrandTesting

/// A requirement of transports, as a test case that you can run. See ``TransportConformance``.
public struct ConformanceCase: Sendable, CustomStringConvertible {
    /// The requirement as a sentence. Each case in the suite has another sentence.
    public let name: String
    /// The feature to which the case belongs. A limitation can excuse all cases of a feature.
    public let feature: TransportFeature
    /// The reason why the case doesn't apply to this transport. It's `nil` if the case applies.
    public let limitation: String?
    let limit: Duration
    let body: @Sendable () async throws -> Void

    /// Runs the case with its own server. Throws ``ConformanceFailure`` if the transport fails, or if the case takes
    /// longer than the suite's limit. If the case is excused, throws ``ConformanceSkipped`` without running it.
    public func run() async throws {
        try await runCase(name, limitation: limitation, within: limit, body)
    }

    /// The feature and the name. If the case is excused, it's followed by the limitation.
    public var description: String { "\(feature): \(name)" + (limitation.map { " (excused: \($0))" } ?? "") }
}

extension ConformanceCase {
    /// Runs an excused case despite its limitation. Throws ``ConformanceFailure`` if the case passes, because the
    /// limitation isn't needed then. A case that isn't excused isn't run.
    public func checkLimitation() async throws {
        try await runExcused(name, limitation: limitation, within: limit, body)
    }
}

/// Runs an excused case, and throws a failure if it passes.
func runExcused(
    _ name: String, limitation: String?, within limit: Duration, _ body: @escaping @Sendable () async throws -> Void
) async throws {
    guard let limitation else { return }
    do { try await withLimit(limit, body) } catch { return }
    throw ConformanceFailure(
        expected: "a failure, because of the limitation \"\(limitation)\"",
        came: "a case that passes: remove the limitation, unless the case fails elsewhere"
    ).named(name)
}

/// Runs a case. Throws its errors as failures with the name of the case.
func runCase(
    _ name: String, limitation: String?, within limit: Duration, _ body: @escaping @Sendable () async throws -> Void
) async throws {
    if let limitation { throw ConformanceSkipped(reason: limitation) }
    do { try await withLimit(limit, body) } catch let failure as ConformanceFailure {
        throw failure.named(name)
    } catch {
        throw ConformanceFailure(expected: "no error", came: "\(error)").named(name)
    }
}

/// The error of a requirement that isn't met.
public struct ConformanceFailure: DescribedError, Sendable {
    /// The name of the case, which is its requirement.
    public internal(set) var name = ""
    /// The expected result, in words or as a value.
    public let expected: String
    /// The actual result, in words or as a value.
    public let came: String
    /// Advice for fixing the failure. If a ``FilterLaw`` failed, this also contains a test that repeats the failure.
    /// It's empty for other cases.
    public let details: String

    init(expected: String, came: String, details: String = "") {
        (self.expected, self.came, self.details) = (expected, came, details)
    }

    func named(_ name: String) -> ConformanceFailure {
        var copy = self
        copy.name = name
        return copy
    }

    /// A sentence for test logs, with the name of the case, the expected result, and the actual result.
    public var description: String {
        "\(name): expected \(expected), got \(came)" + (details.isEmpty ? "" : "\n\(details)")
    }
    /// The code of the `NSError`. Always 1.
    public var errorCode: Int { 1 }
}

/// The error of a case that was excused. Because it throws this error, the case doesn't count as passed.
public struct ConformanceSkipped: DescribedError, Sendable {
    /// The reason why the case doesn't apply to this transport or plugin.
    public let reason: String
    /// A sentence with the reason.
    public var description: String { "excused: \(reason)" }
    /// The code of the `NSError`. Always 1.
    public var errorCode: Int { 1 }
}

/// A known limitation of a transport or plugin. It excuses cases in a suite.
public struct KnownLimitation: Sendable {
    let feature: TransportFeature?
    let name: String?
    let reason: String

    /// Returns a limitation that excuses all cases of a feature.
    public static func feature(_ feature: TransportFeature, because reason: String) -> KnownLimitation {
        KnownLimitation(feature: feature, name: nil, reason: reason)
    }

    /// Returns a limitation that excuses the case with this name. If the suite doesn't contain this name, the suite
    /// fails.
    public static func named(_ name: String, because reason: String) -> KnownLimitation {
        KnownLimitation(feature: nil, name: name, reason: reason)
    }

    func covers(_ each: ConformanceCase) -> Bool { feature == each.feature || name == each.name }
}
