public import Errand
import ErrandEssentials
import ErrandTesting

/// One promise of a transport, as a case that can be run; see ``TransportConformance``.
public struct ConformanceCase: Sendable, CustomStringConvertible {
    /// The promise, in a sentence that is unique in the suite.
    public let name: String
    /// The feature that it belongs to, which an excuse may name.
    public let feature: TransportFeature
    /// The reason why it does not apply to this transport; nil if it does.
    public let excuse: String?
    let limit: Duration
    let body: @Sendable () async throws -> Void

    /// Runs the case against a server of its own. Throws ``ConformanceFailure`` if the promise is not kept, and if a
    /// response takes longer than the suite's limit. An excused case only throws ``ConformanceExcused``.
    public func run() async throws {
        try await runCase(name, excuse: excuse, within: limit, body)
    }

    /// "feature: name", and the excuse.
    public var description: String { "\(feature): \(name)" + (excuse.map { " (excused: \($0))" } ?? "") }
}

/// Runs a case of any suite: its error becomes a failure of that name.
func runCase(
    _ name: String, excuse: String?, within limit: Duration, _ body: @escaping @Sendable () async throws -> Void
) async throws {
    if let excuse { throw ConformanceExcused(reason: excuse) }
    do { try await withLimit(limit, body) } catch let failure as ConformanceFailure {
        throw failure.named(name)
    } catch {
        throw ConformanceFailure(expected: "no error", came: "\(error)").named(name)
    }
}

/// A broken promise: the expected result, and the actual one.
public struct ConformanceFailure: DescribedError, Sendable {
    /// The case, once it is known.
    public internal(set) var name = ""
    /// The expected result, in words or as a value.
    public let expected: String
    /// The actual result, in words or as a value.
    public let came: String

    init(expected: String, came: String) { (self.expected, self.came) = (expected, came) }

    func named(_ name: String) -> ConformanceFailure {
        var copy = self
        copy.name = name
        return copy
    }

    /// A sentence for a test's log.
    public var description: String { "\(name): expected \(expected), came \(came)" }
    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}

/// Thrown by an excused case, so that it does not count as passed.
public struct ConformanceExcused: DescribedError, Sendable {
    /// The reason why the case does not apply.
    public let reason: String
    /// The reason.
    public var description: String { "excused: \(reason)" }
    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}

/// A declared limitation of a transport or plugin.
public struct ConformanceExcuse: Sendable {
    let feature: TransportFeature?
    let name: String?
    let reason: String

    /// All cases of a feature.
    public static func feature(_ feature: TransportFeature, because reason: String) -> ConformanceExcuse {
        ConformanceExcuse(feature: feature, name: nil, reason: reason)
    }

    /// One case by its name. A name that no case has makes the suite fail, so that no excuse outlives its case.
    public static func named(_ name: String, because reason: String) -> ConformanceExcuse {
        ConformanceExcuse(feature: nil, name: name, reason: reason)
    }

    func covers(_ each: ConformanceCase) -> Bool { feature == each.feature || name == each.name }
}
