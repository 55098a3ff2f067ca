public import Errand
import ErrandTesting

/// The requirements of a ``Transport``, as cases for any test framework.
///
/// ```swift
/// @Test(arguments: TransportConformance.cases(for: { MyTransport() }))
/// func conformance(_ each: ConformanceCase) async throws { try await each.run() }
/// ```
///
/// Each case creates a transport and starts its own server on the loopback interface, so cases can run in any order and
/// in parallel. Excuse limitations of your transport by feature or by name, with a reason:
///
/// ```swift
/// TransportConformance.cases(
///     for: { MyTransport() }, knownLimitations: [.feature(.trailers, because: "the client below drops them")])
/// ```
///
/// The laws leave out exchanges that a limitation covers.
public enum TransportConformance {
    /// Returns the cases for the transports that `make` creates.
    ///
    /// - Parameters:
    ///   - make: Creates a new transport, without connections or shared state.
    ///   - laws: How thoroughly to test each ``TransportLaw``. Defaults to a hundred rounds, at most a minute in all.
    ///   - limitations: The transport's limitations. Excused cases stay in the list.
    ///   - limit: The time after which a case counts as hanging. Defaults to two minutes.
    public static func cases(
        for make: @escaping @Sendable () throws -> any Transport, laws: LawOptions = LawOptions(),
        knownLimitations limitations: [KnownLimitation] = [],
        within limit: Duration = .seconds(120)
    ) -> [ConformanceCase] {
        let drafts =
            FramingCases.all + HeaderCases.all + NeutralityCases.all + CodingCases.all + FaultCases.all
            + ReuseCases.all + UploadCases.all + CancellationCases.all + TimeoutCases.all + PressureCases.all
            + DepartureCases.all + EventCases.all
        var cases = drafts.map { draft in
            ConformanceCase(name: draft.name, feature: draft.feature, limitation: nil, limit: limit) {
                try await draft.body(ConformanceBench(make))
            }
        }
        if laws.rounds > 0 {
            let bench = WireBench(make: make, limitations: limitations)
            cases += TransportLaw.all.map { law in
                ConformanceCase(name: law.name, feature: .laws, limitation: nil, limit: limit) {
                    try await law.search(bench, laws)
                }
            }
        }
        for index in cases.indices {
            guard let limitation = limitations.first(where: { $0.covers(cases[index]) }) else { continue }
            let each = cases[index]
            cases[index] = ConformanceCase(
                name: each.name, feature: each.feature, limitation: limitation.reason, limit: limit, body: each.body)
        }
        for limitation in limitations {
            guard let name = limitation.name, !cases.contains(where: { $0.name == name }) else { continue }
            cases.append(
                ConformanceCase(
                    name: "the limitation \"\(name)\" belongs to a case", feature: .framing, limitation: nil,
                    limit: limit
                ) { throw ConformanceFailure(expected: "a case with that name", came: "none") })
        }
        return cases
    }
}

/// A case that isn't bound to a transport yet.
struct ConformanceDraft: Sendable {
    let feature: TransportFeature
    let name: String
    let body: @Sendable (ConformanceBench) async throws -> Void

    init(
        _ feature: TransportFeature, _ name: String, _ body: @escaping @Sendable (ConformanceBench) async throws -> Void
    ) {
        (self.feature, self.name, self.body) = (feature, name, body)
    }
}

/// A feature of transports, which groups the cases of ``TransportConformance``. More may be added, so write a `default`
/// in a switch.
public enum TransportFeature: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// The end of a response: lengths, chunks, HEAD, 204, 304.
    case framing
    /// Fields of requests and responses, methods and targets.
    case headers
    /// Responses that transports must leave alone: redirects, challenges, cookies.
    case neutrality
    /// 1xx responses before the final one.
    case informational
    /// Fields after a chunked body.
    case trailers
    /// The content codings gzip and deflate.
    case codings
    /// Partial responses.
    case ranges
    /// Connections that end at the wrong moment, invalid responses.
    case faults
    /// Connection reuse.
    case reuse
    /// Request bodies in memory.
    case uploads
    /// Streamed request bodies.
    case streamedUploads
    /// Cancellation at every stage.
    case cancellation
    /// Timeouts when the server is silent.
    case timeouts
    /// A slow reader slows down the server.
    case backpressure
    /// A slow server slows down the source of a request's body.
    case uploadBackpressure
    /// Many requests at once.
    case load
    /// The last check of requests that have waited for a connection.
    case departure
    /// The events a transport reports while it works.
    case events
    /// Hosts with several addresses.
    case addresses
    /// Connections close when the transport is deallocated.
    case lifetime
    /// Each ``TransportLaw``.
    case laws

    /// The feature's name.
    public var description: String { rawValue }
}
