public import Errand
import ErrandEssentials
import ErrandTesting

/// A requirement of transports as a runnable case. See ``TransportConformance``.
public struct ConformanceCase: Sendable, CustomStringConvertible {
    /// The requirement as a sentence that is unique in the suite.
    public let name: String
    /// The feature that the case belongs to. A limitation can excuse all cases of a feature.
    public let feature: TransportFeature
    /// Why the case doesn't apply to this transport. `nil` if it applies.
    public let limitation: String?
    let limit: Duration
    let body: @Sendable () async throws -> Void

    /// Runs the case with its own server. Throws ``ConformanceFailure`` if the transport fails or the case exceeds the
    /// suite's limit. An excused case doesn't run, and throws ``ConformanceSkipped``.
    public func run() async throws {
        try await runCase(name, limitation: limitation, within: limit, body)
    }

    /// The feature, the name, and the limitation, if any.
    public var description: String { "\(feature): \(name)" + (limitation.map { " (excused: \($0))" } ?? "") }
}

/// Throws the errors of a case as failures with its name.
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

/// A requirement isn't met.
public struct ConformanceFailure: DescribedError, Sendable {
    /// The name of the case, which is its requirement.
    public internal(set) var name = ""
    /// The expected result, in words or as a value.
    public let expected: String
    /// The actual result, in words or as a value.
    public let came: String
    /// Advice, and a test that repeats the failure of a ``FilterLaw``. Empty for other cases.
    public let details: String

    init(expected: String, came: String, details: String = "") {
        (self.expected, self.came, self.details) = (expected, came, details)
    }

    func named(_ name: String) -> ConformanceFailure {
        var copy = self
        copy.name = name
        return copy
    }

    /// The case, the expected result, and the actual one in a sentence, for test logs.
    public var description: String {
        "\(name): expected \(expected), got \(came)" + (details.isEmpty ? "" : "\n\(details)")
    }
    /// The code of the `NSError`. Always 1.
    public var errorCode: Int { 1 }
}

/// The case was excused. It throws this error so it doesn't count as passed.
public struct ConformanceSkipped: DescribedError, Sendable {
    /// Why the case doesn't apply to this transport or plugin.
    public let reason: String
    /// A sentence with the reason.
    public var description: String { "excused: \(reason)" }
    /// The code of the `NSError`. Always 1.
    public var errorCode: Int { 1 }
}

/// A known limitation of a transport or plugin, which excuses cases of a suite.
public struct KnownLimitation: Sendable {
    let feature: TransportFeature?
    let name: String?
    let reason: String

    /// Returns a limitation that excuses all cases of a feature.
    public static func feature(_ feature: TransportFeature, because reason: String) -> KnownLimitation {
        KnownLimitation(feature: feature, name: nil, reason: reason)
    }

    /// Returns a limitation that excuses the case with a name. The suite fails if no case has that name.
    public static func named(_ name: String, because reason: String) -> KnownLimitation {
        KnownLimitation(feature: nil, name: name, reason: reason)
    }

    func covers(_ each: ConformanceCase) -> Bool { feature == each.feature || name == each.name }
}
