public import Errand
import ErrandEssentials
import ErrandTesting

/// A requirement of transports, as a runnable case; see ``TransportConformance``.
public struct ConformanceCase: Sendable, CustomStringConvertible {
    /// The requirement, in a sentence that is unique in the suite.
    public let name: String
    /// The feature that the case belongs to. A limitation can name it to excuse its cases.
    public let feature: TransportFeature
    /// Why the case doesn't apply to this transport. Nil if it applies.
    public let limitation: String?
    let limit: Duration
    let body: @Sendable () async throws -> Void

    /// Runs the case against its own server. Throws ``ConformanceFailure`` if the transport fails or the case exceeds
    /// the suite's limit. An excused case doesn't run and throws ``ConformanceSkipped``.
    public func run() async throws {
        try await runCase(name, limitation: limitation, within: limit, body)
    }

    /// The feature and the name, with the limitation, if any.
    public var description: String { "\(feature): \(name)" + (limitation.map { " (excused: \($0))" } ?? "") }
}

/// Turns the errors of any suite's case into failures with its name.
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

/// The error that a case throws if a requirement isn't met: the expected result and the actual one.
public struct ConformanceFailure: DescribedError, Sendable {
    /// The name of the case, which is its requirement.
    public internal(set) var name = ""
    /// The expected result, in words or as a value.
    public let expected: String
    /// The actual result, in words or as a value.
    public let came: String
    /// What to do, and a test that repeats the failure of a ``FilterLaw``. Empty for other cases.
    public let details: String

    init(expected: String, came: String, details: String = "") {
        (self.expected, self.came, self.details) = (expected, came, details)
    }

    func named(_ name: String) -> ConformanceFailure {
        var copy = self
        copy.name = name
        return copy
    }

    /// The case, the expected result and the actual one, in a sentence for test logs.
    public var description: String {
        "\(name): expected \(expected), got \(came)" + (details.isEmpty ? "" : "\n\(details)")
    }
    /// The code of the `NSError`, always 1, because there is only one kind of failure.
    public var errorCode: Int { 1 }
}

/// The error that an excused case throws, so it doesn't count as passed.
public struct ConformanceSkipped: DescribedError, Sendable {
    /// Why the case doesn't apply to this transport or plugin.
    public let reason: String
    /// A sentence with the reason.
    public var description: String { "excused: \(reason)" }
    /// The code of the `NSError`, always 1, because there is only one kind of failure.
    public var errorCode: Int { 1 }
}

/// A declared limitation of a transport or a plugin, which excuses cases of a suite.
public struct KnownLimitation: Sendable {
    let feature: TransportFeature?
    let name: String?
    let reason: String

    /// Returns a limitation that excuses all cases of a feature.
    public static func feature(_ feature: TransportFeature, because reason: String) -> KnownLimitation {
        KnownLimitation(feature: feature, name: nil, reason: reason)
    }

    /// Returns a limitation that excuses a case by its name. If no case has that name, the suite fails, so a limitation
    /// can't outlive its case.
    public static func named(_ name: String, because reason: String) -> KnownLimitation {
        KnownLimitation(feature: nil, name: name, reason: reason)
    }

    func covers(_ each: ConformanceCase) -> Bool { feature == each.feature || name == each.name }
}
